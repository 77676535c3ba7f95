// The artifact's flags: one row each, with the verbs that take it.
#pragma once

#include "runtime/program/tool.h"

namespace rt::program {

enum class Verb { None, Run, Test, Bench, Profile, Inspect, Licenses, Help };

struct Flags {
  Verb verb = Verb::None;
  bool help = false, json = false, verify = false;
  int32_t threads = 0;
  cameo_device device = {CAMEO_AUTO, 0};
  int64_t runs = 0, warmup = -1, steps = 1, contexts = 1;
  double seconds = 1, tolerance = -1;
  Slice taps, weights;
  Slice* inputs = nullptr;  // -i
  size_t input_count = 0;
  Slice* dims = nullptr;  // --dim
  size_t dim_count = 0;
  Slice* outputs = nullptr;  // -o
  size_t output_count = 0;
  Slice* states = nullptr;  // --state
  size_t state_count = 0;
  Slice* paths = nullptr;  // what is no flag
  size_t path_count = 0;
};

bool parse_flags(Tool& tool, int argc, char** argv, Flags* flags);
void print_flags(Tool& tool, Verb verb);
const char* verb_name(Verb verb);

}  // namespace rt::program
