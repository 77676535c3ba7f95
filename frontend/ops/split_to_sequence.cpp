// SplitToSequence: the parts of a tensor along an axis: of the lengths that `split` lists, of the one length that it
// is, the last part being shorter, or of 1, where `keepdims` 0 takes the axis away.
#include <ranges>

#include "frontend/ops/known_list.h"
#include "frontend/ops/list.h"

namespace cameo::ops {
namespace {

/// Lengths that are known sum to the axis.
void check_parts(const NodeView& n, Dim whole) {
  const Tensor* split = n.constant(1);
  const auto parts = split && split->rank() ? known_parts(n) : std::nullopt;
  Dim sum = 0;
  for (int64_t part : parts.value_or(std::vector<int64_t>{})) {
    if (part < 0) n.fail(Code::E0304, fmt::format("a part of length {}", part));
    sum = sum + Dim(part);
  }
  if (parts && !n.agree(sum, whole))
    n.fail(Code::E0302, fmt::format("parts that sum to {} of an axis of {}", to_string(sum), to_string(whole)));
}

/// What all elements of a list of integers are; nothing where they may differ.
std::optional<int64_t> common_element(const Graph& g, ValueId list) {
  if (const Constant& known = g[list].constant) {
    const Tensor& t = *known;
    const auto is_first = [&](int64_t i) { return t.get_int(i) == t.get_int(0); };
    return t.size() && std::ranges::all_of(std::views::iota(int64_t{1}, t.size()), is_first)
               ? std::optional(t.get_int(0))
               : std::nullopt;
  }
  if (!g[list].producer) return std::nullopt;
  const Node& node = g[g[list].producer];
  const auto* computed = std::get_if<Compute>(&meaning_of(g, node));
  if (!computed || node.outputs.size() != 1 || !computed->outputs[0].value.is_const()) return std::nullopt;
  return computed->outputs[0].value.int_value();
}

/// The length of every part that `split` lists, or says; `any_extent` where they may differ.
Dim length_of_parts(const NodeView& n, Dim whole) {
  const auto each = common_element(n.graph(), n.node().inputs[1]);
  if (!each || *each <= 0) return any_extent();
  if (!n.rank(1))  // the last one may be shorter
    return simplify_index(mod(whole.extent(), integer(*each))).is_const(0) ? Dim(*each) : any_extent();
  n.require(eq((n.shape(1)[0] * Dim(*each)).extent(), whole.extent()));
  return Dim(*each);
}

bool keeps_axis(const NodeView& n) { return n.has(1) || n.attr_int("keepdims"); }

void infer_split_to_sequence(Infer& n) {
  const int axis = NodeView::axis(n.attr_int("axis"), n.rank());
  if (n.has(1) && n.rank(1) > 1)
    n.fail(Code::E0302, fmt::format("`split` is {}, it must be a scalar or a list", to_string(n.type(1))));
  check_parts(n, n.shape()[axis]);
  Type element = element_type(n.type(0));
  if (!keeps_axis(n))
    element.shape.erase(element.shape.begin() + axis);
  else
    element.shape[axis] = n.has(1) ? length_of_parts(n, n.shape()[axis]) : Dim(1);
  n.output(0, Type::list(Kind::Sequence, element));
}

/// Numbers of the kernel: the axis, whether it stays, how many lengths `split` lists (-1: it is one for all), the dims.
Meaning split_to_sequence(const MeaningView& n) {
  const Expr lengths = n.has(1) && n.rank(1) ? n.shape(1)[0].extent() : integer(-1);
  std::vector<Expr> numbers{integer(NodeView::axis(n.attr_int("axis"), n.rank())), integer(keeps_axis(n)), lengths};
  for (const Dim& d : n.shape()) numbers.push_back(d.extent());
  return list_kernel("list_split", std::move(numbers));
}

std::vector<int64_t> lengths_of(std::span<const Tensor> in, int64_t whole) {
  std::vector<int64_t> lengths;
  const bool listed = in.size() > 1 && in[1].rank();
  for (int64_t i = 0; listed && i < in[1].size(); ++i) lengths.push_back(in[1].get_int(i));
  const int64_t each = in.size() > 1 && !listed ? in[1].get_int(0) : 1;
  if (each <= 0) throw CompileError(Code::E0304, fmt::format("parts of length {}", each));
  for (int64_t at = 0; !listed && at < whole; at += each) lengths.push_back(std::min(each, whole - at));
  int64_t sum = 0;
  for (int64_t length : lengths) sum += length < 0 || length > whole ? whole + 1 : length;
  if (sum != whole) throw CompileError(Code::E0304, fmt::format("parts that do not sum to an axis of {}", whole));
  return lengths;
}

/// The part [begin, begin + length) along an axis of `whole`, with `inner` bytes behind each index.
Tensor part_of(const Tensor& x, std::vector<int64_t> dims, int64_t begin, int64_t length, int64_t whole, size_t inner) {
  Tensor part(x.dtype(), std::move(dims));
  const size_t row = static_cast<size_t>(length) * inner, from_row = static_cast<size_t>(whole) * inner;
  for (size_t at = 0, from = static_cast<size_t>(begin) * inner; at < part.bytes().size(); at += row, from += from_row)
    std::memcpy(part.mutable_bytes().data() + at, x.bytes().data() + from, row);
  return part;
}

std::vector<Tensor> split_to_sequence_reference(const MeaningView& n, std::span<const Tensor> in) {
  const std::vector<int64_t>& dims = in[0].dims();
  const auto axis = static_cast<size_t>(NodeView::axis(n.attr_int("axis"), in[0].rank()));
  size_t inner = static_cast<size_t>(byte_size(in[0].dtype()));
  for (size_t d = axis + 1; d < dims.size(); ++d) inner *= static_cast<size_t>(dims[d]);
  std::vector<Tensor> parts;
  int64_t begin = 0;
  for (int64_t length : lengths_of(in, dims[axis])) {
    std::vector<int64_t> of_part = dims;
    of_part[axis] = length;
    if (!keeps_axis(n)) of_part.erase(of_part.begin() + static_cast<int64_t>(axis));
    parts.push_back(part_of(in[0], std::move(of_part), begin, length, dims[axis], inner));
    begin += length;
  }
  return {Tensor::of_items(std::move(parts))};
}

}  // namespace

Operator declare_split_to_sequence() {
  return {.name = "SplitToSequence",
          .since = {11, 24},
          .inputs = {{"input"}, {"split", kIndices, InputSpec::Optional}},
          .attributes = {{"axis", 0}, {"keepdims", 1}},
          .infer = infer_split_to_sequence,
          .meaning = split_to_sequence,
          .reference = split_to_sequence_reference,
          .foldable = false};
}

}  // namespace cameo::ops
