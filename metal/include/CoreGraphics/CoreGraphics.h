/* The types of Core Graphics that Metal's headers name. */
#pragma once

#include <CoreGraphics/CGColorSpace.h>
#include <CoreGraphics/CGGeometry.h>
