// ListElement, of cameo's own: the element of a list at a position; a map's at 0 are its keys, at 1 its values. Of a
// tensor `dims` says the dims, those of ListDims.
#include "frontend/ops/list.h"

namespace cameo::ops {
namespace {

void infer_list_element(Infer& n) {
  check_scalar(n, 1);
  if (n.type(0).of->is_list()) return n.output(0, *n.type(0).of);
  Type element = tensor_of(n, 0);
  if (!n.has(2)) n.fail(Code::E0203, "`ListElement` of a list of tensors lacks `dims`");
  const std::vector<Expr> dims = elements(n, 2);
  if (dims.size() != element.shape.size())
    n.fail(Code::E0302, fmt::format("{} dims of an element of {}", dims.size(), to_string(n.type(0))));
  for (size_t d = 0; d < dims.size(); ++d)
    if (!element.shape[d].is_static()) element.shape[d] = given_dim(n, dims[d], dims.size(), "dims");
  if (n.type(0).kind == Kind::Map && n.ints(1)[0] == 0) element.dtype = n.type(0).key;
  n.output(0, element);
}

/// Numbers of the kernel: whether it is a list, then its dims.
Meaning list_element(const MeaningView& n) {
  std::vector<Expr> numbers{integer(n.out_type().is_list())};
  if (!n.out_type().is_list())
    for (const Dim& d : n.out_shape()) numbers.push_back(d.extent());
  return list_kernel("list_element", std::move(numbers));
}

std::vector<Tensor> list_element_reference(const MeaningView&, std::span<const Tensor> in) {
  const Tensor& element = in[0].items()[place_in(in, 1, in[0].items().size(), 0)];
  if (in.size() > 2 && !std::ranges::equal(element.dims(), in[2].as<int64_t>()))
    throw CompileError(Code::E0304, "an element of other dims than were said");
  return {element};
}

}  // namespace

Operator declare_list_element() {
  return {.name = "ListElement",
          .domain = "cameo",
          .since = {1},
          .inputs = {{.name = "list", .takes = InputSpec::Lists},
                     {"position", kIndices},
                     {"dims", kInt64, InputSpec::Optional}},
          .infer = infer_list_element,
          .meaning = list_element,
          .reference = list_element_reference,
          .foldable = false};
}

}  // namespace cameo::ops
