// LookUp, of cameo's own: the values that a map has for keys, and zero where it has none; of equal keys the first.
#include "frontend/ops/list.h"

namespace cameo::ops {
namespace {

void infer_look_up(Infer& n) {
  const Type& values = element_of(n, 0, Kind::Map);
  if (n.rank(1) != 1 || n.dtype(1) != n.type(0).key)
    n.fail(Code::E0301, fmt::format("keys are {}, the map is {}", to_string(n.type(1)), to_string(n.type(0))));
  n.output(0, values.dtype, {n.shape(1)[0]});
}

std::vector<Tensor> look_up_reference(const MeaningView&, std::span<const Tensor> in) {
  const Tensor &keys = in[0].items()[0], &values = in[0].items()[1];
  const auto size = static_cast<size_t>(byte_size(values.dtype()));
  Tensor found(values.dtype(), in[1].dims());
  for (int64_t i = 0; i < in[1].size(); ++i)
    for (int64_t k = keys.size(); k-- > 0;)
      if (keys.get_int(k) == in[1].get_int(i))
        std::memcpy(found.mutable_bytes().data() + static_cast<size_t>(i) * size,
                    values.bytes().data() + static_cast<size_t>(k) * size, size);
  return {found};
}

}  // namespace

Operator declare_look_up() {
  return {.name = "LookUp",
          .domain = "cameo",
          .since = {1},
          .inputs = {{.name = "map", .takes = InputSpec::Lists}, {"keys", kMapKeys}},
          .infer = infer_look_up,
          .meaning = [](const MeaningView& n) -> Meaning { return list_kernel("look_up", {n.shape(1)[0].extent()}); },
          .reference = look_up_reference,
          .foldable = false};
}

}  // namespace cameo::ops
