// A driver without a GPU: libcuda.so.1 whose one device runs x86-64 libraries over fibers. What a test may ask of it
// and make it do; a process sets the same through CAMEO_MOCK_* before it starts. It proves nothing of speed.
#pragma once
#include <cstddef>
#include <cstdint>

namespace cameo::test {

struct Mock {
  char fail[64] = "";       // CAMEO_MOCK_FAIL: the entry point that fails, or * for any; NAME:N for its Nth call
  int32_t fail_at = 1;      // counted down
  int32_t version = 12080;  // CAMEO_MOCK_VERSION
  int32_t devices = 1;      // CAMEO_MOCK_DEVICES
  int32_t capability = 89;  // CAMEO_MOCK_CAPABILITY
  char name[64] = "cameo emulator";  // CAMEO_MOCK_NAME
  size_t memory = size_t{4} << 30;   // CAMEO_MOCK_MEMORY: of the device, in bytes
                                     // CAMEO_MOCK_SEED: of the order in which threads run (tests/support/fibers.h)
  size_t used = 0;
  int32_t live = 0;  // allocations, streams, events, modules, graphs, retained contexts
  int32_t calls = 0, launches = 0, copies = 0, graph_launches = 0;
};

/// Of the library at build/mock/libcuda.so.1, which it loads, so that whoever then loads `libcuda.so.1` gets it.
Mock& load_mock();
/// An entry point as the driver hands it out.
void* mock_entry(const char* name);

}  // namespace cameo::test
