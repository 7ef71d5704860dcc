/* Messages as functions. Cast these to the method's own type before the call. */
#pragma once

#include <objc/objc.h>

#ifdef __cplusplus
extern "C" {
#endif

/* _stret is for structs that are returned through memory, _fpret for floating point; on arm64 all are
 * the same. In Objective-C, clang has these types built in. */
#ifdef __OBJC__
id objc_msgSend(id receiver, SEL selector, ...);
void objc_msgSend_stret(id receiver, SEL selector, ...);
long double objc_msgSend_fpret(id receiver, SEL selector, ...);
#else
void objc_msgSend(void);
void objc_msgSend_stret(void);
void objc_msgSend_fpret(void);
#endif

struct objc_super {
  id receiver;
  Class super_class;
};
IMP objc_msg_lookup(id receiver, SEL selector);
IMP objc_msg_lookup_super(struct objc_super *super, SEL selector);

#ifdef __cplusplus
}
#endif
