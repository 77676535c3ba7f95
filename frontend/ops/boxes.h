// What NonMaxSuppression takes: boxes [batches, boxes, 4], scores [batches, classes, boxes], and up to three numbers.
#pragma once
#include <fmt/format.h>

#include "frontend/ops/operands.h"

namespace cameo::ops {

inline void check_boxes(const Infer& n) {
  for (int i : {0, 1})
    if (n.rank(i) != 3)
      n.fail(Code::E0302,
             fmt::format("`{}` is {}, it must have three axes", i ? "scores" : "boxes", to_string(n.type(i))));
  const Shape &boxes = n.shape(0), &scores = n.shape(1);
  if (!n.agree(boxes[2], 4) || !n.agree(boxes[0], scores[0]) || !n.agree(boxes[1], scores[2]))
    n.fail(Code::E0302, fmt::format("`boxes` is {} and `scores` {}, they must be [batches, boxes, 4] and "
                                    "[batches, classes, boxes]",
                                    to_string(n.type(0)), to_string(n.type(1))));
  for (int i = 2; i < 5; ++i) check_scalar(n, i);
  const Tensor* share = n.has(3) ? n.constant(3) : nullptr;
  if (share && !(share->get(0) >= 0 && share->get(0) <= 1))
    n.fail(Code::E0304, fmt::format("`iou_threshold` is {}, not 0 to 1", share->get(0)));
}

}  // namespace cameo::ops
