// NonMaxSuppression: rows {batch, class, box} of the boxes of each class in descending order of their scores, without
// those that overlap one selected before. `SelectBoxes` selects them, and their number decides the rows. Without a
// score_threshold all scores count, and without max_output_boxes_per_class there is no box.
#include "frontend/ir/build.h"
#include "frontend/ops/boxes.h"

namespace cameo::ops {
namespace {

void infer_non_max_suppression(Infer& n) {
  check_boxes(n);
  n.output(0, DType::i64, {n.fresh(product(n.shape(1)).upper()), 3});
}

Meaning non_max_suppression(const MeaningView& n) {
  Build b(n);
  const auto operand = [&](int i, DType t) { return n.has(i) ? b.in(i) : b.scalar(t, 0); };
  const auto selected =
      b.graph().add(get_operator("SelectBoxes", "cameo"),
                    {b.in(0), b.in(1), operand(2, DType::i64), operand(3, DType::f32), operand(4, DType::f32)},
                    {{"center_point_box", n.attr_int("center_point_box")}, {"is_bounded", int64_t{n.has(4)}}});
  const ValueId rows = selected[0], count = selected[1];
  b.graph().decide(count, Interval{0, b.type(rows).shape[0].upper()});
  return b.outputs({b.graph().add(get_operator("First", "cameo"), {rows, count})[0]});
}

}  // namespace

Operator declare_non_max_suppression() {
  const DTypes f32(DType::f32);
  return {.name = "NonMaxSuppression",
          .since = {10, 11},
          .inputs = {{"boxes", f32},
                     {"scores", f32},
                     {"max_output_boxes_per_class", kInt64, InputSpec::Optional},
                     {"iou_threshold", f32, InputSpec::Optional},
                     {"score_threshold", f32, InputSpec::Optional}},
          .outputs = {{"selected_indices"}},
          .attributes = {{"center_point_box", 0}},
          .infer = infer_non_max_suppression,
          .meaning = non_max_suppression};
}

}  // namespace cameo::ops
