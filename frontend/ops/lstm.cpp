// LSTM: a recurrence of one or two directions over the cell of lstm.h.
#include "frontend/ops/lstm.h"

namespace cameo::ops {
namespace {

void infer_lstm(Infer& n) { infer_recurrent(n, 4); }

Meaning lstm(const MeaningView& n) { return Lstm<Recurrent>(n).definition(); }

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
