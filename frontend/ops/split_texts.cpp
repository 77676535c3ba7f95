// SplitTexts, of cameo's own: the pieces of each string of a list, as many columns as `width` says; those that a string
// has no piece for are empty.
#include "frontend/ops/operands.h"
#include "frontend/ops/pieces.h"

namespace cameo::ops {
namespace {

void infer_split_texts(Infer& n) {
  if (n.rank() != 1) n.fail(Code::E0302, "X is " + to_string(n.type(0)) + ", not a list");
  check_scalar(n, 2);
  n.output(0, DType::str, {n.shape()[0], given_dim(n, elements(n, 2)[0], 1, "width")});
}

Meaning split_texts(const MeaningView& n) {
  return text_kernel(n, "split_texts", {integer(n.attr_int("most")), n.out_shape()[1].extent()});
}

std::vector<Tensor> split_texts_reference(const MeaningView& n, std::span<const Tensor> in) {
  const int64_t width = in[2].get_int(0);
  Tensor y(DType::str, {in[0].size(), width});
  for (int64_t i = 0; i < in[0].size(); ++i) {
    const auto pieces = pieces_of(in[0].text(i), in[1].text(0), n.attr_int("most"));
    for (int64_t k = 0; k < std::min(width, std::ssize(pieces)); ++k) y.set_int(i * width + k, code_of(pieces[k]));
  }
  return {y};
}

}  // namespace

Operator declare_split_texts() {
  return {.name = "SplitTexts",
          .domain = "cameo",
          .since = {1},
          .inputs = {{"X", kStrings}, {"delimiter", kStrings}, {"width", kInt64}},
          .attributes = {{"most", -1}},
          .infer = infer_split_texts,
          .meaning = split_texts,
          .reference = split_texts_reference};
}

}  // namespace cameo::ops
