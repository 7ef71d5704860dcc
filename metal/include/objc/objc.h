/* The types that every Objective-C program and metal-cpp know. */
#pragma once

#include <math.h> /* metal-cpp counts on INFINITY from the SDK */
#include <stddef.h>
#include <stdint.h>

#if defined(__aarch64__) && !defined(__arm64__)
#define __arm64__ 1 /* metal-cpp tests Apple's spelling only */
#endif

#ifdef __OBJC__
typedef id (*IMP)(id, SEL, ...);
#else
typedef struct objc_class *Class;
struct objc_object {
  Class isa;
};
typedef struct objc_object *id;
typedef struct objc_selector *SEL;
typedef void (*IMP)(void);
#endif

#ifdef __cplusplus
typedef bool BOOL;
#else
typedef _Bool BOOL;
#endif
#define OBJC_BOOL_IS_BOOL 1
#define YES ((BOOL)1)
#define NO ((BOOL)0)

#ifndef nil
#define nil NULL
#endif
#ifndef Nil
#define Nil NULL
#endif

#define OBJC_EXPORT extern
#define OBJC_ROOT_CLASS __attribute__((objc_root_class))

#ifdef __cplusplus
extern "C" {
#endif
SEL sel_registerName(const char *name);
SEL sel_getUid(const char *name);
const char *sel_getName(SEL selector);
BOOL sel_isEqual(SEL a, SEL b);
BOOL sel_isMapped(SEL selector);
Class object_getClass(id object);
const char *object_getClassName(id object);
#ifdef __cplusplus
}
#endif
