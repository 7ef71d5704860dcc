// __objc_load: what clang makes each image with Objective-C in it call when it is loaded.
#include <unordered_set>
#include <vector>

#include "metal/objc/class.h"
#include "metal/objc/message.h"
#include "metal/objc/runtime.h"

namespace objc {
namespace {

struct Load {
  Class* cls;
  Imp imp;
};

// Notes the +load in one of an image's own method lists.
void collect_load(std::vector<Load>& loads, Class* cls, MethodList* list) {
  for (int i = 0; list && i < list->count; ++i)
    if (same_selector(list->at(i).selector, selector<"load">()))
      loads.push_back({cls, list->at(i).imp});
}

// A class's +load after its superclass's, whatever their order in the image.
void collect_class_load(std::vector<Load>& loads, std::unordered_set<Class*>& waiting, Class* cls) {
  if (!waiting.erase(cls))
    return;
  if (cls->superclass)
    collect_class_load(loads, waiting, cls->superclass);
  collect_load(loads, cls, cls->isa->methods);
}

} // namespace

extern "C" void __objc_load(LoadInfo* image) {
  link_native_classes();
  std::vector<Load> loads; // classes' before categories'
  std::unordered_set<Class*> waiting;
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
        waiting.insert(*c);
      }
    for (Class** c = image->classes_begin; c < image->classes_end; ++c)
      if (*c)
        collect_class_load(loads, waiting, *c);
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
      collect_load(loads, cls, class_methods);
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
  for (const Load& load : loads)
    reinterpret_cast<void (*)(Class*, Selector*)>(load.imp)(load.cls, selector<"load">());
}

} // namespace objc
