// A libFuzzer target over all that an artifact reads: --format=npy, npz, pb, png, raw or text says which reader the
// bytes go to, by the road that `run -i` takes. libFuzzer's own flags bound time and memory.
#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "runtime/program/data_set.h"
#include "runtime/program/dims.h"
#include "runtime/program/output.h"
#include "runtime/program/verbs.h"

namespace {

using rt::program::Slice;

constexpr int64_t kImage[] = {1, 3, 8, 8}, kColumn[] = {2, 1}, kThree[] = {3}, kTwo[] = {2}, kNone[] = {0, 5};
constexpr rt::Io io(const char* name, uint32_t dtype, int32_t rank, const int64_t* dims) {
  return {name, CAMEO_KIND_TENSOR, dtype, rank, dims, nullptr, nullptr, nullptr, nullptr};
}
// Sizes that only a run knows: two with an upper bound, one without.
constexpr int64_t kRowsDims[] = {-1, 3}, kRowsMin[] = {1, 3}, kRowsMax[] = {4, 3}, kAnyDims[] = {1, 3, -1, -1},
                  kAnyMin[] = {1, 3, 1, 0}, kAnyMax[] = {1, 3, 64, -1};
constexpr int32_t kRowsSizes[] = {0, -1}, kAnySizes[] = {-1, -1, 1, 2};
constexpr rt::Symbol kSymbols[] = {{"b", 1, 4}, {"h", 1, 64}, {"w", 0, -1}};
constexpr rt::Io kInputs[] = {
    io("image", rt::kF32, 4, kImage),
    io("column", rt::kI64, 2, kColumn),
    io("halfs", rt::kF16, 1, kThree),
    io("flags", rt::kBool, 1, kTwo),
    io("bytes", rt::kU8, 4, kImage),
    io("none", rt::kF64, 2, kNone),
    io("scalar", rt::kI32, 0, kTwo),
    {"rows", CAMEO_KIND_TENSOR, rt::kF32, 2, kRowsDims, kRowsMin, kRowsMax, kRowsSizes, nullptr},
    {"any", CAMEO_KIND_TENSOR, rt::kU8, 4, kAnyDims, kAnyMin, kAnyMax, kAnySizes, nullptr}};
constexpr uint32_t kCount = sizeof kInputs / sizeof kInputs[0];

std::string format = "npy";

std::string file_of(const uint8_t* data, size_t size) {
  static const std::string path = "fuzz." + std::to_string(getpid()) + "." + format;
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file < 0 || write(file, data, size) != static_cast<ssize_t>(size)) std::abort();
  close(file);
  return path;
}

void read_input(const std::string& argument) {
  rt::program::Tool tool;
  rt::Program program = {.name = "fuzz", .manifest = "{}", .manifest_bytes = 2, .inputs = kInputs};
  program.input_count = kCount;
  program.symbols = kSymbols;
  program.symbol_count = program.size_count = 3;
  program.sizing = &rt::sizing;
  own_dims(tool, &program);
  rt::program::Values inputs = rt::program::new_values(tool, kCount);
  const bool ok = rt::program::add_input(tool, Slice(argument.data(), argument.size()), &inputs);
  if (ok != (tool.code == 0)) std::abort();
  if (!ok && tool.code != rt::program::kBadData && tool.code != rt::program::kUsage) std::abort();
  for (const char* c = tool.message; *c; ++c)
    if (static_cast<unsigned char>(*c) < 32) std::abort();
  for (int32_t i = 0; i < inputs.count; ++i)
    if (inputs.items[i].data) print_summary(tool, inputs.items[i]), print_json(tool, inputs.items[i]);
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  for (int i = 1; i < *argc; ++i)
    if (Slice((*argv)[i]).starts_with("--format=")) format = (*argv)[i] + 9;
  std::atexit([] { unlink(("fuzz." + std::to_string(getpid()) + "." + format).c_str()); });
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (format == "text") {
    const std::string text(reinterpret_cast<const char*>(data), size);
    if (text.find('@') == text.npos && text.find("raw:") == text.npos)
      read_input(text);  // files are the others' matter
    return 0;
  }
  const std::string path = file_of(data, size);
  for (const rt::Io& input : kInputs) read_input(std::string(input.name) + (format == "raw" ? "=raw:" : "=@") + path);
  if (format == "npz") read_input("@" + path);
  if (format == "png") read_input("image=@" + path + ",resize=8"), read_input("bytes=@" + path + ",crop=8,order=bgr");
  if (format == "png") read_input("any=@" + path + ",resize=9x7");
  return 0;
}
