// A libFuzzer target over the importer: any bytes are a graph, or diagnostics.
#include <cstdint>
#include <cstdlib>
#include <span>

#include "frontend/import_onnx.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  cameo::Diagnostics diagnostics;
  cameo::import_onnx_bytes(std::as_bytes(std::span(data, size)), "/nonexistent", {}, diagnostics);
  return 0;
}
