// TensorScatter: a cache with the update in place of a stretch of one axis, which begins where `write_indices` says for
// each of the batch; `circular` goes on at the beginning.
#include <fmt/format.h>

#include "frontend/ops/operands.h"

namespace cameo::ops {
namespace {

enum CacheInput { PastCache, Update, WriteIndices };

bool is_circular(const NodeView& n) {
  const std::string mode = n.attr_string("mode");
  if (mode != "linear" && mode != "circular") n.fail(Code::E0204, fmt::format("`mode` is `{}`", printable(mode)));
  return mode == "circular";
}
int cache_axis(const NodeView& n) {
  const int axis = NodeView::axis(n.attr_int("axis"), n.rank());
  if (axis == 0) n.fail(Code::E0304, "`axis` is 0, that of the batch");
  return axis;
}

void infer_tensor_scatter(Infer& n) {
  const int axis = cache_axis(n);
  is_circular(n);
  if (n.rank(Update) != n.rank()) n.fail(Code::E0302, fmt::format("`update` is {}", to_string(n.type(Update))));
  Shape update = n.shape();
  update[axis] = n.shape(Update)[axis];
  check_shape(n, Update, update, "as the cache but for `axis`");
  if (!n.fits(update[axis], n.shape()[axis]))
    n.fail(Code::E0302, fmt::format("an update of {} elements of a cache of {}", to_string(update[axis]),
                                    to_string(n.shape()[axis])));
  check_shape(n, WriteIndices, {n.shape()[0]}, "an index for each of the batch");
  n.output(0, n.type(PastCache));
}

Meaning tensor_scatter(const MeaningView& n) {
  const int axis = cache_axis(n);
  Scatter s;
  s.start.index = n.index();
  s.start.value = n.load(PastCache, s.start.index);
  s.over = MeaningView::index_of(n.shape(Update));
  s.to = s.over;
  if (n.has(WriteIndices)) s.to[axis] = n.load(WriteIndices, {s.over[0]}) + s.over[axis];
  if (is_circular(n)) s.to[axis] = mod(s.to[axis], n.shape()[axis].extent());
  s.update = n.load(Update, s.over);
  return s;
}

}  // namespace

Operator declare_tensor_scatter() {
  return {.name = "TensorScatter",
          .since = {24},
          .inputs = {{"past_cache"},
                     {"update", kTensors, InputSpec::Required, PastCache},
                     {"write_indices", kInt64, InputSpec::Optional}},
          .outputs = {{"present_cache"}},
          .attributes = {{"axis", -2}, {"mode", "linear"}},
          .infer = infer_tensor_scatter,
          .meaning = tensor_scatter};
}

}  // namespace cameo::ops
