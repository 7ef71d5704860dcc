#include "metal/foundation/data.h"

#include <cstdlib>
#include <cstring>

#include "metal/foundation/dispatch_data.h"
#include "metal/foundation/file.h"
#include "metal/foundation/url.h"
#include "metal/objc/message.h"
#include "metal/objc/runtime.h"

namespace ns {

std::optional<std::span<const std::byte>> bytes_of(Object* object) {
  if (auto* data = objc::cast<Data>(object))
    return std::as_bytes(std::span(data->bytes()));
  if (auto* data = objc::cast<DispatchData>(object))
    return data->bytes();
  return std::nullopt;
}

namespace {

Data* make_in(objc::Class* cls, std::optional<std::string> bytes) {
  if (!bytes)
    return nullptr;
  auto* made = objc::send<Data*, "init">(objc::send<Object*, "alloc">(cls));
  made->bytes() = std::move(*bytes);
  objc_autorelease(made);
  return made;
}
Data* init_in(Data* self, std::optional<std::string> bytes) {
  if (!bytes) {
    objc_release(self);
    return nullptr;
  }
  self->bytes() = std::move(*bytes);
  return self;
}

std::string bytes_at(const void* bytes, UInteger length) {
  return length ? std::string(static_cast<const char*>(bytes), length) : std::string();
}
/// NSData owns its bytes; those it is given for good are copied and freed at once.
std::string take_bytes(void* bytes, UInteger length) {
  std::string copy = bytes_at(bytes, length);
  std::free(bytes);
  return copy;
}
std::string bytes_of_data(Object* data) {
  auto bytes = bytes_of(data);
  return bytes ? bytes_at(bytes->data(), bytes->size()) : std::string();
}

Data* make_empty(objc::Class* cls) { return make_in(cls, std::string()); }
Data* make_with_bytes(objc::Class* cls, const void* bytes, UInteger length) {
  return make_in(cls, bytes_at(bytes, length));
}
Data* make_no_copy(objc::Class* cls, void* bytes, UInteger length) {
  return make_in(cls, take_bytes(bytes, length));
}
Data* make_no_copy_free(objc::Class* cls, void* bytes, UInteger length, bool free_when_done) {
  return make_in(cls, free_when_done ? take_bytes(bytes, length) : bytes_at(bytes, length));
}
Data* make_with_data(objc::Class* cls, Object* other) { return make_in(cls, bytes_of_data(other)); }
Data* make_with_file(objc::Class* cls, String* path) {
  return make_in(cls, read_file(utf8(path), nullptr));
}
Data* make_with_file_options(objc::Class* cls, String* path, UInteger, Error** error) {
  return make_in(cls, read_file(utf8(path), error));
}
Data* make_with_url(objc::Class* cls, URL* url) {
  return url ? make_in(cls, read_file(url->path(), nullptr)) : nullptr;
}
Data* make_with_url_options(objc::Class* cls, URL* url, UInteger, Error** error) {
  return url ? make_in(cls, read_file(url->path(), error)) : nullptr;
}
Data* init_with_bytes(Data* self, const void* bytes, UInteger length) {
  return init_in(self, bytes_at(bytes, length));
}
Data* init_no_copy(Data* self, void* bytes, UInteger length, bool free_when_done) {
  return init_in(self, free_when_done ? take_bytes(bytes, length) : bytes_at(bytes, length));
}
Data* init_with_data(Data* self, Object* other) { return init_in(self, bytes_of_data(other)); }
Data* init_with_file(Data* self, String* path) {
  return init_in(self, read_file(utf8(path), nullptr));
}

const void* bytes(Data* self) { return self->bytes().data(); }
void* mutable_bytes(Data* self) { return self->bytes().data(); }
UInteger length(Data* self) { return self->bytes().size(); }
void get_bytes(Data* self, void* buffer, Range range) {
  if (range.location > length(self) || range.length > length(self) - range.location)
    objc::fatal("-[NSData getBytes:range:]: range {%lu, %lu} of %lu", range.location, range.length,
                length(self));
  std::memcpy(buffer, self->bytes().data() + range.location, range.length);
}
void get_bytes_length(Data* self, void* buffer, UInteger count) {
  std::memcpy(buffer, self->bytes().data(), std::min(count, length(self)));
}
Data* subdata(Data* self, Range range) {
  if (range.location > length(self) || range.length > length(self) - range.location)
    objc::fatal("-[NSData subdataWithRange:]: range {%lu, %lu} of %lu", range.location,
                range.length, length(self));
  return objc::make<Data>(self->bytes().substr(range.location, range.length)).autorelease();
}
bool is_equal_to_data(Data* self, Data* other) { return other && self->bytes() == other->bytes(); }
bool is_equal_to(Data* self, Object* other) {
  return is_equal_to_data(self, objc::cast<Data>(other));
}
UInteger hash(Data* self) { return std::hash<std::string>()(self->bytes()); }
bool write(Data* self, String* path, bool atomically) {
  return write_file(utf8(path), self->bytes(), atomically, nullptr);
}
bool write_options(Data* self, String* path, UInteger options, Error** error) {
  return write_file(utf8(path), self->bytes(), options & 1, error);
}
String* description(Data* self) {
  return autoreleased_string("{length = " + std::to_string(length(self)) + "}");
}
Data* copied(Data* self, void*) {
  if (!objc::cast<MutableData>(self))
    return Ref<Data>(self).take();
  return objc::make<Data>(self->bytes()).take();
}
MutableData* mutable_copy(Data* self, void*) {
  return objc::make<MutableData>(self->bytes()).take();
}

Data* make_with_length(objc::Class* cls, UInteger size) {
  return make_in(cls, std::string(size, 0));
}
Data* make_with_capacity(objc::Class* cls, UInteger) { return make_in(cls, std::string()); }
Data* init_with_length(Data* self, UInteger size) { return init_in(self, std::string(size, 0)); }
Data* init_with_capacity(Data* self, UInteger) { return self; }
void append_bytes(MutableData* self, const void* added, UInteger count) {
  self->bytes() += bytes_at(added, count);
}
void append_data(MutableData* self, Object* data) { self->bytes() += bytes_of_data(data); }
void set_length(MutableData* self, UInteger size) { self->bytes().resize(size); }

} // namespace

OBJC_DEFINE_CLASS(
    Data, "NSData", objc::Object,
    .methods =
        {
            objc::method<&init_with_bytes>("initWithBytes:length:"),
            objc::method<&init_no_copy>("initWithBytesNoCopy:length:freeWhenDone:"),
            objc::method<&init_with_data>("initWithData:"),
            objc::method<&init_with_file>("initWithContentsOfFile:"),
            objc::method<&bytes>("bytes"),
            objc::method<&mutable_bytes>("mutableBytes"),
            objc::method<&length>("length"),
            objc::method<&get_bytes>("getBytes:range:"),
            objc::method<&get_bytes_length>("getBytes:length:"),
            objc::method<&subdata>("subdataWithRange:"),
            objc::method<&is_equal_to_data>("isEqualToData:"),
            objc::method<&is_equal_to>("isEqual:"),
            objc::method<&hash>("hash"),
            objc::method<&write>("writeToFile:atomically:"),
            objc::method<&write_options>("writeToFile:options:error:"),
            objc::method<&description>("description"),
            objc::method<&copied>("copyWithZone:"),
            objc::method<&mutable_copy>("mutableCopyWithZone:"),
        },
    .class_methods =
        {
            objc::method<&make_empty>("data"),
            objc::method<&make_with_bytes>("dataWithBytes:length:"),
            objc::method<&make_no_copy>("dataWithBytesNoCopy:length:"),
            objc::method<&make_no_copy_free>("dataWithBytesNoCopy:length:freeWhenDone:"),
            objc::method<&make_with_data>("dataWithData:"),
            objc::method<&make_with_file>("dataWithContentsOfFile:"),
            objc::method<&make_with_file_options>("dataWithContentsOfFile:options:error:"),
            objc::method<&make_with_url>("dataWithContentsOfURL:"),
            objc::method<&make_with_url_options>("dataWithContentsOfURL:options:error:"),
        },
    .protocols = {"NSCopying", "NSMutableCopying", "NSSecureCoding"});

OBJC_DEFINE_CLASS(MutableData, "NSMutableData", Data,
                  .methods =
                      {
                          objc::method<&init_with_length>("initWithLength:"),
                          objc::method<&init_with_capacity>("initWithCapacity:"),
                          objc::method<&append_bytes>("appendBytes:length:"),
                          objc::method<&append_data>("appendData:"),
                          objc::method<&set_length>("setLength:"),
                      },
                  .class_methods = {
                      objc::method<&make_with_length>("dataWithLength:"),
                      objc::method<&make_with_capacity>("dataWithCapacity:"),
                  });

} // namespace ns
