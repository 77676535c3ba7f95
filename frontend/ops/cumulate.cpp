// Cumulate, of cameo's own: CumSum and CumProd along an axis that is long, or as long as a run says.
#include "frontend/ops/cumulate.h"

namespace cameo::ops {
namespace {

void infer_cumulate(Infer& n) {
  NodeView::axis(n.attr_int("axis"), n.rank());
  n.output(0, n.type(0));
}

/// Numbers of the kernel: rows before the axis, the axis, elements after it, and the attributes.
Meaning cumulate_meaning(const MeaningView& n) {
  const int axis = NodeView::axis(n.attr_int("axis"), n.rank());
  Opaque kernel{"cumulate"};
  for (Dim d : {product(n.shape(), 0, axis), n.shape()[axis], product(n.shape(), axis + 1)})
    kernel.numbers.push_back(d.extent());
  for (const char* name : {"product", "exclusive", "reverse"}) kernel.numbers.push_back(integer(n.attr_int(name)));
  kernel.units = product(n.shape()).estimate();
  return kernel;
}

std::vector<Tensor> cumulate_reference(const MeaningView& n, std::span<const Tensor> in) {
  const Tensor& x = in[0];
  const int axis = NodeView::axis(n.attr_int("axis"), x.rank());
  int64_t length = x.dims()[axis], inner = 1;
  for (int a = axis + 1; a < x.rank(); ++a) inner *= x.dims()[a];
  Tensor y(x.dtype(), x.dims());
  for (int64_t row = 0; length && row < x.size() / length; ++row) {
    const auto place = [&](int64_t step) {
      const int64_t i = n.attr_int("reverse") ? length - 1 - step : step;
      return row / inner * length * inner + i * inner + row % inner;
    };
    const auto each_step = [&](auto all, auto get, auto set) {
      for (int64_t step = 0; step < length; ++step) {
        const auto before = all;
        all = n.attr_int("product") ? all * get(place(step)) : all + get(place(step));
        set(place(step), n.attr_int("exclusive") ? before : all);
      }
    };
    if (is_float(x.dtype()))
      each_step(
          static_cast<double>(n.attr_int("product")), [&](int64_t at) { return x.get(at); },
          [&](int64_t at, double value) { y.set(at, value); });
    else  // which wraps
      each_step(
          static_cast<uint64_t>(n.attr_int("product")),
          [&](int64_t at) { return static_cast<uint64_t>(x.get_int(at)); },
          [&](int64_t at, uint64_t value) { y.set_int(at, static_cast<int64_t>(value)); });
  }
  return {y};
}

}  // namespace

Operator declare_cumulate() {
  return {.name = "Cumulate",
          .domain = "cameo",
          .since = {1},
          .inputs = {{"x", kNumbers}},
          .outputs = {{"y"}},
          .attributes = {{"axis", AttrKind::Int}, {"product", 0}, {"exclusive", 0}, {"reverse", 0}},
          .infer = infer_cumulate,
          .meaning = cumulate_meaning,
          .reference = cumulate_reference};
}

}  // namespace cameo::ops
