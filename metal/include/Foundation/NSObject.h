#pragma once

#import <Foundation/NSObjCRuntime.h>
