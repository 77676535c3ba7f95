// Where a toolkit is installed: what driver.h says of the driver's interface agrees with the vendor's header. Nothing
// of the toolkit is linked.
#include <gtest/gtest.h>

#include <type_traits>

#include "runtime/cuda/driver.h"

#if __has_include(<cuda.h>)
#include <cuda.h>

namespace {

using namespace rt::cuda;

// Handles and addresses of the device are `void*` here, and enumerations and flags are integers of their size.
template <class A, class B>
constexpr bool kAlike = sizeof(A) == sizeof(B) && std::is_floating_point_v<A> == std::is_floating_point_v<B>;
template <class A, class B>
constexpr bool kSameCall = false;
template <class R, class... A, class S, class... B>
constexpr bool kSameCall<R (*)(A...), S (*)(B...)> = [] {
  if constexpr (sizeof...(A) != sizeof...(B))
    return false;
  else
    return (kAlike<A, B> && ... && (sizeof(R) == sizeof(S)));
}();

#define CAMEO_SAME(entry, ...) \
  static_assert(kSameCall<decltype(&entry), int32_t (*)(__VA_ARGS__)>, "the header declares it otherwise");
CAMEO_CUDA_ENTRIES(CAMEO_SAME)
#undef CAMEO_SAME

#define CAMEO_SAME_FIELD(ours, field, theirs, their_field)               \
  static_assert(offsetof(ours, field) == offsetof(theirs, their_field)); \
  static_assert(sizeof(ours{}.field) == sizeof(theirs{}.their_field))
static_assert(sizeof(KernelNode) == sizeof(CUDA_KERNEL_NODE_PARAMS_v2));
CAMEO_SAME_FIELD(KernelNode, function, CUDA_KERNEL_NODE_PARAMS_v2, func);
CAMEO_SAME_FIELD(KernelNode, grid_x, CUDA_KERNEL_NODE_PARAMS_v2, gridDimX);
CAMEO_SAME_FIELD(KernelNode, grid_z, CUDA_KERNEL_NODE_PARAMS_v2, gridDimZ);
CAMEO_SAME_FIELD(KernelNode, block_x, CUDA_KERNEL_NODE_PARAMS_v2, blockDimX);
CAMEO_SAME_FIELD(KernelNode, block_z, CUDA_KERNEL_NODE_PARAMS_v2, blockDimZ);
CAMEO_SAME_FIELD(KernelNode, shared_bytes, CUDA_KERNEL_NODE_PARAMS_v2, sharedMemBytes);
CAMEO_SAME_FIELD(KernelNode, parameters, CUDA_KERNEL_NODE_PARAMS_v2, kernelParams);
CAMEO_SAME_FIELD(KernelNode, extra, CUDA_KERNEL_NODE_PARAMS_v2, extra);
CAMEO_SAME_FIELD(KernelNode, kernel, CUDA_KERNEL_NODE_PARAMS_v2, kern);
CAMEO_SAME_FIELD(KernelNode, context, CUDA_KERNEL_NODE_PARAMS_v2, ctx);
static_assert(sizeof(CopyNode) == sizeof(CUDA_MEMCPY3D_v2));
CAMEO_SAME_FIELD(CopyNode, from.x, CUDA_MEMCPY3D_v2, srcXInBytes);
CAMEO_SAME_FIELD(CopyNode, from.level, CUDA_MEMCPY3D_v2, srcLOD);
CAMEO_SAME_FIELD(CopyNode, from.memory_type, CUDA_MEMCPY3D_v2, srcMemoryType);
CAMEO_SAME_FIELD(CopyNode, from.host, CUDA_MEMCPY3D_v2, srcHost);
CAMEO_SAME_FIELD(CopyNode, from.device, CUDA_MEMCPY3D_v2, srcDevice);
CAMEO_SAME_FIELD(CopyNode, from.array, CUDA_MEMCPY3D_v2, srcArray);
CAMEO_SAME_FIELD(CopyNode, from.pitch, CUDA_MEMCPY3D_v2, srcPitch);
CAMEO_SAME_FIELD(CopyNode, from.height, CUDA_MEMCPY3D_v2, srcHeight);
CAMEO_SAME_FIELD(CopyNode, to.x, CUDA_MEMCPY3D_v2, dstXInBytes);
CAMEO_SAME_FIELD(CopyNode, to.memory_type, CUDA_MEMCPY3D_v2, dstMemoryType);
CAMEO_SAME_FIELD(CopyNode, to.device, CUDA_MEMCPY3D_v2, dstDevice);
CAMEO_SAME_FIELD(CopyNode, to.height, CUDA_MEMCPY3D_v2, dstHeight);
CAMEO_SAME_FIELD(CopyNode, width, CUDA_MEMCPY3D_v2, WidthInBytes);
CAMEO_SAME_FIELD(CopyNode, height, CUDA_MEMCPY3D_v2, Height);
CAMEO_SAME_FIELD(CopyNode, depth, CUDA_MEMCPY3D_v2, Depth);

TEST(VendorHeader, NumbersAgree) {
  EXPECT_EQ(int{kSuccess}, CUDA_SUCCESS);
  EXPECT_EQ(int{kOutOfMemory}, CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(int{kStubLibrary}, CUDA_ERROR_STUB_LIBRARY);
  EXPECT_EQ(int{kDeviceUnavailable}, CUDA_ERROR_DEVICE_UNAVAILABLE);
  EXPECT_EQ(int{kNoDevice}, CUDA_ERROR_NO_DEVICE);
  EXPECT_EQ(int{kInvalidDevice}, CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(int{kInvalidImage}, CUDA_ERROR_INVALID_IMAGE);
  EXPECT_EQ(int{kNoBinary}, CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_EQ(int{kInvalidPtx}, CUDA_ERROR_INVALID_PTX);
  EXPECT_EQ(int{kNoPtxCompiler}, CUDA_ERROR_JIT_COMPILER_NOT_FOUND);
  EXPECT_EQ(int{kPtxCompilerDisabled}, CUDA_ERROR_JIT_COMPILATION_DISABLED);
  EXPECT_EQ(int{kNotReady}, CUDA_ERROR_SYSTEM_NOT_READY);
  EXPECT_EQ(int{kUnsupportedPtx}, CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
  EXPECT_EQ(int{kSystemMismatch}, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH);
  EXPECT_EQ(int{kNotOnThisDevice}, CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE);
  EXPECT_EQ(int{kComputeMajor}, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  EXPECT_EQ(int{kComputeMinor}, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  EXPECT_EQ(int{kErrorLog}, CU_JIT_ERROR_LOG_BUFFER);
  EXPECT_EQ(int{kErrorLogBytes}, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
  EXPECT_EQ(int{kDeviceMemory}, CU_MEMORYTYPE_DEVICE);
  EXPECT_EQ(reinterpret_cast<void*>(kParameters), CU_LAUNCH_PARAM_BUFFER_POINTER);
  EXPECT_EQ(reinterpret_cast<void*>(kParameterBytes), CU_LAUNCH_PARAM_BUFFER_SIZE);
}

}  // namespace
#else
TEST(VendorHeader, NumbersAgree) { GTEST_SKIP() << "no CUDA toolkit is installed"; }
#endif
