// Distinct, of cameo's own: which rows of a matrix are equal. Gives the first row of each group of equals, the group of
// each row, how many rows each group has, and how many groups there are; the first and third are as long as there are
// rows, and zero from the number of groups on. Groups stand in the order of their rows, column by column, or, where
// `sorted` is 0, in that of their first rows.
#include <algorithm>
#include <numeric>

#include "frontend/ops/operands.h"
#include "frontend/ops/order.h"

namespace cameo::ops {
namespace {

void infer_distinct(Infer& n) {
  if (n.rank() != 2) n.fail(Code::E0302, "X is " + to_string(n.type(0)) + ", not a matrix");
  for (int i = 0; i < 3; ++i) n.output(i, DType::i64, {n.shape()[0]});
  n.output(3, DType::i64, {1});
}

/// Numbers of the kernel: rows, columns, and whether groups are sorted.
Meaning distinct(const MeaningView& n) {
  Opaque kernel{"distinct"};
  kernel.numbers = {n.shape()[0].extent(), n.shape()[1].extent(), integer(n.attr_int("sorted"))};
  kernel.host_only = true;
  return kernel;
}

/// The numbers of the rows, each group's behind the other's.
std::vector<std::vector<int64_t>> groups_of(const Tensor& x) {
  const int64_t rows = x.dims()[0], columns = x.dims()[1];
  const auto precedes = [&](int64_t a, int64_t b) {
    for (int64_t c = 0; c < columns; ++c) {
      if (element_before(x, a * columns + c, b * columns + c, false)) return true;
      if (element_before(x, b * columns + c, a * columns + c, false)) return false;
    }
    return false;
  };
  std::vector<int64_t> order(static_cast<size_t>(rows));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, precedes);
  std::vector<std::vector<int64_t>> groups;
  for (int64_t row : order) {
    if (groups.empty() || precedes(groups.back()[0], row)) groups.emplace_back();
    groups.back().push_back(row);
  }
  return groups;
}

std::vector<Tensor> distinct_reference(const MeaningView& n, std::span<const Tensor> in) {
  std::vector<std::vector<int64_t>> groups = groups_of(in[0]);
  if (!n.attr_int("sorted")) std::ranges::sort(groups);
  const std::vector<int64_t> rows{in[0].dims()[0]};
  Tensor indices(DType::i64, rows), inverse(DType::i64, rows), counts(DType::i64, rows), count(DType::i64, {1});
  count.set_int(0, static_cast<int64_t>(groups.size()));
  for (size_t g = 0; g < groups.size(); ++g) {
    const auto at = static_cast<int64_t>(g);
    indices.set_int(at, groups[g][0]);
    counts.set_int(at, static_cast<int64_t>(groups[g].size()));
    for (int64_t row : groups[g]) inverse.set_int(row, at);
  }
  return {indices, inverse, counts, count};
}

}  // namespace

Operator declare_distinct() {
  return {.name = "Distinct",
          .domain = "cameo",
          .since = {1},
          .inputs = {{"X", kNumbers | kBool}},
          .outputs = {{"indices"}, {"inverse_indices"}, {"counts"}, {"count"}},
          .attributes = {{"sorted", 1}},
          .infer = infer_distinct,
          .meaning = distinct,
          .reference = distinct_reference};
}

}  // namespace cameo::ops
