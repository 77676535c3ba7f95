// JoinTexts, of cameo's own: each string with that of a tensor of the same dims behind it.
#include "frontend/ops/texts.h"

namespace cameo::ops {
namespace {

Meaning join_texts(const MeaningView& n) { return text_kernel(n, "join_texts"); }

std::vector<Tensor> join_texts_reference(const MeaningView&, std::span<const Tensor> in) {
  Tensor y(DType::str, in[0].dims());
  for (int64_t i = 0; i < y.size(); ++i) y.set_int(i, code_of(std::string(in[0].text(i)).append(in[1].text(i))));
  return {y};
}

}  // namespace

Operator declare_join_texts() {
  return {.name = "JoinTexts",
          .domain = "cameo",
          .since = {1},
          .inputs = {{"X", kStrings}, {"Y", kStrings}},
          .outputs = {{"Z"}},
          .infer = infer::same_as_first,
          .meaning = join_texts,
          .reference = join_texts_reference};
}

}  // namespace cameo::ops
