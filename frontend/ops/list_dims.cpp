// ListDims, of cameo's own: the dims of an element of a list, whose rank is known.
#include "frontend/ops/list.h"

namespace cameo::ops {
namespace {

void infer_list_dims(Infer& n) {
  check_scalar(n, 1);
  n.output(0, DType::i64, {Dim(tensor_of(n, 0).rank())});
}

/// Numbers of the kernel: the rank, and the largest extent that shapes are proven with.
Meaning list_dims(const MeaningView& n) {
  const int rank = tensor_of(n, 0).rank();
  return list_kernel("list_dims", {integer(rank), integer(most_of_open(static_cast<size_t>(rank)))});
}

std::vector<Tensor> list_dims_reference(const MeaningView& n, std::span<const Tensor> in) {
  const Tensor& element = in[0].items()[place_in(in, 1, in[0].items().size(), 0)];
  if (element.rank() != tensor_of(n, 0).rank())
    throw CompileError(Code::E0304,
                       fmt::format("an element of rank {} where {} is expected", element.rank(), to_string(n.type(0))));
  return {Tensor::i64({element.rank()}, element.dims())};
}

}  // namespace

Operator declare_list_dims() {
  return {.name = "ListDims",
          .domain = "cameo",
          .since = {1},
          .inputs = {{.name = "list", .takes = InputSpec::Lists}, {"position", kIndices}},
          .infer = infer_list_dims,
          .meaning = list_dims,
          .reference = list_dims_reference,
          .foldable = false};
}

}  // namespace cameo::ops
