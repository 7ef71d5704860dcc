// @throw, @try and @catch, on the Itanium unwinder. An exception is one of ours when its class says
// so; C++ exceptions pass through Objective-C frames, running their @finally blocks.
#include <unwind.h>

#include <cstdlib>
#include <cstring>
#include <vector>

#include "metal/objc/class.h"
#include "metal/objc/message.h"
#include "metal/objc/runtime.h"

namespace objc {
namespace {

constexpr uint64_t kExceptionClass = 0x42534d004f424a43; // "BSM\0OBJC"

struct Exception {
  _Unwind_Exception header;
  Object* object;
};

// What @catch blocks of this thread have caught and not left yet, innermost last.
thread_local std::vector<Exception*> caught;

Exception* exception_of(_Unwind_Exception* header) {
  return header->exception_class == kExceptionClass ? reinterpret_cast<Exception*>(header)
                                                    : nullptr;
}

void destroy(Exception* exception) {
  objc_release(exception->object);
  delete exception;
}

[[noreturn]] void uncaught(Object* object) {
  Object* text = object ? send<Object*, "description">(object) : nullptr;
  fatal("objc: uncaught exception %s: %s", object ? class_of(object)->name : "nil",
        text ? send<const char*, "UTF8String">(text) : "");
}

// --- The language specific data area: DWARF encodings as in the Itanium C++ ABI -----------------

enum : uint8_t {
  kAbsolute = 0x00,
  kUleb128 = 0x01,
  kUdata2 = 0x02,
  kUdata4 = 0x03,
  kUdata8 = 0x04,
  kSdata2 = 0x0a,
  kSdata4 = 0x0b,
  kSdata8 = 0x0c,
  kPcRelative = 0x10,
  kIndirect = 0x80,
  kOmitted = 0xff,
};

class Reader {
public:
  explicit Reader(const uint8_t* at) : at_(at) {}
  const uint8_t* at() const { return at_; }

