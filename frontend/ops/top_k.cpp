// TopK: the k largest or smallest along an axis, in order; of equals the one with the lower index comes first.
// NaN counts as larger than every number.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "frontend/ops/operands.h"
#include "frontend/ops/order.h"

namespace cameo::ops {
namespace {

/// The size of the result: an attribute in version 1, then an input that may be data.
Dim count(Infer& n, const Dim& along) {
  if (n.version() < 10) return n.attr_int("k");
  if (!n.has(1)) n.fail(Code::E0203, "`TopK` has no `K`");
  if (n.rank(1) != 1 || !n.agree(n.shape(1)[0], 1))
    n.fail(Code::E0302, fmt::format("`K` is {}, it must hold one element", to_string(n.type(1))));
  const Expr k = elements(n, 1)[0];
  if (!n.fits(0, Dim(k)) || !n.fits(Dim(k), along))
    n.fail(Code::E0304, fmt::format("the top {} of {} elements", to_string(Dim(k)), to_string(along)));
  return is_any(k) ? dim_of(max(min(k, along.extent()), integer(0))) : Dim(k);
}

void infer_top_k(Infer& n) {
  if (n.rank() == 0) n.fail(Code::E0302, "X is a scalar");
  int axis = NodeView::axis(n.attr_int("axis"), n.rank());
  Shape s = n.shape();
  Dim k = count(n, s[axis]);
  if (!n.fits(0, k) || !n.fits(k, s[axis]))
    n.fail(Code::E0304, fmt::format("the top {} of {} elements", to_string(k), to_string(s[axis])));
  s[axis] = k;
  n.output(0, n.dtype(), s);
  n.output(1, DType::i64, s);
}

/// Numbers of the kernel: rows before the axis, the axis, elements after it, k, and whether the largest come first.
Meaning top_k(const MeaningView& n) {
  int axis = NodeView::axis(n.attr_int("axis"), n.rank());
  Opaque kernel{"top_k"};
  for (Dim d : {product(n.shape(), 0, axis), n.shape()[axis], product(n.shape(), axis + 1), n.out_shape()[axis]})
    kernel.numbers.push_back(d.extent());
  kernel.numbers.push_back(integer(n.attr_int("largest")));
  kernel.units = product(n.shape()).estimate();
  return kernel;
}

std::vector<Tensor> top_k_reference(const MeaningView& n, std::span<const Tensor> in) {
  const Tensor& x = in[0];
  int axis = NodeView::axis(n.attr_int("axis"), x.rank());
  bool largest = n.attr_int("largest");
  int64_t k = n.version() < 10 ? n.attr_int("k") : in[1].get_int(0), length = x.dims()[axis], inner = 1;
  if (k < 0 || k > length) n.fail(Code::E0304, fmt::format("the top {} of {} elements", k, length));
  for (int a = axis + 1; a < x.rank(); ++a) inner *= x.dims()[a];
  auto dims = x.dims();
  dims[axis] = k;
  Tensor values(x.dtype(), dims), indices(DType::i64, dims);
  int64_t outer = values.size() ? x.size() / (length * inner) : 0;
  size_t bytes = byte_size(x.dtype());
  std::vector<int64_t> order(length);
  for (int64_t row = 0; row < outer * inner; ++row) {
    int64_t base = row / inner * length * inner + row % inner, to = row / inner * k * inner + row % inner;
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      int64_t at = base + a * inner, bt = base + b * inner;
      return element_before(x, at, bt, largest) || (a < b && !element_before(x, bt, at, largest));
    });
    for (int64_t i = 0; i < k; ++i) {
      indices.set_int(to + i * inner, order[i]);
      std::memcpy(values.mutable_bytes().data() + (to + i * inner) * bytes,
                  x.bytes().data() + (base + order[i] * inner) * bytes, bytes);
    }
  }
  return {values, indices};
}

}  // namespace

Operator declare_top_k() {
  return {.name = "TopK",
          .since = {1, 10, 11, 24},
          .inputs = {{"X", kNumbers}, {"K", kInt64, InputSpec::Optional}},
          .outputs = {{"Values"}, {"Indices"}},
          .attributes = {{"axis", -1}, {"k", AttrKind::Int}, {"largest", 1, 11}, {"sorted", 1, 11}},
          .infer = infer_top_k,
          .meaning = top_k,
          .reference = top_k_reference};
}

}  // namespace cameo::ops
