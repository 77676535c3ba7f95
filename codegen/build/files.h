// Files that leave nothing behind: scratch files have no name and go with the process, and an output file appears under
// its name complete or not at all (written unnamed in the same folder, then linked and renamed), so that a crash, a
// full disk or Ctrl-C cannot leave half of one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/build/outcome.h"

namespace cameo {

class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int number) : number_(number) {}
  FileDescriptor(FileDescriptor&& other) noexcept : number_(other.release()) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  ~FileDescriptor() { reset(); }

  int get() const { return number_; }
  bool valid() const { return number_ >= 0; }
  int release();
  void reset();

 private:
  int number_ = -1;
};

// Writes all of `bytes` at the descriptor's position.
Status write_all(int descriptor, std::span<const std::byte> bytes, std::string_view what);
// The whole content of an open file, whatever its position.
std::string read_all(int descriptor);
std::span<const std::byte> as_bytes(std::string_view text);

// What a file is called beside its place until it is complete: of a name that is too long for more, its beginning and a
// hash.
std::string hidden_name(const std::string& name);

// An unnamed file that other processes open by `path()`, in memory or in the folder of the output.
class ScratchFile {
 public:
  static ScratchFile in_memory();
  // On the disk where `output` will be; in memory where that file system has no unnamed files.
  static ScratchFile beside(const std::string& output);

  Status write(std::span<const std::byte> bytes) { return write_all(descriptor_.get(), bytes, "a scratch file"); }
  int descriptor() const { return descriptor_.get(); }
  std::string path() const;  // valid in every process of this user while the object lives
  FileDescriptor take() { return std::move(descriptor_); }

 private:
  FileDescriptor descriptor_;
};

class OutputFile {
 public:
  // Checks at once that the file can be made, before minutes are spent on its content.
  static OutputFile create(const std::string& path, bool executable, Status& status);
  OutputFile() = default;
  OutputFile(OutputFile&&) = default;
  OutputFile& operator=(OutputFile&&) = default;
  ~OutputFile();

  int descriptor() const { return descriptor_.get(); }
  std::string scratch_path() const;  // where another process writes the content
  Status write(std::span<const std::byte> bytes) { return write_all(descriptor_.get(), bytes, path_); }
  Status commit();  // the file appears

 private:
  Status copy_into_existing();

  FileDescriptor descriptor_;
  std::string path_;
  std::string temporary_;  // the name it has until `commit`, where it could not be made without one
  bool in_place_ = false;  // a pipe or device: the bytes go into it
};

// The whole file at once.
Status write_file(const std::string& path, const std::vector<std::span<const std::byte>>& pieces);

}  // namespace cameo
