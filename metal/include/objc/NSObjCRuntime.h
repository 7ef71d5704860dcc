#pragma once

#include <objc/NSObject.h>
