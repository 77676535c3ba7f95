// The words of `.case` lines, and tensors written as text: `f32[2x3] = rand:7` (the grammar stands in
// tests/ops/README.md). What is not understood throws std::runtime_error.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/ir/graph.h"

namespace cameo::test {

std::string trim(std::string_view s);
std::string without_comment(const std::string& line);
std::string take_word(std::string& s);  // the first word, taken off the front
/// Words between spaces, commas and square brackets; a quoted word keeps its inside.
std::vector<std::string> split_values(const std::string& s);
int64_t to_int(const std::string& s);
double to_float(const std::string& s);

struct TensorType {
  DType dtype;
  std::vector<int64_t> dims;
};
std::optional<TensorType> parse_type(const std::string& s);  // null when it is none
Tensor parse_values(const TensorType& type, const std::string& text);
Tensor parse_tensor(const std::string& text);

struct TypedValue {
  Type type;
  Tensor value;
};
/// A tensor, or a list of such values: `seq{f32[2] = 1 2; f32[3] = 3 4 5}`, `opt{..}`, `map{KEYS; VALUES}`. A type
/// without values, `f32` or `f32[?x2]`, says what a list is of that has no elements.
TypedValue parse_value(const std::string& text);
/// The type of a list's elements, `f32`, `f32[?x2]`; nothing where there is more than that.
std::optional<Type> parse_element_type(const std::string& text);

}  // namespace cameo::test
