// Metal's plain types as clients pass them: sizes, ranges and the enumerations that libMetal acts
// on. Values and layouts are part of Metal's ABI; types_test.cc compares each with Apple's
// metal-cpp.
#pragma once

#include <cstddef>
#include <cstdint>

// Every class of metal/runtime is in this namespace (the tables of metal/compiler are in
// bessemer::metal, whose Library and Function are other things).
namespace mtl {

using UInteger = uint64_t;
using Integer = int64_t;

struct Size {
  UInteger width, height, depth;
};
struct Origin {
  UInteger x, y, z;
};
struct Region {
  Origin origin;
  Size size;
};
/// Bytes or elements [location, location + length).
struct Range {
  UInteger location, length;
};
struct SizeAndAlign {
  UInteger size, align;
};
struct ResourceID {
  uint64_t value;
};
struct AccelerationStructureSizes {
  UInteger structure, build_scratch, refit_scratch;
};

inline constexpr UInteger kNotFound = INT64_MAX; // NSNotFound

enum class GPUFamily : Integer {
  Apple1 = 1001,
  Apple9 = 1009,
  Mac1 = 2001,
  Mac2 = 2002,
  Common1 = 3001,
  Common2 = 3002,
  Common3 = 3003,
  MacCatalyst1 = 4001,
  MacCatalyst2 = 4002,
  Metal3 = 5001,
};

enum class DeviceLocation : UInteger { BuiltIn = 0, Slot = 1, External = 2 };
enum class ArgumentBuffersTier : UInteger { Tier1 = 0, Tier2 = 1 };
enum class ReadWriteTextureTier : UInteger { None = 0, Tier1 = 1, Tier2 = 2 };
enum class CounterSamplingPoint : UInteger {
  StageBoundary = 0,
  DrawBoundary = 1,
  DispatchBoundary = 2,
  TileDispatchBoundary = 3,
  BlitBoundary = 4,
};

enum class PurgeableState : UInteger { KeepCurrent = 1, NonVolatile = 2, Volatile = 3, Empty = 4 };
enum class CPUCacheMode : UInteger { DefaultCache = 0, WriteCombined = 1 };
enum class StorageMode : UInteger { Shared = 0, Managed = 1, Private = 2, Memoryless = 3 };
enum class HazardTrackingMode : UInteger { Default = 0, Untracked = 1, Tracked = 2 };
enum class HeapType : Integer { Automatic = 0, Placement = 1, Sparse = 2 };

/// MTLResourceOptions: cache mode in bits 0-3, storage mode in bits 4-7, hazard tracking in bits
/// 8-9.
struct ResourceOptions {
  UInteger bits;

  static constexpr ResourceOptions make(CPUCacheMode cache, StorageMode storage,
                                        HazardTrackingMode hazard) {
    return {UInteger(cache) | UInteger(storage) << 4 | UInteger(hazard) << 8};
  }
  constexpr CPUCacheMode cache_mode() const { return CPUCacheMode(bits & 15); }
  constexpr StorageMode storage_mode() const { return StorageMode(bits >> 4 & 15); }
  constexpr HazardTrackingMode hazard_mode() const { return HazardTrackingMode(bits >> 8 & 3); }
};

enum class DispatchType : UInteger { Serial = 0, Concurrent = 1 };

enum class CommandBufferStatus : UInteger {
  NotEnqueued = 0,
  Enqueued = 1,
  Committed = 2,
  Scheduled = 3,
  Completed = 4,
  Error = 5,
};

enum class CommandBufferError : UInteger {
  None = 0,
  Internal = 1,
  Timeout = 2,
  PageFault = 3,
  AccessRevoked = 4,
  NotPermitted = 7,
  OutOfMemory = 8,
  InvalidResource = 9,
  Memoryless = 10,
  DeviceRemoved = 11,
  StackOverflow = 12,
};

inline constexpr UInteger kCommandBufferErrorOptionEncoderExecutionStatus = 1;

enum class CommandEncoderErrorState : Integer {
  Unknown = 0,
  Completed = 1,
  Affected = 2,
  Pending = 3,
  Faulted = 4,
};

enum class BarrierScope : UInteger { Buffers = 1, Textures = 2, RenderTargets = 4 };

inline constexpr UInteger kIndirectCommandTypeConcurrentDispatch = 32;
inline constexpr UInteger kIndirectCommandTypeConcurrentDispatchThreads = 64;

enum class CaptureError : Integer {
  NotSupported = 1,
  AlreadyCapturing = 2,
  InvalidDescriptor = 3,
};
enum class CaptureDestination : Integer { DeveloperTools = 1, GPUTraceDocument = 2 };

enum class CounterSampleBufferError : Integer { OutOfMemory = 0, Invalid = 1, Internal = 2 };
inline constexpr UInteger kCounterDontSample = ~UInteger{0};

enum class LogLevel : Integer {
  Undefined = 0,
  Debug = 1,
  Info = 2,
  Notice = 3,
  Error = 4,
  Fault = 5
};
enum class LogStateError : UInteger { InvalidSize = 1, Invalid = 2 };

// Limits of every family that the device can claim; Metal's feature set tables.
inline constexpr UInteger kMaxBufferBindings = 31;
inline constexpr UInteger kMaxThreadgroupMemoryBindings = 31;
inline constexpr UInteger kMaxThreadgroupMemory = 32 * 1024;
inline constexpr UInteger kMaxThreadsPerThreadgroup = 1024;
inline constexpr UInteger kMaxSetBytes = 4096;

} // namespace mtl
