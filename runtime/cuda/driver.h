// NVIDIA's driver, found at run time: no header of theirs, no library to link. One row an entry point; signatures as in
// the driver's 12.0 interface, with `void*` for its handles and for addresses of the device's memory.
#pragma once

#include "runtime/errors.h"

#define CAMEO_CUDA_ENTRIES(ENTRY)                                                                                   \
  ENTRY(cuInit, uint32_t flags)                                                                                     \
  ENTRY(cuDriverGetVersion, int32_t* version)                                                                       \
  ENTRY(cuGetErrorString, int32_t result, const char** text)                                                        \
  ENTRY(cuDeviceGetCount, int32_t* count)                                                                           \
  ENTRY(cuDeviceGet, int32_t* device, int32_t ordinal)                                                              \
  ENTRY(cuDeviceGetName, char* name, int32_t bytes, int32_t device)                                                 \
  ENTRY(cuDeviceGetAttribute, int32_t* value, int32_t attribute, int32_t device)                                    \
  ENTRY(cuDevicePrimaryCtxRetain, void** context, int32_t device)                                                   \
  ENTRY(cuDevicePrimaryCtxRelease, int32_t device)                                                                  \
  ENTRY(cuCtxPushCurrent, void* context)                                                                            \
  ENTRY(cuCtxPopCurrent, void** context)                                                                            \
  ENTRY(cuModuleLoadDataEx, void** module, const void* code, uint32_t options, const int32_t* names, void** values) \
  ENTRY(cuModuleUnload, void* module)                                                                               \
  ENTRY(cuModuleGetFunction, void** function, void* module, const char* name)                                       \
  ENTRY(cuMemGetInfo, size_t* free, size_t* total)                                                                  \
  ENTRY(cuMemAlloc, void** memory, size_t bytes)                                                                    \
  ENTRY(cuMemFree, void* memory)                                                                                    \
  ENTRY(cuMemHostAlloc, void** memory, size_t bytes, uint32_t flags)                                                \
  ENTRY(cuMemFreeHost, void* memory)                                                                                \
  ENTRY(cuMemcpyHtoD, void* to, const void* from, size_t bytes)                                                     \
  ENTRY(cuMemcpyHtoDAsync, void* to, const void* from, size_t bytes, void* stream)                                  \
  ENTRY(cuMemcpyDtoHAsync, void* to, const void* from, size_t bytes, void* stream)                                  \
  ENTRY(cuMemcpyAsync, void* to, const void* from, size_t bytes, void* stream)                                      \
  ENTRY(cuMemsetD8Async, void* to, uint8_t value, size_t count, void* stream)                                       \
  ENTRY(cuMemsetD32Async, void* to, uint32_t value, size_t count, void* stream)                                     \
  ENTRY(cuStreamCreate, void** stream, uint32_t flags)                                                              \
  ENTRY(cuStreamSynchronize, void* stream)                                                                          \
  ENTRY(cuStreamDestroy, void* stream)                                                                              \
  ENTRY(cuEventCreate, void** event, uint32_t flags)                                                                \
  ENTRY(cuEventRecord, void* event, void* stream)                                                                   \
  ENTRY(cuEventSynchronize, void* event)                                                                            \
  ENTRY(cuEventElapsedTime, float* milliseconds, void* begun, void* ended)                                          \
  ENTRY(cuEventDestroy, void* event)                                                                                \
  ENTRY(cuLaunchKernel, void* function, uint32_t grid_x, uint32_t grid_y, uint32_t grid_z, uint32_t block_x,        \
        uint32_t block_y, uint32_t block_z, uint32_t shared_bytes, void* stream, void** parameters, void** extra)   \
  ENTRY(cuGraphCreate, void** graph, uint32_t flags)                                                                \
  ENTRY(cuGraphAddKernelNode, void** node, void* graph, void* const* after, size_t count, const KernelNode* kernel) \
  ENTRY(cuGraphAddMemcpyNode, void** node, void* graph, void* const* after, size_t count, const CopyNode* copy,     \
        void* context)                                                                                              \
  ENTRY(cuGraphInstantiateWithFlags, void** executable, void* graph, uint64_t flags)                                \
  ENTRY(cuGraphUpload, void* executable, void* stream)                                                              \
  ENTRY(cuGraphExecKernelNodeSetParams, void* executable, void* node, const KernelNode* kernel)                     \
  ENTRY(cuGraphExecMemcpyNodeSetParams, void* executable, void* node, const CopyNode* copy, void* context)          \
  ENTRY(cuGraphNodeSetEnabled, void* executable, void* node, uint32_t enabled)                                      \
  ENTRY(cuGraphLaunch, void* executable, void* stream)                                                              \
  ENTRY(cuGraphExecDestroy, void* executable)                                                                       \
  ENTRY(cuGraphDestroy, void* graph)

