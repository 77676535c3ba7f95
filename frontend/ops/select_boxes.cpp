// SelectBoxes, of cameo's own: NonMaxSuppression with all of its operands, in as many rows as there can be, and the
// number of those that are selected; the others are zero. `is_bounded`: only scores above the threshold count. The last
// output is room to work in, zero in the end.
#include <algorithm>

#include "frontend/ops/boxes.h"
#include "frontend/ops/order.h"

namespace cameo::ops {
namespace {

/// How many boxes a class can have.
Dim most_of_class(const NodeView& n) {
  const Dim boxes = n.shape(0)[1];
  const auto most = n.content(2);
  return most ? dim_of(min(boxes.extent(), max((*most)[0], integer(0)))) : boxes;
}

void infer_select_boxes(Infer& n) {
  check_boxes(n);
  const Shape& scores = n.shape(1);
  n.output(0, DType::i64, {product({scores[0], scores[1], most_of_class(n)}), 3});
  n.output(1, DType::i64, {1});
  n.output(2, DType::i64, {n.shape(0)[1]});
}

/// Numbers of the kernel: batches, classes, boxes, rows, and its two modes.
Meaning select_boxes(const MeaningView& n) {
  Opaque kernel{"non_max_suppression"};
  for (Dim d : n.shape(1)) kernel.numbers.push_back(d.extent());
  kernel.numbers.push_back(n.out_shape()[0].extent());
  for (const char* mode : {"center_point_box", "is_bounded"}) kernel.numbers.push_back(integer(n.attr_int(mode)));
  kernel.host_only = true;
  return kernel;
}

struct Span {
  float low, high;
  float length() const { return high - low; }
};

Span span_of(const float* box, int axis, bool is_centred) {
  const float a = box[axis], b = box[axis + 2];
  if (is_centred) return {a - b / 2, a + b / 2};
  return a > b ? Span{b, a} : Span{a, b};
}
Span shared(Span a, Span b) { return {a.low > b.low ? a.low : b.low, a.high < b.high ? a.high : b.high}; }

bool overlap(const float* a, const float* b, float share, bool is_centred) {
  const Span ax = span_of(a, 1, is_centred), bx = span_of(b, 1, is_centred), x = shared(ax, bx);
  const Span ay = span_of(a, 0, is_centred), by = span_of(b, 0, is_centred), y = shared(ay, by);
  if (x.high <= x.low || y.high <= y.low) return false;
  const float area = x.length() * y.length();
  const float area_a = ax.length() * ay.length(), area_b = bx.length() * by.length();
  const float whole = area_a + area_b - area;
  if (area <= 0 || area_a <= 0 || area_b <= 0 || whole <= 0) return false;
  return area / whole > share;
}

/// The boxes of one class that are selected, in order.
std::vector<int64_t> selected(const MeaningView& n, std::span<const Tensor> in, const float* boxes,
                              std::span<const float> scores) {
  const int64_t most = in[2].get_int(0);
  const bool is_centred = n.attr_int("center_point_box"), is_bounded = n.attr_int("is_bounded");
  std::vector<int64_t> order, taken;
  for (size_t i = 0; i < scores.size(); ++i)
    if (!is_bounded || scores[i] > in[4].as<float>()[0]) order.push_back(static_cast<int64_t>(i));
  std::ranges::stable_sort(order, [&](int64_t a, int64_t b) { return ranks_before(scores[a], scores[b], true); });
  for (int64_t i : order) {
    if (std::ssize(taken) >= most) break;
    const auto covers = [&](int64_t t) {
      return overlap(boxes + i * 4, boxes + t * 4, in[3].as<float>()[0], is_centred);
    };
    if (std::ranges::none_of(taken, covers)) taken.push_back(i);
  }
  return taken;
}

std::vector<Tensor> select_boxes_reference(const MeaningView& n, std::span<const Tensor> in) {
  const int64_t batches = in[1].dims()[0], classes = in[1].dims()[1], length = in[1].dims()[2];
  const int64_t of_class = n.content(2) ? std::clamp<int64_t>(in[2].get_int(0), 0, length) : length;
  Tensor rows(DType::i64, {batches * classes * of_class, 3}), count(DType::i64, {1}), order(DType::i64, {length});
  int64_t found = 0;
  for (int64_t u = 0; u < batches * classes; ++u) {
    const float* boxes = in[0].as<float>().data() + u / classes * length * 4;
    for (int64_t box : selected(n, in, boxes, in[1].as<float>().subspan(u * length, length))) {
      const int64_t row[] = {u / classes, u % classes, box};
      for (int64_t i = 0; i < 3; ++i) rows.set_int(found * 3 + i, row[i]);
      ++found;
    }
  }
  count.set_int(0, found);
  return {rows, count, order};
}

}  // namespace

Operator declare_select_boxes() {
  const DTypes f32(DType::f32);
  return {.name = "SelectBoxes",
          .domain = "cameo",
          .since = {1},
          .inputs = {{"boxes", f32},
                     {"scores", f32},
                     {"max_output_boxes_per_class", kInt64},
                     {"iou_threshold", f32},
                     {"score_threshold", f32}},
          .outputs = {{"selected_indices"}, {"count"}, {"order"}},
          .attributes = {{"center_point_box", 0}, {"is_bounded", 1}},
          .infer = infer_select_boxes,
          .meaning = select_boxes,
          .reference = select_boxes_reference};
}

}  // namespace cameo::ops
