// Loop: inputs are trip count, condition, carried values, then the `captures` outer values that the body reads.
// The body takes (iteration, condition, carried.., captured..) and gives (condition, carried.., scans..).
#include <fmt/format.h>

#include "frontend/ops/control.h"

namespace cameo::ops {
namespace {

/// The body leaves its condition alone, or sets it to true: only the trip count ends the loop.
bool always_continues(const Infer& n) {
  const Graph& body = n.body(0);
  ValueId c = body.outputs()[0].value;
  auto is_true = [](const Constant& t) { return t && t->get_int(0); };
  if (n.has(1) && !(n.constant(1) && n.constant(1)->get_int(0))) return false;
  return c == body.inputs()[1] || is_true(body[c].constant);
}

void check_one(const Infer& n, const Type* t, std::string_view what) {
  if (!t || t->kind == Kind::Error) return;
  if (t->kind != Kind::Tensor || (is_static(t->shape) && !product(t->shape).is_static(1)))
    n.fail(Code::E0302, fmt::format("{} is {}, it must hold one element", what, to_string(*t)));
}

Dim trips(Infer& n) {
  if (!n.has(0)) return n.fresh();
  auto count = n.content(0);
  if (!count) return n.fresh();
  const Dim d(simplify_index(max((*count)[0], integer(0))));
  return always_continues(n) ? d : n.fresh(d.upper());
}

void infer_loop(Infer& n) {
  check_one(n, n.has(0) ? &n.type(0) : nullptr, "the trip count `M`");
  check_one(n, n.has(1) ? &n.type(1) : nullptr, "the condition of `Loop`");
  if (n.node().bodies.size() != 1) n.fail(Code::E0204, "`Loop` needs a `body`");
  const Graph& body = n.body(0);
  int carried = std::max(n.input_count(), 2) - 2 - static_cast<int>(n.attr_int("captures"));
  int outputs = static_cast<int>(body.outputs().size()) - 1;
  if (carried < 0 || outputs < carried || static_cast<int>(n.types.size()) > outputs)
    n.fail(Code::E0203, fmt::format("`Loop` carries {} values and has {} outputs, its body gives {}", carried,
                                    n.types.size(), outputs));
  if (body.inputs().size() != static_cast<size_t>(std::max(n.input_count(), 2)))
    n.fail(Code::E0203,
           fmt::format("the body of `Loop` takes {} inputs for {}", body.inputs().size(), n.input_count()));
  const Type& next = body.type(body.outputs()[0].value);
  if (next.kind != Kind::Error && next.dtype != DType::b1)
    n.fail(Code::E0301,
           fmt::format("the body of `Loop` gives {} as its condition, it must be one bool", to_string(next)));
  check_one(n, &next, "the condition that the body of `Loop` gives");
  std::optional<Dim> count;
  for (int i = 0; i < static_cast<int>(n.types.size()); ++i) {
    const Type& t = body.type(body.outputs()[1 + i].value);
    if (i < carried) {
      n.output(i, join(n, n.type(2 + i), t));
    } else if (t.kind != Kind::Tensor) {
      n.output(i, Type::error());
    } else {
      if (!count) count = trips(n);
      Shape s = t.shape;
      s.insert(s.begin(), *count);
      n.output(i, t.dtype, s);
    }
  }
}

Meaning loop(const MeaningView&) { return Control{Control::Loop}; }

}  // namespace

Operator declare_loop() {
  return {.name = "Loop",
          .since = {1, 11, 13, 16, 19, 21, 23, 24, 25},
          .inputs = {{"M", kInt64, InputSpec::Optional},
                     {"cond", kBool, InputSpec::Optional},
                     {"v_initial", kTensors, InputSpec::Any}},
          .outputs = {{"v_final_and_scan_outputs", OutputSpec::Variadic}},
          .attributes = {{"body", AttrKind::Graph}, {"captures", 0}},
          .infer = infer_loop,
          .meaning = loop};
}

}  // namespace cameo::ops
