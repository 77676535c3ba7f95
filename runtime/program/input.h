// The input grammar: NAME=SPEC, or a file that names inputs itself. NAME may be an index; names may hold `:` and `=`.
#pragma once

#include "runtime/program/array.h"
#include "runtime/program/flags.h"

namespace rt::program {

struct Values {  // one for each input, or each output that is expected; `data` is null where none was given
  Array* items = nullptr;
  int32_t count = 0;
};

// Finds the input or output that `argument` begins with. index -1: it names none, and `spec` is all of it.
bool split_name(Tool& tool, Slice argument, const Io* ios, uint32_t count, const char* what, int32_t* index,
                Slice* spec);

struct State {
  int32_t output, input;
};
struct States {
  State* items = nullptr;
  size_t count = 0;
  bool has(int32_t input) const;
};
bool parse_states(Tool& tool, const Flags& flags, States* states);

bool add_inputs(Tool& tool, const Flags& flags, Values* inputs);
// For the next step, behind one that gave `outputs`: states are the context's, and values without dims of their own
// have those of this step.
bool step_inputs(Tool& tool, const Flags& flags, const States& states, const Values& outputs, Values* inputs);
bool add_input(Tool& tool, Slice argument, Values* inputs);
bool set_input(Tool& tool, int32_t index, Slice spec, Values* inputs);
bool require_inputs(Tool& tool, const Values& inputs, const States& states);
bool fill_inputs(Tool& tool, Values* inputs);  // those not given: random floats, zeros else; says so on stderr
bool fits(Tool& tool, const Io& io, const Array& array, Slice what);

// `count` elements or bytes of a value leave more than one size unknown, or none that fits.
bool unknown_dims(Tool& tool, const Io& io, Slice what, int64_t count, const char* of);
bool read_literal(Tool& tool, const Io& io, Slice text, Array* array);
// Of `2x2xf32=[..]` the type, and the text behind it; false: there is none in front of a first `=`.
bool split_type(Slice* text, Array* array);
bool read_image_input(Tool& tool, const Io& io, Slice path, Slice options, Array* array);

// The bytes of a TensorProto, which may be `most` (most_pb_bytes).
bool read_pb_file(Tool& tool, Slice path, uint64_t most, Slice* file);

// A folder with input_N.pb and output_N.pb. `expected` may be null.
bool read_data_set(Tool& tool, Slice folder, Values* inputs, Values* expected);

}  // namespace rt::program
