// JoinedList, of cameo's own: a list's elements one after the other along an axis, which may be a new one. `dims` says
// the dims, those of JoinedDims.
#include "frontend/ops/list.h"

namespace cameo::ops {
namespace {

void infer_joined_list(Infer& n) {
  const auto axis = static_cast<size_t>(n.attr_int("axis"));
  Type joined = tensor_of(n, 0);
  if (n.attr_int("new_axis")) joined.shape.insert(joined.shape.begin() + static_cast<int64_t>(axis), any_extent());
  const std::vector<Expr> dims = elements(n, 1);
  if (dims.size() != joined.shape.size() || axis >= dims.size())
    n.fail(Code::E0302, fmt::format("{} dims of what {} is joined to", dims.size(), to_string(n.type(0))));
  for (size_t d = 0; d < dims.size(); ++d)
    if (d == axis || !joined.shape[d].is_static()) joined.shape[d] = given_dim(n, dims[d], dims.size(), "dims");
  n.output(0, joined);
}

/// Numbers of the kernel: the axis, whether it is new, and the dims.
Meaning joined_list(const MeaningView& n) {
  std::vector<Expr> numbers{integer(n.attr_int("axis")), integer(n.attr_int("new_axis"))};
  for (const Dim& d : n.out_shape()) numbers.push_back(d.extent());
  return list_kernel("joined_list", std::move(numbers));
}

std::vector<Tensor> joined_list_reference(const MeaningView& n, std::span<const Tensor> in) {
  const auto axis = static_cast<size_t>(n.attr_int("axis"));
  Tensor joined(n.out_dtype(), {in[1].as<int64_t>().begin(), in[1].as<int64_t>().end()});
  size_t inner = static_cast<size_t>(byte_size(joined.dtype()));
  for (size_t d = axis + 1; d < joined.dims().size(); ++d) inner *= static_cast<size_t>(joined.dims()[d]);
  const size_t row = inner * static_cast<size_t>(joined.dims()[axis]);
  size_t begin = 0;
  for (const Tensor& item : in[0].items()) {
    const size_t piece = inner * (n.attr_int("new_axis") ? 1 : static_cast<size_t>(item.dims()[axis]));
    for (size_t to = begin, from = 0; from < item.bytes().size(); to += row, from += piece)
      std::memcpy(joined.mutable_bytes().data() + to, item.bytes().data() + from, piece);
    begin += piece;
  }
  return {joined};
}

}  // namespace

Operator declare_joined_list() {
  return {.name = "JoinedList",
          .domain = "cameo",
          .since = {1},
          .inputs = {{.name = "list", .takes = InputSpec::Lists}, {"dims", kInt64}},
          .attributes = {{"axis", AttrKind::Int}, {"new_axis", 0}},
          .infer = infer_joined_list,
          .meaning = joined_list,
          .reference = joined_list_reference,
          .foldable = false};
}

}  // namespace cameo::ops
