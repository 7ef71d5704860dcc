// A compute program in Objective-C, as they are written for a Mac. Compiled without and with ARC.
#import <Metal/Metal.h>
#import <stdio.h>

static int failures;
#define CHECK(...)                                                                                 \
  do {                                                                                             \
    if (!(__VA_ARGS__)) {                                                                          \
      printf("%s:%d: %s\n", __FILE__, __LINE__, #__VA_ARGS__);                                     \
      ++failures;                                                                                  \
    }                                                                                              \
  } while (0)

#if __has_feature(objc_arc)
#define RELEASE(x) ((x) = nil)
#else
#define RELEASE(x) [(x) release]
#endif

static NSString *const kSource =
    @"#include <metal_stdlib>\n"
     "using namespace metal;\n"
     "constant uint addend [[function_constant(3)]];\n"
     "struct Pair { uint first; device uint *list; };\n"
     "kernel void scale(device uint *out [[buffer(0)]], constant uint &factor [[buffer(1)]],\n"
     "                  threadgroup uint *shared [[threadgroup(0)]],\n"
     "                  uint i [[thread_position_in_grid]],\n"
     "                  uint lane [[thread_position_in_threadgroup]]) {\n"
     "  shared[lane] = i * factor + addend;\n"
     "  threadgroup_barrier(mem_flags::mem_threadgroup);\n"
     "  out[i] = shared[lane];\n"
     "}\n";

static void compute(id<MTLDevice> device) {
  NSError *error = nil;
  MTLCompileOptions *options = [MTLCompileOptions new];
  options.preprocessorMacros = @{@"UNUSED" : @1};
  id<MTLLibrary> library = [device newLibraryWithSource:kSource options:options error:&error];
  RELEASE(options);
  if (!library) {
    printf("%s\n", error.localizedDescription.UTF8String);
    ++failures;
    return;
  }
  CHECK([library.functionNames isEqual:@[ @"scale" ]]);
  CHECK([library newFunctionWithName:@"none"] == nil);

  // The constant must be set, and with its own type.
  id<MTLFunction> open = [library newFunctionWithName:@"scale"];
  MTLFunctionConstant *constant = open.functionConstantsDictionary[@"addend"];
  CHECK(constant.index == 3 && constant.type == MTLDataTypeUInt && constant.required);
  CHECK([device newComputePipelineStateWithFunction:open error:&error] == nil);
  CHECK([error.localizedDescription containsString:@"'addend'"]);
  RELEASE(open);
  MTLFunctionConstantValues *values = [MTLFunctionConstantValues new];
  float wrong = 1;
  [values setConstantValue:&wrong type:MTLDataTypeFloat atIndex:3];
  CHECK([library newFunctionWithName:@"scale" constantValues:values error:&error] == nil);
  CHECK([error.localizedDescription containsString:@"uint"]);
  uint addend = 5;
  [values setConstantValue:&addend type:MTLDataTypeUInt withName:@"addend"];
  [values setConstantValue:&addend type:MTLDataTypeUInt atIndex:3];
  id<MTLFunction> function = [library newFunctionWithName:@"scale" constantValues:values error:&error];
  RELEASE(values);
  CHECK(function && [function.name isEqual:@"scale"] && function.functionType == MTLFunctionTypeKernel);

  MTLComputePipelineDescriptor *descriptor = [MTLComputePipelineDescriptor new];
  descriptor.computeFunction = function;
  descriptor.label = @"a label";
  MTLComputePipelineReflection *reflection = nil;
  id<MTLComputePipelineState> pipeline =
      [device newComputePipelineStateWithDescriptor:descriptor
                                            options:MTLPipelineOptionArgumentInfo
                                         reflection:&reflection
                                              error:&error];
  RELEASE(descriptor);
  RELEASE(function);
  if (!pipeline) {
    printf("%s\n", error.localizedDescription.UTF8String);
    ++failures;
    return;
  }
  CHECK([pipeline.label isEqual:@"a label"] && pipeline.threadExecutionWidth == 32);
  CHECK(pipeline.maxTotalThreadsPerThreadgroup == 1024);
  CHECK(reflection.bindings.count == 3);
  for (id<MTLBinding> binding in reflection.bindings) {
    if ([binding.name isEqual:@"out"])
      CHECK(binding.type == MTLBindingTypeBuffer && binding.index == 0 &&
            binding.access != MTLBindingAccessReadOnly &&
            [(id<MTLBufferBinding>)binding bufferDataType] == MTLDataTypeUInt);
    else if ([binding.name isEqual:@"factor"])
      CHECK(binding.index == 1 && binding.access == MTLBindingAccessReadOnly &&
            [(id<MTLBufferBinding>)binding bufferDataSize] == 4);
    else
      CHECK(binding.type == MTLBindingTypeThreadgroupMemory && binding.index == 0);
  }

  enum { kThreads = 1000 };
  id<MTLBuffer> buffer = [device newBufferWithLength:kThreads * 4
                                             options:MTLResourceStorageModeShared];
  id<MTLCommandQueue> queue = [device newCommandQueue];
  __block int completed = 0;
  @autoreleasepool {
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    [encoder setComputePipelineState:pipeline];
    [encoder setBuffer:buffer offset:0 atIndex:0];
    uint factor = 3;
    [encoder setBytes:&factor length:sizeof factor atIndex:1];
    [encoder setThreadgroupMemoryLength:64 * 4 atIndex:0];
    [encoder dispatchThreads:MTLSizeMake(kThreads, 1, 1)
        threadsPerThreadgroup:MTLSizeMake(64, 1, 1)];
    [encoder endEncoding];
    [commands addCompletedHandler:^(id<MTLCommandBuffer> done) {
      completed = done.status == MTLCommandBufferStatusCompleted;
    }];
    [commands commit];
    [commands waitUntilCompleted];
    CHECK(commands.status == MTLCommandBufferStatusCompleted && commands.error == nil);
  }
  CHECK(completed == 1);
  const uint *out = buffer.contents;
  int differences = 0;
  for (uint i = 0; i < kThreads; ++i)
    differences += out[i] != i * 3 + 5;
  CHECK(differences == 0);
  RELEASE(buffer);
  RELEASE(queue);
  RELEASE(pipeline);
  RELEASE(library);
}

static void argumentBuffers(id<MTLDevice> device) {
  NSMutableArray *arguments = [NSMutableArray array];
  MTLDataType types[] = {MTLDataTypePointer, MTLDataTypeFloat4, MTLDataTypePointer};
  for (NSUInteger i = 0; i < 3; ++i) {
    MTLArgumentDescriptor *argument = [MTLArgumentDescriptor argumentDescriptor];
    argument.index = i;
    argument.dataType = types[i];
    argument.arrayLength = i == 2 ? 2 : 0;
    [arguments addObject:argument];
  }
  id<MTLArgumentEncoder> encoder = [device newArgumentEncoderWithArguments:arguments];
  // A pointer, padding to 16, a float4, two pointers.
  CHECK(encoder.encodedLength == 48 && encoder.alignment == 16);
  id<MTLBuffer> buffer = [device newBufferWithLength:256 options:0];
  id<MTLBuffer> target = [device newBufferWithLength:64 options:0];
  [encoder setArgumentBuffer:buffer startOffset:16 arrayElement:1];
  [encoder setBuffer:target offset:8 atIndex:0];
  [encoder setBuffer:target offset:0 atIndex:3];
  ((float *)[encoder constantDataAtIndex:1])[3] = 2.5f;
  const char *bytes = (const char *)buffer.contents + 16 + 48;
  CHECK(*(const uint64_t *)bytes == target.gpuAddress + 8);
  CHECK(((const float *)(bytes + 16))[3] == 2.5f);
  CHECK(*(const uint64_t *)(bytes + 40) == target.gpuAddress);
  CHECK([encoder constantDataAtIndex:0] == NULL);
  RELEASE(buffer);
  RELEASE(target);
  RELEASE(encoder);
}

static void errors(id<MTLDevice> device) {
  NSError *error = nil;
  id<MTLLibrary> library = [device newLibraryWithSource:@"kernel void k() {\n  nonsense;\n}"
                                                options:nil
                                                  error:&error];
  CHECK(library == nil && [error.domain isEqual:MTLLibraryErrorDomain] && error.code == 3);
  CHECK([error.localizedDescription containsString:@":2:3: error:"]);
  library = [device newLibraryWithURL:[NSURL fileURLWithPath:@"/nonexistent.metallib"] error:&error];
  CHECK(library == nil && error.code == MTLLibraryErrorFileNotFound);
  CHECK([error.localizedDescription containsString:@"/nonexistent.metallib"]);
  dispatch_data_t data = dispatch_data_create("MTLBjunk", 8, NULL, DISPATCH_DATA_DESTRUCTOR_DEFAULT);
  library = [device newLibraryWithData:data error:&error];
  CHECK(library == nil && error != nil);
#if !__has_feature(objc_arc)
  dispatch_release(data);
#endif
  MTLCompileOptions *options = [MTLCompileOptions new];
  options.languageVersion = 9 << 16;
  library = [device newLibraryWithSource:kSource options:options error:&error];
  CHECK(library == nil && [error.localizedDescription containsString:@"languageVersion: 9.0"]);
  RELEASE(options);

  // Completion handlers get what the other forms return.
  dispatch_semaphore_t done = dispatch_semaphore_create(0);
  __block int seen = 0;
  [device newLibraryWithSource:@"kernel void k() { nonsense; }"
                       options:nil
             completionHandler:^(id<MTLLibrary> l, NSError *e) {
               seen = l == nil && e.code == MTLLibraryErrorCompileFailure;
               dispatch_semaphore_signal(done);
             }];
  dispatch_semaphore_wait(done, DISPATCH_TIME_FOREVER);
  CHECK(seen == 1);
#if !__has_feature(objc_arc)
  dispatch_release(done);
#endif
}

int main(void) {
  @autoreleasepool {
    id<MTLDevice> device = MTLCreateSystemDefaultDevice();
    CHECK(device && [device conformsToProtocol:@protocol(MTLDevice)]);
    CHECK([device supportsFamily:MTLGPUFamilyMetal3]);
    CHECK([MTLRenderPipelineDescriptor new] == nil);
    argumentBuffers(device);
    errors(device);
    compute(device);
    RELEASE(device);
  }
  printf(failures ? "%d checks failed\n" : "all checks passed\n", failures);
  return failures != 0;
}