  uint8_t byte() { return *at_++; }
  uint64_t uleb128() {
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      uint8_t next = byte();
      value |= static_cast<uint64_t>(next & 0x7f) << shift;
      if (!(next & 0x80))
        return value;
    }
  }
  int64_t sleb128() {
    int64_t value = 0;
    for (unsigned shift = 0;;) {
      uint8_t next = byte();
      value |= static_cast<int64_t>(next & 0x7f) << shift;
      shift += 7;
      if (!(next & 0x80))
        return next & 0x40 && shift < 64 ? value | -(int64_t{1} << shift) : value;
    }
  }
  uintptr_t encoded(uint8_t encoding) {
    const uint8_t* start = at_;
    uintptr_t value = 0;
    switch (encoding & 0x0f) {
    case kAbsolute:
    case kUdata8:
    case kSdata8:
      value = fixed<uint64_t>();
      break;
    case kUleb128:
      value = uleb128();
      break;
    case kUdata2:
      value = fixed<uint16_t>();
      break;
    case kSdata2:
      value = static_cast<uintptr_t>(fixed<int16_t>());
      break;
    case kUdata4:
      value = fixed<uint32_t>();
      break;
    case kSdata4:
      value = static_cast<uintptr_t>(fixed<int32_t>());
      break;
    default:
      fatal("objc: unknown encoding 0x%02x in exception tables", encoding);
    }
    if (!value)
      return 0;
    if ((encoding & 0x70) == kPcRelative)
      value += reinterpret_cast<uintptr_t>(start);
    return encoding & kIndirect ? *reinterpret_cast<uintptr_t*>(value) : value;
  }

private:
  template <class T>
  T fixed() {
    T value;
    std::memcpy(&value, at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  const uint8_t* at_;
};

struct Handler {
  uintptr_t landing_pad = 0;
  int64_t selector = 0; // 0: a cleanup
};

// Whether `@catch (Type)` takes the object. clang names the type: null for @catch (...), "@id", or
// a class's name.
bool catches(const char* type, const Exception* exception) {
  if (!type)
    return true;
  if (!exception)
    return false;
  if (!std::strcmp(type, "@id"))
    return true;
  for (const Class* cls = class_of(exception->object); cls; cls = cls->superclass)
    if (!std::strcmp(cls->name, type))
      return true;
  return false;
}

Handler find_handler(_Unwind_Context* context, const Exception* exception) {
  auto* data = static_cast<const uint8_t*>(
      reinterpret_cast<const void*>(_Unwind_GetLanguageSpecificData(context)));
  if (!data)
    return {};
  Reader reader(data);
  uintptr_t function = _Unwind_GetRegionStart(context);
  uint8_t pads_encoding = reader.byte();
  uintptr_t pads = pads_encoding == kOmitted ? function : reader.encoded(pads_encoding);
  uint8_t types_encoding = reader.byte();
  const uint8_t* types = nullptr;
  if (types_encoding != kOmitted) {
    uint64_t offset = reader.uleb128();
    types = reader.at() + offset;
  }
  uint8_t sites_encoding = reader.byte();
  uint64_t sites_size = reader.uleb128();
  const uint8_t* actions = reader.at() + sites_size;

  int before = 0;
  uintptr_t ip = _Unwind_GetIPInfo(context, &before);
  if (!before)
    --ip;
  while (reader.at() < actions) {
    uintptr_t start = reader.encoded(sites_encoding);
    uintptr_t length = reader.encoded(sites_encoding);
    uintptr_t pad = reader.encoded(sites_encoding);
    uint64_t action = reader.uleb128();
    if (ip < function + start)
      return {};
    if (ip >= function + start + length)
      continue;
    if (!pad)
      return {};
    Handler handler{pads + pad, 0};
    if (!action)
      return handler;
    for (const uint8_t* record = actions + action - 1; record;) {
      Reader entry(record);
      int64_t filter = entry.sleb128();
      const uint8_t* link_at = entry.at();
      int64_t link = entry.sleb128();
      if (filter > 0) {
        size_t width = (types_encoding & 7) == kUdata2   ? 2
                       : (types_encoding & 7) == kUdata4 ? 4
                                                         : 8;
        Reader type(types - static_cast<size_t>(filter) * width);
        if (catches(reinterpret_cast<const char*>(type.encoded(types_encoding)), exception)) {
          handler.selector = filter;
          return handler;
        }
      }
      record = link ? link_at + link : nullptr;
    }
    // No @catch takes it; is there a cleanup among the actions?
    for (const uint8_t* record = actions + action - 1; record;) {
      Reader entry(record);
      int64_t filter = entry.sleb128();
      const uint8_t* link_at = entry.at();
      int64_t link = entry.sleb128();
      if (filter == 0)
        return handler;
      record = link ? link_at + link : nullptr;
    }
    return {};
  }
  return {};
}

} // namespace

extern "C" {

_Unwind_Reason_Code __gxx_personality_v0(int, _Unwind_Action, _Unwind_Exception_Class,
                                         _Unwind_Exception*, _Unwind_Context*);

_Unwind_Reason_Code __gnustep_objc_personality_v0(int version, _Unwind_Action actions,
                                                  _Unwind_Exception_Class,
                                                  _Unwind_Exception* header,
                                                  _Unwind_Context* context) {
  if (version != 1)
    return _URC_FATAL_PHASE1_ERROR;
  Handler handler = find_handler(context, exception_of(header));
  if (actions & _UA_SEARCH_PHASE)
    return handler.selector ? _URC_HANDLER_FOUND : _URC_CONTINUE_UNWIND;
  if (!handler.landing_pad)
    return _URC_CONTINUE_UNWIND;
  // During a forced unwind (a thread that is cancelled) only cleanups run.
  if (actions & _UA_FORCE_UNWIND)
    handler.selector = 0;
  _Unwind_SetGR(context, __builtin_eh_return_data_regno(0), reinterpret_cast<uintptr_t>(header));
  _Unwind_SetGR(context, __builtin_eh_return_data_regno(1),
                static_cast<uintptr_t>(handler.selector));
  _Unwind_SetIP(context, handler.landing_pad);
  return _URC_INSTALL_CONTEXT;
}

// Objective-C++ frames: C++'s own rules; an Objective-C exception only runs their cleanups.
_Unwind_Reason_Code __gnustep_objcxx_personality_v0(int version, _Unwind_Action actions,
                                                    _Unwind_Exception_Class exception_class,
                                                    _Unwind_Exception* header,
                                                    _Unwind_Context* context) {
  return __gxx_personality_v0(version, actions, exception_class, header, context);
}

void objc_exception_throw(Object* object) {
  auto* exception = new Exception{};
  exception->header.exception_class = kExceptionClass;
  exception->header.exception_cleanup = [](_Unwind_Reason_Code, _Unwind_Exception* header) {
    destroy(reinterpret_cast<Exception*>(header));
  };
  exception->object = objc_retain(object);
  _Unwind_RaiseException(&exception->header);
  // It returns only when nothing catches.
  uncaught(object);
}

Object* objc_begin_catch(_Unwind_Exception* header) {
  Exception* exception = exception_of(header);
  if (!exception) { // @catch (...) of a C++ exception
    caught.push_back(nullptr);
    _Unwind_DeleteException(header);
    return nullptr;
  }
  caught.push_back(exception);
  return exception->object;
}

void objc_end_catch() {
  if (caught.empty())
    return;
  Exception* exception = caught.back();
  caught.pop_back();
  if (exception)
    destroy(exception);
}

void objc_exception_rethrow(_Unwind_Exception* header) {
  // `@throw;` within a @catch block: the exception goes on, and the block does not end it.
  if (!caught.empty() && caught.back() && &caught.back()->header == header)
    caught.pop_back();
  else if (!header && !caught.empty() && caught.back()) {
    header = &caught.back()->header;
    caught.pop_back();
  }
  if (!header)
    fatal("objc: nothing to throw again");
  _Unwind_Resume_or_Rethrow(header);
  Exception* exception = exception_of(header);
  uncaught(exception ? exception->object : nullptr);
}
}

} // namespace objc
