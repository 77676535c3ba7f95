// ONNX's folders of test data: test_data_set_N/input_N.pb and output_N.pb.
#pragma once

#include "runtime/program/input.h"

namespace rt::program {

struct Folders {
  Slice* items = nullptr;
  size_t count = 0;
};

bool find_data_sets(Tool& tool, Slice folder, Folders* folders);  // itself, or those inside
Values new_values(Tool& tool, uint32_t count);

}  // namespace rt::program
