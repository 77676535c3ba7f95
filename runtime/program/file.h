// Files and folders. Written files appear whole or not at all.
#pragma once

#include "runtime/program/tool.h"

namespace rt::program {

const char* last_error();
bool write_all(int file, Slice bytes);
// All of it, followed by a zero byte. What has no size, as a pipe or a device, is read as far as kMostUnsized.
inline constexpr uint64_t kMostUnsized = 32 << 20;
bool read_file(Tool& tool, Slice path, Slice* bytes);
inline constexpr uint64_t kAll = ~uint64_t{0};
// At most `most` bytes of it, or kAll of them; `size` is the file's, or as many as were read where it has none.
bool read_start(Tool& tool, Slice path, uint64_t most, Slice* bytes, uint64_t* size);
// Through links; what is no regular file, as a pipe or a device, stays what it is.
bool write_file(Tool& tool, Slice path, Slice bytes);
bool exists(Tool& tool, Slice path);
bool is_folder(Tool& tool, Slice path);

struct Names {
  Slice* items;
  size_t count;
};
bool list_folder(Tool& tool, Slice path, Names* names);  // natural order, without those that begin with a dot
Slice join_path(Tool& tool, Slice folder, Slice name);

}  // namespace rt::program
