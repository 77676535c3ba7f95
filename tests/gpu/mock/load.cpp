// See mock.h. A library is known by the name that it bears: who asks for `libcuda.so.1` after this gets the mock.
#include <dlfcn.h>

#include <stdexcept>

#include "tests/gpu/mock/mock.h"

namespace cameo::test {
namespace {

void* library() {
  static void* const handle = dlopen(CAMEO_MOCK_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (!handle) throw std::runtime_error(dlerror());
  return handle;
}

}  // namespace

Mock& load_mock() { return *reinterpret_cast<Mock* (*)()>(dlsym(library(), "cameo_mock"))(); }

void* mock_entry(const char* name) {
  void* entry = nullptr;
  auto get = reinterpret_cast<int32_t (*)(const char*, void**, int32_t, uint64_t, int32_t*)>(
      dlsym(library(), "cuGetProcAddress_v2"));
  get(name, &entry, 12000, 0, nullptr);
  return entry;
}

}  // namespace cameo::test
