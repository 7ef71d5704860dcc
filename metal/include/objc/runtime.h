/* Classes, methods and protocols at run time. */
#pragma once

#include <objc/objc.h>

#ifdef __OBJC__
@class Protocol;
#else
typedef struct objc_protocol Protocol;
#endif
typedef struct objc_method *Method;
typedef struct objc_ivar *Ivar;
typedef struct objc_property *objc_property_t;
struct objc_method_description {
  SEL name;
  const char *types;
};
typedef struct {
  const char *name;
  const char *value;
} objc_property_attribute_t;

typedef uintptr_t objc_AssociationPolicy;
enum {
  OBJC_ASSOCIATION_ASSIGN = 0,
  OBJC_ASSOCIATION_RETAIN_NONATOMIC = 1,
  OBJC_ASSOCIATION_COPY_NONATOMIC = 3,
  OBJC_ASSOCIATION_RETAIN = 01401,
  OBJC_ASSOCIATION_COPY = 01403
};

#ifdef __OBJC__
#define OBJC_UNRETAINED __unsafe_unretained
#else
#define OBJC_UNRETAINED
#endif

#ifdef __cplusplus
extern "C" {
#endif

Class objc_lookUpClass(const char *name);
Class objc_getClass(const char *name);
Class objc_getMetaClass(const char *name);
Class objc_getRequiredClass(const char *name);
int objc_getClassList(Class OBJC_UNRETAINED *buffer, int capacity);
Class OBJC_UNRETAINED *objc_copyClassList(unsigned *count);
Protocol *objc_getProtocol(const char *name);

Class objc_allocateClassPair(Class superclass, const char *name, size_t extra_bytes);
void objc_registerClassPair(Class cls);
void objc_disposeClassPair(Class cls);

Class object_setClass(id object, Class cls);
BOOL object_isClass(id object);
id object_getIvar(id object, Ivar ivar);
void object_setIvar(id object, Ivar ivar, id value);
void objc_setAssociatedObject(id object, const void *key, id value, objc_AssociationPolicy policy);
id objc_getAssociatedObject(id object, const void *key);
void objc_removeAssociatedObjects(id object);

const char *class_getName(Class cls);
Class class_getSuperclass(Class cls);
BOOL class_isMetaClass(Class cls);
size_t class_getInstanceSize(Class cls);
BOOL class_respondsToSelector(Class cls, SEL selector);
BOOL class_conformsToProtocol(Class cls, Protocol *protocol);
Method class_getInstanceMethod(Class cls, SEL selector);
Method class_getClassMethod(Class cls, SEL selector);
IMP class_getMethodImplementation(Class cls, SEL selector);
IMP class_getMethodImplementation_stret(Class cls, SEL selector);
Method *class_copyMethodList(Class cls, unsigned *count);
BOOL class_addMethod(Class cls, SEL selector, IMP imp, const char *types);
IMP class_replaceMethod(Class cls, SEL selector, IMP imp, const char *types);
BOOL class_addIvar(Class cls, const char *name, size_t size, uint8_t alignment, const char *types);
BOOL class_addProtocol(Class cls, Protocol *protocol);
Ivar class_getInstanceVariable(Class cls, const char *name);
Ivar *class_copyIvarList(Class cls, unsigned *count);
objc_property_t class_getProperty(Class cls, const char *name);
objc_property_t *class_copyPropertyList(Class cls, unsigned *count);
Protocol *OBJC_UNRETAINED *class_copyProtocolList(Class cls, unsigned *count);
id class_createInstance(Class cls, size_t extra_bytes);
id object_dispose(id object);

SEL method_getName(Method method);
IMP method_getImplementation(Method method);
const char *method_getTypeEncoding(Method method);
unsigned method_getNumberOfArguments(Method method);
char *method_copyReturnType(Method method);
char *method_copyArgumentType(Method method, unsigned index);
IMP method_setImplementation(Method method, IMP imp);
void method_exchangeImplementations(Method a, Method b);

const char *ivar_getName(Ivar ivar);
const char *ivar_getTypeEncoding(Ivar ivar);
ptrdiff_t ivar_getOffset(Ivar ivar);
const char *property_getName(objc_property_t property);
const char *property_getAttributes(objc_property_t property);

const char *protocol_getName(Protocol *protocol);
BOOL protocol_isEqual(Protocol *a, Protocol *b);
BOOL protocol_conformsToProtocol(Protocol *protocol, Protocol *other);
struct objc_method_description protocol_getMethodDescription(Protocol *protocol, SEL selector,
                                                             BOOL required, BOOL instance);

int objc_sync_enter(id object);
int objc_sync_exit(id object);
void *objc_autoreleasePoolPush(void);
void objc_autoreleasePoolPop(void *pool);

#ifdef __cplusplus
}
#endif
