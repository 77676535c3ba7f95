// The cell of LSTM, gates i o f c: C' = f C + i g(c), H' = o h(C'); peepholes let i and f see C, and o see C'.
#pragma once
#include "frontend/ops/recurrent.h"

namespace cameo::ops {

/// `R`: how the products with W and R are made.
template <class R>
class Lstm {
 public:
  explicit Lstm(const NodeView& n)
      : r_(n, 4),
        f_(activations(n, r_.shape.directions, {"Sigmoid", "Tanh", "Tanh"})),
        coupled_(n.attr_int("input_forget")) {}

  Composite definition() {
    for (int d = 0; d < r_.shape.directions; ++d) direction(d);
    return r_.outputs(2);
  }

 private:
  void direction(int d) {
    Build& b = r_.b;
    int64_t h = r_.shape.hidden;
    ValueId bias = r_.part(Recurrent::B, d);
    const Recurrent::Product times_r = r_.product(Recurrent::R, d);
    const ValueId peepholes = r_.part(Recurrent::Peepholes, d);
    if (bias) bias = b.add(b.slice(bias, 0, 0, 4 * h), b.slice(bias, 0, 4 * h, 8 * h));
    const Activation &f = f_[3 * d], &g = f_[3 * d + 1], &to_h = f_[3 * d + 2];
    r_.run(d, 2, bias, [&](Build& s, ValueId x, std::span<const ValueId> state) -> std::vector<ValueId> {
      ValueId gates = s.add(x, times_r(s, state[0])), old = state[1];
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

  R r_;
  std::vector<Activation> f_;
  bool coupled_;
};

}  // namespace cameo::ops
