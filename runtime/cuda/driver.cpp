// Opens the driver's library and asks it for each entry point by name and version.
#include "runtime/cuda/driver.h"

#include "runtime/libc.h"

namespace rt::cuda {
namespace {

using Find = int32_t (*)(const char* name, void** entry, int32_t version, uint64_t flags, int32_t* found);

cameo_status too_old(int32_t version, cameo_error* error) {
  return fail(error, CAMEO_UNAVAILABLE, -1, -1,
              "NVIDIA's driver supports CUDA %d.%d and this library needs %d.%d; install a newer driver",
              version / 1000, version % 1000 / 10, kNeededDriver / 1000, kNeededDriver % 1000 / 10);
}

template <class... P>
bool look_up(Find find, Entry<P...>& entry) {
  void* address = nullptr;
  int32_t found = 0;
  if (find(entry.name, &address, kNeededDriver, 0, &found) || !address) return false;
  entry.call = reinterpret_cast<int32_t (*)(P...)>(address);
  return true;
}

cameo_status look_up_all(Find find, Driver* driver, cameo_error* error) {
#define CAMEO_ENTRY(name, ...)      \
  if (!look_up(find, driver->name)) \
    return fail(error, CAMEO_UNAVAILABLE, -1, -1, "NVIDIA's driver has no `%s`; install a newer driver", #name);
  CAMEO_CUDA_ENTRIES(CAMEO_ENTRY)
#undef CAMEO_ENTRY
  return CAMEO_OK;
}

cameo_status status_of(int32_t result) {
  switch (result) {
    case kOutOfMemory: return CAMEO_OUT_OF_MEMORY;
    case kStubLibrary:
    case kDeviceUnavailable:
    case kNoDevice:
    case kInvalidDevice:
    case kInvalidImage:
    case kNoBinary:
    case kInvalidPtx:
    case kNoPtxCompiler:
    case kUnsupportedPtx:
    case kPtxCompilerDisabled:
    case kNotReady:
    case kSystemMismatch:
    case kNotOnThisDevice: return CAMEO_UNAVAILABLE;
    default: return CAMEO_INTERNAL;
  }
}

}  // namespace

// It stays in the process: it has threads of its own, which `dlclose` would leave without code.
cameo_status load_driver(Driver* driver, cameo_error* error) {
  void* library = libc::dlopen(kLibraryName, libc::kBindNow | libc::kNeverUnload);
  if (!library)
    return fail(error, CAMEO_UNAVAILABLE, -1, -1,
                "there is no NVIDIA driver (`%s` cannot be loaded); running on a GPU needs one for CUDA %d.%d or newer",
                kLibraryName, kNeededDriver / 1000, kNeededDriver % 1000 / 10);
  auto get_version = reinterpret_cast<int32_t (*)(int32_t*)>(libc::dlsym(library, "cuDriverGetVersion"));
  auto find = reinterpret_cast<Find>(libc::dlsym(library, "cuGetProcAddress_v2"));
  int32_t version = 0;
  const int32_t result = get_version ? get_version(&version) : kSuccess;
  if (!result && (version < kNeededDriver || !find)) return too_old(version, error);
  cameo_status status = look_up_all(find, driver, error);
  Calls calls(*driver, error);
  if (!status && result) return failed_call(*driver, "cuDriverGetVersion", result, error);
  if (!status) calls(driver->cuInit, 0u);
  return status ? status : calls.status();
}

cameo_status failed_call(const Driver& driver, const char* call, int32_t result, cameo_error* error) {
  const char* text = nullptr;
  if (driver.cuGetErrorString.call(result, &text) || !text) text = "unknown error";
  return fail(error, status_of(result), -1, -1, "NVIDIA's driver failed: %s: %s (%d)", call, text, result);
}

}  // namespace rt::cuda
