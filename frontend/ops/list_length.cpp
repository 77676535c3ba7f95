// ListLength, of cameo's own: how many elements a list has.
#include "frontend/ops/list.h"

namespace cameo::ops {

Operator declare_list_length() {
  return {.name = "ListLength",
          .domain = "cameo",
          .since = {1},
          .inputs = {{.name = "list", .takes = InputSpec::Lists}},
          .infer = [](Infer& n) { n.output(0, DType::i64, {}); },
          .meaning = [](const MeaningView&) -> Meaning { return list_kernel("list_length"); },
          .reference =
              [](const MeaningView&, std::span<const Tensor> in) {
                return std::vector{Tensor::scalar(DType::i64, static_cast<double>(in[0].items().size()))};
              },
          .foldable = false};
}

}  // namespace cameo::ops
