// The output grammar: [NAME=]SPEC, with SPEC one of @y.npy, @out.npz, @y.pb, @mask.png, raw:FILE, -, stats,
// topN[:labels].
#pragma once

#include "runtime/program/input.h"

namespace rt::program {

struct Statistics {
  double low = 0, high = 0, mean = 0;  // of the finite values
  int64_t nans = 0, infinities = 0;
};
Statistics statistics_of(const Array& array);

bool check_output(Tool& tool, Slice argument,
                  bool has_document);  // before a run, so that a typing error does not cost one
bool emit_output(Tool& tool, Slice argument, const Values& outputs);

void print_summary(Tool& tool, const Array& array);  // type, range, first values
void print_json(Tool& tool, const Array& array);
void print_element(Text* to, const Array& array, int64_t index);

}  // namespace rt::program
