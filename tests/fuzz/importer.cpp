// A libFuzzer target over the importer. Half of the mutations are libFuzzer's own, of bytes; the others change a model
// as a message (mutate_model.h), so that what comes out still is one. Whatever the model, import must return, with
// diagnostics or without.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include "frontend/import/import_onnx.h"
#include "tests/fuzz/mutate_model.h"

using namespace cameo;

namespace {

Model import(std::span<const std::byte> bytes, const ImportOptions& options) {
  Diagnostics diagnostics;
  Model model = import_onnx_bytes(bytes, "/nonexistent", options, diagnostics);
  for (const Diagnostic& d : diagnostics.all())
    for (const char c : to_string(d))
      if (static_cast<unsigned char>(c) < 32 && c != '\n') std::abort();  // what a model says never reaches a terminal
  return model;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span bytes = std::as_bytes(std::span(data, size));
  ImportOptions options;
  options.lenient = size % 2;
  const Model model = import(bytes, options);
  for (const UnboundDim& d : model.unbound) options.dims[d.dim] = static_cast<int64_t>(size % 3);
  if (!options.dims.empty()) import(bytes, options);
  try {
    (void)tensor_from_pb(bytes);
  } catch (const CompileError&) {}
  const Type sequence = Type::list(Kind::Sequence, Type(DType::f32, {})),
             map = Type::list(Kind::Map, Type(DType::f32, {any_extent()}), DType::i64);
  for (const Type& type : {sequence, map, Type::list(Kind::Optional, sequence)}) try {
      (void)value_from_pb(bytes, type);
    } catch (const CompileError&) {}
  return 0;
}

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t most);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  if (seed % 4 == 0) return LLVMFuzzerMutate(data, size, most);
  const std::string mutated = fuzz::mutated_model({reinterpret_cast<const char*>(data), size}, seed, most);
  if (mutated.empty()) return LLVMFuzzerMutate(data, size, most);
  std::ranges::copy(mutated, data);
  return mutated.size();
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t* a, size_t a_size, const uint8_t* b, size_t b_size,
                                            uint8_t* out, size_t most, unsigned seed) {
  const std::string joined = fuzz::joined_models({reinterpret_cast<const char*>(a), a_size},
                                                 {reinterpret_cast<const char*>(b), b_size}, seed, most);
  std::ranges::copy(joined, out);
  return joined.size();
}
