#include "metal/runtime/constants.h"

// A constant string that exists before any code of a client runs.
#define BESSEMER_STRING(name, text)                                                                \
  extern "C" [[gnu::visibility("default"), gnu::used]] ns::String* const name = ns::literal<text>()

BESSEMER_STRING(MTLCommandBufferErrorDomain, "MTLCommandBufferErrorDomain");
BESSEMER_STRING(MTLCommandBufferEncoderInfoErrorKey, "MTLCommandBufferEncoderInfoErrorKey");
BESSEMER_STRING(MTLCaptureErrorDomain, "MTLCaptureErrorDomain");
BESSEMER_STRING(MTLCounterErrorDomain, "MTLCounterErrorDomain");
BESSEMER_STRING(MTLIOErrorDomain, "MTLIOErrorDomain");
BESSEMER_STRING(MTLLogStateErrorDomain, "MTLLogStateErrorDomain");

BESSEMER_STRING(MTLDeviceWasAddedNotification, "MTLDeviceWasAddedNotification");
BESSEMER_STRING(MTLDeviceRemovalRequestedNotification, "MTLDeviceRemovalRequestedNotification");
BESSEMER_STRING(MTLDeviceWasRemovedNotification, "MTLDeviceWasRemovedNotification");

// Names as Apple spells them: clients compare the name of a counter set with them.
BESSEMER_STRING(MTLCommonCounterTimestamp, "GPUTimestamp");
BESSEMER_STRING(MTLCommonCounterTessellationInputPatches, "TessellationInputPatches");
BESSEMER_STRING(MTLCommonCounterVertexInvocations, "VertexInvocations");
BESSEMER_STRING(MTLCommonCounterPostTessellationVertexInvocations,
                "PostTessellationVertexInvocations");
BESSEMER_STRING(MTLCommonCounterClipperInvocations, "ClipperInvocations");
BESSEMER_STRING(MTLCommonCounterClipperPrimitivesOut, "ClipperPrimitivesOut");
BESSEMER_STRING(MTLCommonCounterFragmentInvocations, "FragmentInvocations");
BESSEMER_STRING(MTLCommonCounterFragmentsPassed, "FragmentsPassed");
BESSEMER_STRING(MTLCommonCounterComputeKernelInvocations, "ComputeKernelInvocations");
BESSEMER_STRING(MTLCommonCounterTotalCycles, "TotalCycles");
BESSEMER_STRING(MTLCommonCounterVertexCycles, "VertexCycles");
BESSEMER_STRING(MTLCommonCounterTessellationCycles, "TessellationCycles");
BESSEMER_STRING(MTLCommonCounterPostTessellationVertexCycles, "PostTessellationVertexCycles");
BESSEMER_STRING(MTLCommonCounterFragmentCycles, "FragmentCycles");
BESSEMER_STRING(MTLCommonCounterRenderTargetWriteCycles, "RenderTargetWriteCycles");
BESSEMER_STRING(MTLCommonCounterSetTimestamp, "timestamp");
BESSEMER_STRING(MTLCommonCounterSetStageUtilization, "stageutilization");
BESSEMER_STRING(MTLCommonCounterSetStatistic, "statistic");
