// CountPieces, of cameo's own: how many pieces SplitTexts finds in each string, `most` at most if that is not negative.
#include "frontend/ops/pieces.h"

namespace cameo::ops {
namespace {

void infer_count_pieces(Infer& n) { n.output(0, DType::i64, n.shape()); }

Meaning count_pieces(const MeaningView& n) { return text_kernel(n, "count_pieces", {integer(n.attr_int("most"))}); }

std::vector<Tensor> count_pieces_reference(const MeaningView& n, std::span<const Tensor> in) {
  Tensor counts(DType::i64, in[0].dims());
  for (int64_t i = 0; i < counts.size(); ++i)
    counts.set_int(i, std::ssize(pieces_of(in[0].text(i), in[1].text(0), n.attr_int("most"))));
  return {counts};
}

}  // namespace

Operator declare_count_pieces() {
  return {.name = "CountPieces",
          .domain = "cameo",
          .since = {1},
          .inputs = {{"X", kStrings}, {"delimiter", kStrings}},
          .outputs = {{"counts"}},
          .attributes = {{"most", -1}},
          .infer = infer_count_pieces,
          .meaning = count_pieces,
          .reference = count_pieces_reference};
}

}  // namespace cameo::ops
