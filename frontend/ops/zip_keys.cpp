// ZipKeys, of cameo's own: for each row of a matrix the map from keys, one a column, to its elements.
#include "frontend/ops/list.h"

namespace cameo::ops {
namespace {

void infer_zip_keys(Infer& n) {
  if (n.rank() != 2 || n.rank(1) != 1)
    n.fail(Code::E0302, fmt::format("rows are {}, keys {}", to_string(n.type(0)), to_string(n.type(1))));
  same_dim(n, n.shape()[1], n.shape(1)[0], "columns and keys");
  const Type values = element_type(Type(n.dtype(), {n.shape()[1]}));
  n.output(0, Type::list(Kind::Sequence, Type::list(Kind::Map, values, n.dtype(1))));
}

std::vector<Tensor> zip_keys_reference(const MeaningView&, std::span<const Tensor> in) {
  const int64_t rows = in[0].dims()[0], columns = in[0].dims()[1];
  const size_t row = static_cast<size_t>(columns) * static_cast<size_t>(byte_size(in[0].dtype()));
  std::vector<Tensor> maps;
  for (int64_t i = 0; i < rows; ++i) {
    const Tensor values =
        Tensor::of(in[0].dtype(), {columns}, in[0].bytes().subspan(static_cast<size_t>(i) * row, row));
    maps.push_back(Tensor::of_items({in[1], values}));
  }
  return {Tensor::of_items(std::move(maps))};
}

}  // namespace

Operator declare_zip_keys() {
  return {.name = "ZipKeys",
          .domain = "cameo",
          .since = {1},
          .inputs = {{"rows"}, {"keys", kMapKeys}},
          .infer = infer_zip_keys,
          .meaning = [](const MeaningView& n) -> Meaning {
            return list_kernel("zip_keys", {n.shape()[0].extent(), n.shape()[1].extent()});
          },
          .reference = zip_keys_reference,
          .foldable = false};
}

}  // namespace cameo::ops
