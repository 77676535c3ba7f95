// JoinTexts, of cameo's own: each string with that of a tensor of the same dims behind it.
#include "frontend/ops/texts.h"

namespace cameo::ops {
namespace {

void infer_join_texts(Infer& n) {
  bool same = n.rank(0) == n.rank(1);
  for (int d = 0; same && d < n.rank(); ++d) same = n.agree(n.shape(0)[d], n.shape(1)[d]);
  if (!same) n.fail(Code::E0302, to_string(n.type(0)) + " and " + to_string(n.type(1)) + " are joined");
  n.output(0, n.type(0));
}

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
          .infer = infer_join_texts,
          .meaning = join_texts,
          .reference = join_texts_reference};
}

}  // namespace cameo::ops
