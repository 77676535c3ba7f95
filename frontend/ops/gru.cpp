// GRU, gates z r h: H' = (1 - z) h + z H, with the reset r before or after the hidden gate's recurrent product.
#include "frontend/ops/recurrent.h"

namespace cameo::ops {
namespace {

void infer_gru(Infer& n) { infer_recurrent(n, 3); }

class Gru {
 public:
  Gru(const MeaningView& n)
      : r_(n, 3),
        f_(activations(n, r_.shape.directions, {"Sigmoid", "Tanh"})),
        late_(n.attr_int("linear_before_reset")) {}

  Meaning meaning() {
    for (int d = 0; d < r_.shape.directions; ++d) direction(d);
    return r_.outputs(1);
  }

 private:
  void direction(int d) {
    Build& b = r_.b;
    int64_t h = r_.shape.hidden;
    ValueId bias, late_bias, r = r_.recurrence(d);
    if (ValueId all = r_.part(Recurrent::B, d)) {
      ValueId of_x = b.slice(all, 0, 0, 3 * h), of_h = b.slice(all, 0, 3 * h, 6 * h);
      bias = b.add(of_x, of_h);
      if (late_) {  // the hidden gate's recurrent bias is inside of the reset
        bias = b.concat({b.slice(bias, 0, 0, 2 * h), b.slice(of_x, 0, 2 * h, 3 * h)}, 0);
        late_bias = b.slice(of_h, 0, 2 * h, 3 * h);
      }
    }
    ValueId r_gates = b.slice(r, 1, 0, 2 * h), r_hidden = b.slice(r, 1, 2 * h, 3 * h);
    const Activation &f = f_[2 * d], &g = f_[2 * d + 1];
    r_.run(d, 1, bias, [&](Build& s, ValueId x, std::span<const ValueId> state) -> std::vector<ValueId> {
      ValueId gates = s.matmul(state[0], s.capture(r_gates));
      ValueId update = r_.act(s, f, s.add(r_.gate(s, x, 0), r_.gate(s, gates, 0)));
      ValueId reset = r_.act(s, f, s.add(r_.gate(s, x, 1), r_.gate(s, gates, 1)));
      ValueId inner;
      if (late_) {
        inner = s.matmul(state[0], s.capture(r_hidden));
        if (late_bias) inner = s.add(inner, s.capture(late_bias));
        inner = s.mul(reset, inner);
      } else {
        inner = s.matmul(s.mul(reset, state[0]), s.capture(r_hidden));
      }
      ValueId hidden = r_.act(s, g, s.add(r_.gate(s, x, 2), inner));
      return {s.add(s.mul(s.sub(s.like(update, 1), update), hidden), s.mul(update, state[0]))};
    });
  }

  Recurrent r_;
  std::vector<Activation> f_;
  bool late_;
};

Meaning gru(const MeaningView& n) { return Gru(n).meaning(); }

}  // namespace

Operator declare_gru() {
  return {.name = "GRU",
          .since = {1, 3, 7, 14, 22},
          .inputs = {{"X", kFloats},
                     {"W", kFloats, InputSpec::Required, 0},
                     {"R", kFloats, InputSpec::Required, 0},
                     {"B", kFloats, InputSpec::Optional, 0},
                     {"sequence_lens", DTypes(DType::i32), InputSpec::Optional},
                     {"initial_h", kFloats, InputSpec::Optional, 0}},
          .outputs = {{"Y", OutputSpec::Optional}, {"Y_h", OutputSpec::Optional}},
          .attributes = recurrent_attributes({{"linear_before_reset", 0, 3}}),
          .infer = infer_gru,
          .meaning = gru};
}

}  // namespace cameo::ops
