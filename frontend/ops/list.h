// What the operators on sequences, optionals and maps share: the types of their elements, what a kernel is told of an
// element, and how one is taken out, whose dims only the run knows.
#pragma once
#include <fmt/format.h>

#include "frontend/ir/build.h"
#include "frontend/ir/limits.h"
#include "frontend/ops/operands.h"

namespace cameo::ops {

/// What a list must hold to hold such values: along axes of which no number is known elements may differ.
inline Type element_type(Type t) {
  for (Dim& d : t.shape)
    if (!d.is_static()) d = any_extent();
  return t;
}

/// The type of a list of both; E0301 where there is none.
inline Type element_of_both(const NodeView& n, const Type& a, const Type& b) {
  const auto common = common_element(a, b);
  if (!common) n.fail(Code::E0301, fmt::format("{} and {} are no elements of one list", to_string(a), to_string(b)));
  return *common;
}

/// The type of its elements; E0301 where the operand is another kind of list.
inline const Type& element_of(const NodeView& n, int input, Kind kind = Kind::Sequence) {
  const Type& t = n.type(input);
  if (t.kind != kind)
    n.fail(Code::E0301,
           fmt::format("input `{}` of `{}` is {}, which the operator does not take",
                       n.node().op->inputs[static_cast<size_t>(input)].name, n.node().op->name, to_string(t)));
  return *t.of;
}
/// The same of tensors, whose rank has to be known.
inline const Type& tensor_of(const NodeView& n, int input) {
  const Type& t = *n.type(input).of;
  if (!t.ranked)
    n.fail(Code::E0404,
           fmt::format("the rank of what `{}` takes out of {} is not known when compiling", n.node().op->name,
                       to_string(n.type(input))),
           "--shape NAME=AxBxC gives the elements of an input one; an extent may be a range, 1..8");
  return t;
}

/// What a kernel is told of an operand that becomes an element: whether it is a list, then its dims.
inline std::vector<Expr> element_numbers(const NodeView& n, int input) {
  std::vector<Expr> numbers{integer(n.type(input).is_list())};
  if (!n.type(input).is_list())
    for (const Dim& d : n.shape(input)) numbers.push_back(d.extent());
  return numbers;
}

/// A kernel that keeps lists: the processor runs it, also of a plan for GPUs.
inline Opaque list_kernel(std::string_view name, std::vector<Expr> numbers = {}) {
  Opaque kernel{name};
  kernel.numbers = std::move(numbers);
  kernel.host_only = true;
  return kernel;
}

/// The dims of the tensor that a list has at a position, a scalar, which a run learns.
inline ValueId learned_dims(Build& b, ValueId list, ValueId position) {
  const ValueId dims = b.graph().add(get_operator("ListDims", "cameo"), {list, position})[0];
  b.graph().decide(dims, Interval{0, most_of_open(static_cast<size_t>(b.type(list).of->rank()))}, true);
  return dims;
}
/// The element of a list at a position, a scalar; `dims` are those of a tensor, where more is known of them.
inline ValueId take_element(Build& b, ValueId list, ValueId position, ValueId dims = {}) {
  if (!dims && !b.type(list).of->is_list()) dims = learned_dims(b, list, position);
  return b.graph().add(get_operator("ListElement", "cameo"), {list, position, dims})[0];
}

/// The tensors of a sequence one after the other along an axis of the result, a new one if `is_new`: JoinedDims gives
/// the dims, and they decide. `of_empty`: the dims where there are no tensors; none: that is an error of the run.
inline ValueId joined(Build& b, ValueId sequence, int64_t axis, bool is_new, std::vector<int64_t> of_empty = {}) {
  Graph& g = b.graph();
  const Attrs attrs{{"axis", axis}, {"new_axis", int64_t{is_new}}};
  Attrs of_dims = attrs;
  if (!of_empty.empty()) of_dims.emplace("of_empty", std::move(of_empty));
  const ValueId dims = g.add(get_operator("JoinedDims", "cameo"), {sequence}, std::move(of_dims))[0];
  g.decide(dims, Interval{0, most_of_open(static_cast<size_t>(b.type(sequence).of->rank()) + is_new)}, true);
  return g.add(get_operator("JoinedList", "cameo"), {sequence, dims}, attrs)[0];
}

/// For reference functions: a position in a list of which it has `room` places, counted from the end where it is
/// negative.
inline size_t place_in(int64_t position, size_t room) {
  const auto count = static_cast<int64_t>(room);
  if (position < -count || position >= count)
    throw CompileError(Code::E0304, fmt::format("index {} is out of range of a list of {}", position, count));
  return static_cast<size_t>(position < 0 ? position + count : position);
}
inline size_t place_in(std::span<const Tensor> in, size_t input, size_t room, int64_t otherwise) {
  return place_in(input < in.size() && in[input].size() ? in[input].get_int(0) : otherwise, room);
}

}  // namespace cameo::ops