namespace rt::cuda {

struct KernelNode {  // CUDA_KERNEL_NODE_PARAMS_v2
  void* function;
  uint32_t grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes;
  void** parameters;
  void** extra;
  void *kernel, *context;  // instead of `function`
};

struct CopyNode {  // CUDA_MEMCPY3D_v2
  struct Side {
    size_t x, y, z, level;
    int32_t memory_type;
    const void *host, *device;
    void *array, *reserved;
    size_t pitch, height;
  };
  Side from, to;
  size_t width, height, depth;
};

inline constexpr int32_t kNeededDriver = 12000;
inline constexpr char kLibraryName[] = "libcuda.so.1";

enum : int32_t {  // CUresult
  kSuccess = 0,
  kOutOfMemory = 2,
  kStubLibrary = 34,
  kDeviceUnavailable = 46,  // another process has it for itself
  kNoDevice = 100,
  kInvalidDevice = 101,
  kInvalidImage = 200,  // as drivers say of code of a newer toolkit
  kNoBinary = 209,
  kInvalidPtx = 218,
  kNoPtxCompiler = 221,  // a library beside the driver's
  kUnsupportedPtx = 222,
  kPtxCompilerDisabled = 223,
  kNotReady = 802,
  kSystemMismatch = 803,
  kNotOnThisDevice = 804,
};
enum : int32_t { kComputeMajor = 75, kComputeMinor = 76 };       // CUdevice_attribute
enum : int32_t { kErrorLog = 5, kErrorLogBytes = 6 };            // CUjit_option
inline constexpr int32_t kDeviceMemory = 2;                      // CUmemorytype
inline constexpr uint64_t kParameters = 1, kParameterBytes = 2;  // CU_LAUNCH_PARAM_BUFFER_*

template <class... P>
struct Entry {
  const char* name;
  int32_t (*call)(P...);
};
template <class... P>
Entry<P...> entry_like(int32_t (*)(P...));

struct Driver {
#define CAMEO_ENTRY(name, ...) \
  decltype(entry_like(static_cast<int32_t (*)(__VA_ARGS__)>(nullptr))) name = {#name, nullptr};
  CAMEO_CUDA_ENTRIES(CAMEO_ENTRY)
#undef CAMEO_ENTRY
};

cameo_status load_driver(Driver* driver, cameo_error* error);
// What a call answered, as a status and a sentence.
cameo_status failed_call(const Driver& driver, const char* call, int32_t result, cameo_error* error);

// Calls one after the other until the first one fails.
class Calls {
 public:
  Calls(const Driver& driver, cameo_error* error) : driver_(driver), error_(error) {}
  template <class... P, class... A>
  bool operator()(const Entry<P...>& entry, A... arguments) {
    if (status_) return false;
    if (const int32_t result = entry.call(arguments...)) status_ = failed_call(driver_, entry.name, result, error_);
    return !status_;
  }
  cameo_status status() const { return status_; }

 private:
  const Driver& driver_;
  cameo_error* error_;
  cameo_status status_ = CAMEO_OK;
};

}  // namespace rt::cuda
