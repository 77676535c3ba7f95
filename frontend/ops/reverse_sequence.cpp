// ReverseSequence: the first sequence_lens[b] steps of each sequence in reverse, the rest as it is. A length that only
// the data tells is a fault where there are no such steps.
#include "frontend/ops/operands.h"

namespace cameo::ops {
namespace {

void infer_reverse_sequence(Infer& n) {
  int64_t batch = n.attr_int("batch_axis"), time = n.attr_int("time_axis");
  if (n.rank() < 2 || n.rank(1) != 1 || batch == time || std::min(batch, time) < 0 || std::max(batch, time) > 1)
    n.fail(Code::E0302, "`ReverseSequence` of " + to_string(n.type(0)) + " with batch axis " + std::to_string(batch) +
                            " and time axis " + std::to_string(time));
  same_dim(n, n.shape()[batch], n.shape(1)[0], "the batch and the number of `sequence_lens`");
  check_lengths(n, 1, n.shape()[time]);
  n.output(0, n.type(0));
}

Meaning reverse_sequence_meaning(const MeaningView& n) {
  OutputExpr out{n.index(), {}};
  std::vector<Expr> at = out.index;
  Expr& time = at[n.attr_int("time_axis")];
  Expr length = n.load(1, {out.index[n.attr_int("batch_axis")]});
  time = select(lt(time, length), length - integer(1) - time, time);
  if (n.constant(1)) {
    out.value = n.load(0, at);
  } else {
    time = select(lt(length, integer(0)), length, time);
    out.value = n.load_checked(0, at);
  }
  return Compute{{out}};
}

}  // namespace

Operator declare_reverse_sequence() {
  return {.name = "ReverseSequence",
          .since = {10, 28},
          .inputs = {{"input"}, {"sequence_lens", kInt64}},
          .attributes = {{"batch_axis", 1}, {"time_axis", 0}},
          .infer = infer_reverse_sequence,
          .meaning = reverse_sequence_meaning};
}

}  // namespace cameo::ops
