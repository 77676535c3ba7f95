// Sizes that only a run knows, as one call of the program says them: by flags, by files, one after the other. The
// tool's program has inputs and outputs of its own, whose dims are -1 until they are known.
#pragma once

#include "runtime/program/array.h"
#include "runtime/program/flags.h"

namespace rt::program {

void own_dims(Tool& tool, Program* program);  // which is the tool's from then on
void forget_sizes(Tool& tool);
void set_symbols(Tool& tool, const int64_t* symbols);
void set_output_dims(Tool& tool, const int64_t* dims);  // of all outputs, one behind the other
bool set_dim_flags(Tool& tool, const Flags& flags);
// What a value of `io` has, which fits it where dims are numbers.
bool take_dims(Tool& tool, const Io& io, const Array& array, Slice what);
void force_dims(Tool& tool, const Io& io, const Array& array);  // whatever has been said
void settle_sizes(Tool& tool);                                  // what nothing has said is the least; stderr says so

bool is_known(const Io& io);
bool infer_dim(Array* array, int64_t elements);     // the one that is unknown; false where there is none that fits
bool is_of_dims(const Symbol& symbol);              // not an element of a value
void print_sizes(const Tool& tool, Text* to);       // batch=2, n=3, of dims alone, with a comma behind each
void print_sizes_json(const Tool& tool, Text* to);  // ,"sizes":{"batch":2,"n":3}, or nothing

}  // namespace rt::program
