// __objc_load: what clang makes each image with Objective-C in it call when it is loaded.
#include <vector>

#include "metal/objc/class.h"
#include "metal/objc/message.h"
#include "metal/objc/runtime.h"

namespace objc {
namespace {

// Sends +load, where the class itself (not a superclass) has one.
void send_load(Class* cls, MethodList* methods, bool one_list) {
  Selector* load = selector<"load">();
  for (MethodList* list = methods; list; list = one_list ? nullptr : list->next)
    for (int i = 0; i < list->count; ++i)
      if (same_selector(list->at(i).selector, load)) {
        reinterpret_cast<void (*)(Class*, Selector*)>(list->at(i).imp)(cls, load);
        return;
      }
}

} // namespace

extern "C" void __objc_load(LoadInfo* image) {
  link_native_classes();
  std::vector<Class*> classes;
  std::vector<std::pair<Class*, MethodList*>> category_loads;
  {
    std::lock_guard lock(runtime_lock());
    if (image->version == ~uint64_t{0})
      return;
    if (image->version != 0)
      fatal("objc: an image was compiled for version %llu of the gnustep-2 ABI, this is version 0",
            static_cast<unsigned long long>(image->version));
    image->version = ~uint64_t{0};
    for (Selector* s = image->selectors_begin; s < image->selectors_end; ++s)
      if (s->name)
        register_selector(s);
    for (Protocol* p = image->protocols_begin; p < image->protocols_end; ++p)
      if (p->name)
        register_protocol(p);
    for (Protocol** p = image->protocol_refs_begin; p < image->protocol_refs_end; ++p)
      if (*p)
        if (Protocol* canonical = find_or_make_protocol((*p)->name))
          *p = canonical;
    for (Class** c = image->classes_begin; c < image->classes_end; ++c)
      if (*c) {
        link_class(*c);
        classes.push_back(*c);
      }
    for (Category* k = image->categories_begin; k < image->categories_end; ++k) {
      if (!k->class_name)
        continue;
      Class* cls = find_class(k->class_name);
      if (!cls) {
        std::fprintf(stderr, "objc: category %s is on class %s, which does not exist\n", k->name,
                     k->class_name);
        continue;
      }
      MethodList* class_methods = k->class_methods;
      if (class_methods)
        category_loads.emplace_back(cls, class_methods);
      attach_methods(cls, k->instance_methods);
      attach_methods(cls->isa, class_methods);
      if (ProtocolList* list = k->protocols) {
        ProtocolList* last = list;
        while (last->next)
          last = last->next;
        last->next = cls->protocols;
        cls->protocols = list;
      }
    }
  }
  for (Class* cls : classes)
    send_load(cls, cls->isa->methods, false);
  for (auto [cls, methods] : category_loads)
    send_load(cls, methods, true);
}

} // namespace objc
