/* Messages as functions. Cast these to the method's own type before the call. */
#pragma once

#include <objc/objc.h>

#ifdef __cplusplus
extern "C" {
#endif

void objc_msgSend(void);
/* For structs that are returned through memory, and for floating point; on arm64 the same. */
void objc_msgSend_stret(void);
void objc_msgSend_fpret(void);

struct objc_super {
  id receiver;
  Class super_class;
};
IMP objc_msg_lookup(id receiver, SEL selector);
IMP objc_msg_lookup_super(struct objc_super *super, SEL selector);

#ifdef __cplusplus
}
#endif
