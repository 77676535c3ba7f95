// JoinedDims, of cameo's own: the dims of a list's elements one after the other along an axis, or along a new one.
#include "frontend/ops/list.h"

namespace cameo::ops {
namespace {

int joined_rank(const NodeView& n) { return tensor_of(n, 0).rank() + static_cast<int>(n.attr_int("new_axis")); }

/// Numbers of the kernel: the rank, the axis, whether it is new, the largest extent that shapes are proven with, and
/// the dims of no elements, where there are such.
Meaning joined_dims(const MeaningView& n) {
  const int rank = joined_rank(n);
  std::vector<Expr> numbers{integer(rank), integer(n.attr_int("axis")), integer(n.attr_int("new_axis")),
                            integer(most_of_open(static_cast<size_t>(rank)))};
  if (n.has_attr("of_empty"))
    for (int64_t extent : n.attr_ints("of_empty")) numbers.push_back(integer(extent));
  return list_kernel("joined_dims", std::move(numbers));
}

std::vector<Tensor> joined_dims_reference(const MeaningView& n, std::span<const Tensor> in) {
  const std::vector<Tensor>& items = in[0].items();
  const auto axis = static_cast<size_t>(n.attr_int("axis"));
  const bool is_new = n.attr_int("new_axis");
  if (items.empty() && n.has_attr("of_empty")) return {Tensor::i64({joined_rank(n)}, n.attr_ints("of_empty"))};
  if (items.empty()) throw CompileError(Code::E0304, "a list without elements has nothing to join");
  std::vector<int64_t> joined;
  for (const Tensor& item : items) {
    std::vector<int64_t> dims = item.dims();
    if (is_new) dims.insert(dims.begin() + static_cast<int64_t>(axis), 1);
    const int64_t before = joined.empty() ? 0 : joined[axis], more = dims[axis];
    if (!joined.empty()) dims[axis] = before;
    if (std::ssize(dims) != joined_rank(n) || (!joined.empty() && dims != joined))
      throw CompileError(Code::E0304, "elements of a list that do not fit each other are joined");
    joined = std::move(dims);
    joined[axis] = before + more;
  }
  return {Tensor::i64({std::ssize(joined)}, joined)};
}

}  // namespace

Operator declare_joined_dims() {
  return {.name = "JoinedDims",
          .domain = "cameo",
          .since = {1},
          .inputs = {{.name = "list", .takes = InputSpec::Lists}},
          .attributes = {{"axis", AttrKind::Int}, {"new_axis", 0}, {"of_empty", AttrKind::Ints}},
          .infer = [](Infer& n) { n.output(0, DType::i64, {Dim(joined_rank(n))}); },
          .meaning = joined_dims,
          .reference = joined_dims_reference,
          .foldable = false};
}

}  // namespace cameo::ops
