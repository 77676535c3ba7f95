// Files and folders. Written files appear whole or not at all.
#pragma once

#include "runtime/program/tool.h"

namespace rt::program {

const char* last_error();
bool write_all(int file, Slice bytes);
bool read_file(Tool& tool, Slice path, Slice* bytes);  // followed by a zero byte
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
