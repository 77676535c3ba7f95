// DynamicQuantizeLSTM: LSTM whose W and R are 8-bit matrices, their columns what the gates take; the inputs of all
// steps, and each step's hidden state, are quantised by what they hold.
#include "frontend/ops/lstm.h"
#include "frontend/ops/microsoft/scaled_product.h"

namespace cameo::ops {
namespace {

class QuantizedRecurrent final : public Recurrent {
 public:
  QuantizedRecurrent(const NodeView& n, int gates) : Recurrent(n, gates, true) {}

  Product product(int input, int direction) override {
    const int scale = input == W ? WScale : RScale;
    const QuantizedMatrix m{raw(input, direction), raw(scale, direction), raw(scale + 1, direction)};
    return [this, m](Build& s, ValueId v) {
      return scaled_product(s, quantized_rows(s, v), {within(s, m.x), within(s, m.scale), within(s, m.zero)}, {});
    };
  }

 private:
  enum { WScale = Peepholes + 1, WZero, RScale, RZero };

  /// A direction's part, in its own type.
  ValueId raw(int input, int direction) { return b.squeeze(b.slice(b.in(input), 0, direction, direction + 1), {0}); }
};

void infer_dynamic_quantize_lstm(Infer& n) {
  const RecurrentShape s = recurrent_shape(n, 4, true);
  for (int i : {8, 9, 10, 11}) {
    check_rank(n, i, {1, 2}, "one a direction, or one a column");
    const Dim columns = 4 * s.hidden;
    check_shape(n, i, n.rank(i) == 1 ? Shape{s.directions} : Shape{s.directions, columns},
                "one for all or one a column");
  }
  for (int scale : {8, 10}) check_scale(n, scale);
  infer_recurrent(n, 4, true);
}

Meaning dynamic_quantize_lstm(const MeaningView& n) { return Lstm<QuantizedRecurrent>(n).definition(); }

}  // namespace

Operator declare_microsoft_dynamic_quantize_lstm() {
  constexpr DTypes kFloat{DType::f32};
  return {.name = "DynamicQuantizeLSTM",
          .domain = "com.microsoft",
          .since = {1},
          .inputs = {{"X", kFloat},
                     {"W", kQuantized},
                     {"R", kQuantized, InputSpec::Required, 1},
                     {"B", kFloat, InputSpec::Optional},
                     {"sequence_lens", DTypes(DType::i32), InputSpec::Optional},
                     {"initial_h", kFloat, InputSpec::Optional},
                     {"initial_c", kFloat, InputSpec::Optional},
                     {"P", kFloat, InputSpec::Optional},
                     {"W_scale", kFloat},
                     {"W_zero_point", kQuantized, InputSpec::Required, 1},
                     {"R_scale", kFloat},
                     {"R_zero_point", kQuantized, InputSpec::Required, 2}},
          .outputs = {{"Y", OutputSpec::Optional}, {"Y_h", OutputSpec::Optional}, {"Y_c", OutputSpec::Optional}},
          .attributes = recurrent_attributes({{"input_forget", 0}}),
          .infer = infer_dynamic_quantize_lstm,
          .meaning = dynamic_quantize_lstm};
}

}  // namespace cameo::ops
