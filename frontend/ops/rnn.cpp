// RNN: H = f(x W^T + H R^T + biases).
#include "frontend/ops/recurrent.h"

namespace cameo::ops {
namespace {

void infer_rnn(Infer& n) { infer_recurrent(n, 1); }

Meaning rnn(const MeaningView& n) {
  Recurrent r(n, 1);
  auto f = activations(n, r.shape.directions, {"Tanh"});
  for (int d = 0; d < r.shape.directions; ++d) {
    ValueId bias = r.part(Recurrent::B, d), recurrence = r.recurrence(d);
    if (bias) bias = r.b.add(r.gate(r.b, bias, 0), r.gate(r.b, bias, 1));
    r.run(d, 1, bias, [&](Build& s, ValueId x, std::span<const ValueId> h) -> std::vector<ValueId> {
      return {r.act(s, f[d], s.add(x, s.matmul(h[0], s.capture(recurrence))))};
    });
  }
  return r.outputs(1);
}

}  // namespace

Operator declare_rnn() {
  return {.name = "RNN",
          .since = {1, 7, 14, 22},
          .inputs = {{"X", kFloats},
                     {"W", kFloats, InputSpec::Required, 0},
                     {"R", kFloats, InputSpec::Required, 0},
                     {"B", kFloats, InputSpec::Optional, 0},
                     {"sequence_lens", DTypes(DType::i32), InputSpec::Optional},
                     {"initial_h", kFloats, InputSpec::Optional, 0}},
          .outputs = {{"Y", OutputSpec::Optional}, {"Y_h", OutputSpec::Optional}},
          .attributes = recurrent_attributes(),
          .infer = infer_rnn,
          .meaning = rnn};
}

}  // namespace cameo::ops
