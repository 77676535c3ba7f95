// RankTexts, of cameo's own: the place of each string among the different ones, in the order of their bytes. The second
// output is room that the kernel works in, zero in the end.
#include <algorithm>

#include "frontend/ops/texts.h"

namespace cameo::ops {
namespace {

void infer_rank_texts(Infer& n) {
  n.output(0, DType::i64, n.shape());
  n.output(1, DType::i64, {product(n.shape())});
}

std::vector<Tensor> rank_texts_reference(const MeaningView&, std::span<const Tensor> in) {
  std::vector<std::string_view> different;
  for (int64_t i = 0; i < in[0].size(); ++i) different.push_back(in[0].text(i));
  std::ranges::sort(different);
  different.erase(std::ranges::unique(different).begin(), different.end());
  Tensor ranks(DType::i64, in[0].dims());
  for (int64_t i = 0; i < ranks.size(); ++i)
    ranks.set_int(i, std::ranges::lower_bound(different, in[0].text(i)) - different.begin());
  return {ranks, Tensor(DType::i64, {ranks.size()})};
}

}  // namespace

Operator declare_rank_texts() {
  return {.name = "RankTexts",
          .domain = "cameo",
          .since = {1},
          .inputs = {{"X", kStrings}},
          .outputs = {{"ranks"}, {"room"}},
          .infer = infer_rank_texts,
          .meaning = [](const MeaningView& n) -> Meaning { return text_kernel(n, "rank_texts"); },
          .reference = rank_texts_reference};
}

}  // namespace cameo::ops
