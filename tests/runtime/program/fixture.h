// A folder for a test's files, a Tool over a hand-written program, and the verbs called in process.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "runtime/abi.h"
#include "runtime/numbers.h"
#include "runtime/program/data_set.h"
#include "runtime/program/dims.h"
#include "runtime/program/image.h"
#include "runtime/program/output.h"
#include "runtime/program/verbs.h"
#include "tests/runtime/programs.h"

namespace programs {

// No steps: inputs of many types, to be read and looked at.
inline const int64_t kPicture[] = {1, 3, 2, 2}, kLast[] = {1, 2, 2, 3}, kThree[] = {3}, kColumn[] = {2, 1},
                     kGray[] = {2, 2};
inline const Io kTypesInputs[] = {tensor("image", rt::kF32, 4, kPicture), tensor("a=b:c", rt::kI64, 2, kColumn),
                                  tensor("halfs", rt::kF16, 1, kThree),   tensor("flags", rt::kBool, 1, kTwo),
                                  tensor("bytes", rt::kU8, 4, kLast),     tensor("a", rt::kF32, 0, nullptr),
                                  tensor("gray", rt::kF32, 2, kGray),     tensor("doubles", rt::kF64, 2, kColumn)};
inline const Row kTypesRows[] = {{.kind = RowKind::End}};
inline constexpr rt::Schedule kTypesSchedule = {.rows = kTypesRows, .row_count = 1, .base_count = 10};
inline const rt::Image kTypesImages[] = {{"baseline", 0, kLoopKernels, &kTypesSchedule}};
inline const rt::StringTable kTypesStrings = {.functions = &rt::string_functions, .files = &rt::program::string_files};
inline const Program kTypes = {.name = "types",
                               .manifest = "{}",
                               .manifest_bytes = 2,
                               .inputs = kTypesInputs,
                               .input_count = 8,
                               .images = kTypesImages,
                               .image_count = 1,
                               .strings = &kTypesStrings,
                               .complex = &rt::program::complex_texts};

}  // namespace programs

namespace rt::program {

inline bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

inline std::string string_of(Slice s) { return {s.data, s.size}; }
inline Slice slice_of(const std::string& s) { return {s.data(), s.size()}; }
template <size_t kCount>
std::string bytes_of(const unsigned char (&bytes)[kCount]) {
  return {reinterpret_cast<const char*>(bytes), kCount};
}

inline std::vector<double> numbers(const Array& array) {
  std::vector<double> values;
  for (int64_t i = 0; i < array.count(); ++i) values.push_back(number_at(array.dtype, array.data, i));
  return values;
}

// Both steps of a reader, without a model's type in between.
inline bool load_npy(Tool& tool, Slice file, Slice what, Array* array) {
  return declare_npy(tool, file, what, array) && read_npy(tool, file, what, array);
}
inline bool load_pb(Tool& tool, Slice file, Slice what, Array* array) {
  return declare_pb(tool, file, what, array) && read_pb(tool, file, what, array);
}
inline bool load_npz(Tool& tool, Slice file, Slice what, Arrays* arrays) {
  NpzEntries entries;
  if (!list_npz(tool, file, what, &entries)) return false;
  *arrays = {tool.arena.array<Array>(entries.count), entries.count};
  for (size_t i = 0; i < entries.count; ++i)
    if (!declare_npz(tool, file, entries.items[i], what, &arrays->items[i]) ||
        !read_npz(tool, file, entries.items[i], what, &arrays->items[i]))
      return false;
  return true;
}
inline bool load_picture(Tool& tool, Slice file, Slice what, int32_t channels, Picture* picture) {
  return declare_picture(tool, file, what, channels, picture) && read_picture(tool, file, what, picture);
}

template <const Program& kProgram>
struct ProgramTest : testing::Test {
  static constexpr cameo_api api = make_api<kProgram>();
  std::filesystem::path folder;
  Program program = kProgram;
  Tool tool;

  ProgramTest() {
    tool.api = &api;
    own_dims(tool, &program);
    tool.name = "./m.so";
    std::string pattern = (std::filesystem::temp_directory_path() / "cameo_XXXXXX").string();
    folder = mkdtemp(pattern.data());
  }
  ~ProgramTest() override { std::filesystem::remove_all(folder); }

  std::string path(const std::string& name) const { return (folder / name).string(); }
  std::string file(const std::string& name, const std::string& content) const {
    std::filesystem::create_directories((folder / name).parent_path());
    std::ofstream(folder / name, std::ios::binary) << content;
    return path(name);
  }
  std::string read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(folder / name, std::ios::binary).rdbuf();
    return text.str();
  }

  struct Result {
    int code;
    std::string out, err;
  };
  Result call(std::vector<std::string> arguments, const char* device = nullptr) const {  // stdout may be a device's
    std::vector<char*> argv;
    arguments.insert(arguments.begin(), "./m.so");
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    if (device) {
      const int file = open(device, O_WRONLY);
      dup2(file, 1);
      close(file);
    }
    const int code = program_main(&api, &kProgram, static_cast<int>(arguments.size()), argv.data());
    return {code, testing::internal::GetCapturedStdout(), testing::internal::GetCapturedStderr()};
  }

  // The input that `argument` gives; on a refusal `tool.message` has the reason.
  Array input(const std::string& argument, int32_t index) {
    Values values = new_values(tool, kProgram.input_count);
    tool.code = 0;
    tool.message = "";
    char* copy = static_cast<char*>(tool.arena.take(argument.size() + 1));
    std::copy(argument.c_str(), argument.c_str() + argument.size() + 1, copy);
    return add_input(tool, copy, &values) ? values.items[index] : Array();
  }
  std::string refusal(const std::string& argument) {
    input(argument, 0);
    return tool.message;
  }
};

}  // namespace rt::program
