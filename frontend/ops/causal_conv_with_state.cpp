// CausalConvWithState: a convolution of each channel along its past, of which the last k - 1 elements come in and go
// out as a state; zeros stand for a past that is not given.
#include <fmt/format.h>

#include "frontend/ir/build.h"
#include "frontend/ops/operands.h"

namespace cameo::ops {
namespace {

enum CausalInput { Signal, Weight, Bias, PastState };

/// Of the state: k - 1.
int64_t state_length(const NodeView& n) {
  if (n.rank(Signal) != 3 || n.rank(Weight) != 3)
    n.fail(Code::E0302, fmt::format("`input` is {} and `weight` {}: ranks of 3 are needed", to_string(n.type(Signal)),
                                    to_string(n.type(Weight))));
  const Dim taps = n.shape(Weight)[2];
  if (!taps.is_static()) n.fail(Code::E0404, "the number of taps is " + to_string(taps) + ", not a number");
  if (taps.value() < 1) n.fail(Code::E0302, "`weight` is " + to_string(n.type(Weight)) + ": it has no taps");
  return taps.value() - 1;
}

bool is_activated(const NodeView& n) {
  const std::string name = n.attr_string("activation");
  if (name != "none" && name != "silu" && name != "swish")
    n.fail(Code::E0204, fmt::format("`activation` is `{}`", printable(name)), "none, silu or swish");
  return name != "none";
}

void infer_causal_conv(Infer& n) {
  const Dim length(state_length(n));
  const Shape &x = n.shape(Signal), state{x[0], x[1], length};
  is_activated(n);
  check_shape(n, Weight, {x[1], 1, length + 1}, "the taps of each channel");
  check_shape(n, Bias, {x[1]}, "a number for each channel");
  check_shape(n, PastState, state, "the k - 1 elements before the input");
  if (!x[2].is_static(0)) n.require(le(integer(1), x[2].extent()));
  n.output(0, n.type(Signal));
  n.output(1, n.dtype(), state);
}

Meaning causal_conv(const MeaningView& n) {
  Build b(n);
  const int64_t length = state_length(n);
  const ValueId x = b.in(PastState) ? b.concat({b.in(PastState), b.in(Signal)}, 2)
                                    : b.op("Pad", {b.in(Signal), b.ints({0, 0, length, 0, 0, 0})});
  const ValueId state = length ? b.slice(x, 2, -length, INT64_MAX) : b.slice(x, 2, 0, 0);
  if (n.shape(Signal)[2].is_static(0)) return b.outputs({b.in(Signal), state});
  const Dim channels = n.shape(Signal)[1];
  if (!channels.is_static()) n.fail(Code::E0404, "the number of channels is " + to_string(channels) + ", not a number");
  std::vector<ValueId> operands{x, b.in(Weight)};
  if (b.in(Bias)) operands.push_back(b.in(Bias));
  ValueId y = b.op("Conv", operands, {{"group", channels.value()}});
  if (is_activated(n)) y = b.op("Swish", {y});
  return b.outputs({y, state});
}

}  // namespace

Operator declare_causal_conv_with_state() {
  return {.name = "CausalConvWithState",
          .since = {27},
          .inputs = {{"input", kFloats},
                     {"weight", kFloats, InputSpec::Required, Signal},
                     {"bias", kFloats, InputSpec::Optional, Signal},
                     {"past_state", kFloats, InputSpec::Optional, Signal}},
          .outputs = {{"output"}, {"present_state"}},
          .attributes = {{"activation", "none"}},
          .infer = infer_causal_conv,
          .meaning = causal_conv};
}

}  // namespace cameo::ops
