// LSTM, gates i o f c: C' = f C + i g(c), H' = o h(C'); peepholes let i and f see C, and o see C'.
#include "frontend/ops/recurrent.h"

namespace cameo::ops {
namespace {

void infer_lstm(Infer& n) { infer_recurrent(n, 4); }

class Lstm {
 public:
  Lstm(const MeaningView& n)
      : r_(n, 4),
        f_(activations(n, r_.shape.directions, {"Sigmoid", "Tanh", "Tanh"})),
        coupled_(n.attr_int("input_forget")) {}

  Meaning meaning() {
    for (int d = 0; d < r_.shape.directions; ++d) direction(d);
    return r_.outputs(2);
  }

 private:
  void direction(int d) {
    Build& b = r_.b;
    int64_t h = r_.shape.hidden;
    ValueId bias = r_.part(Recurrent::B, d), r = r_.recurrence(d), peepholes = r_.part(Recurrent::Peepholes, d);
    if (bias) bias = b.add(b.slice(bias, 0, 0, 4 * h), b.slice(bias, 0, 4 * h, 8 * h));
    const Activation &f = f_[3 * d], &g = f_[3 * d + 1], &to_h = f_[3 * d + 2];
    r_.run(d, 2, bias, [&](Build& s, ValueId x, std::span<const ValueId> state) -> std::vector<ValueId> {
      ValueId gates = s.add(x, s.matmul(state[0], s.capture(r))), old = state[1];
      auto gate = [&](int k, int peephole, ValueId cell) {
        ValueId v = r_.gate(s, gates, k);
        if (peepholes && peephole >= 0) v = s.add(v, s.mul(r_.gate(s, s.capture(peepholes), peephole), cell));
        return v;
      };
      ValueId i = r_.act(s, f, gate(0, 0, old));
      ValueId forget = coupled_ ? s.sub(s.like(i, 1), i) : r_.act(s, f, gate(2, 2, old));
      ValueId c = s.add(s.mul(forget, old), s.mul(i, r_.act(s, g, gate(3, -1, {}))));
      ValueId o = r_.act(s, f, gate(1, 1, c));
      return {s.mul(o, r_.act(s, to_h, c)), c};
    });
  }

  Recurrent r_;
  std::vector<Activation> f_;
  bool coupled_;
};

Meaning lstm(const MeaningView& n) { return Lstm(n).meaning(); }

}  // namespace

Operator declare_lstm() {
  return {.name = "LSTM",
          .since = {1, 7, 14, 22},
          .inputs = {{"X", kFloats},
                     {"W", kFloats, InputSpec::Required, 0},
                     {"R", kFloats, InputSpec::Required, 0},
                     {"B", kFloats, InputSpec::Optional, 0},
                     {"sequence_lens", DTypes(DType::i32), InputSpec::Optional},
                     {"initial_h", kFloats, InputSpec::Optional, 0},
                     {"initial_c", kFloats, InputSpec::Optional, 0},
                     {"P", kFloats, InputSpec::Optional, 0}},
          .outputs = {{"Y", OutputSpec::Optional}, {"Y_h", OutputSpec::Optional}, {"Y_c", OutputSpec::Optional}},
          .attributes = recurrent_attributes({{"input_forget", 0}}),
          .infer = infer_lstm,
          .meaning = lstm};
}

}  // namespace cameo::ops
