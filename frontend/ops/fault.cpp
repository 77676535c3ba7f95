// Fault, of cameo's own: a value that no run can compute. It stands in a branch of an If whose nodes do not fit the
// dims that are bound. Its input is one element of the output's type, and it reads another one, which ends the run.
#include "frontend/ops/operands.h"
#include "runtime/dtype.h"

namespace cameo::ops {
namespace {

void infer_fault(Infer& n) {
  if (n.rank() != 1 || !n.shape()[0].is_static(1))
    n.fail(Code::E0302, "`like` is " + to_string(n.type(0)) + " instead of a list of one element");
  n.output(0, n.dtype(), shape_of(n.attr_ints("shape")));
}

Meaning fault_meaning(const MeaningView& n) {
  return Compute{{{n.index(), n.load_checked(0, std::vector<Expr>{integer(rt::kNoIndex)})}}};
}

}  // namespace

Operator declare_fault() {
  return {.name = "Fault",
          .domain = "cameo",
          .since = {1},
          .inputs = {{"like"}},
          .attributes = {{"shape", AttrKind::Ints}},
          .infer = infer_fault,
          .meaning = fault_meaning,
          .foldable = false,
          .must_run = true};
}

}  // namespace cameo::ops
