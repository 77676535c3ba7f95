// distinct: which rows of x[rows, columns] are equal. They are sorted, column by column, NaN as the largest and equal
// to itself, and equal rows are a group, whose number is its place in that order, or in the order of the first rows.
// For each group `indices` has its first row and `counts` how many it has, for each row `inverse` has its group;
// `count` is that of groups, behind which `indices` and `counts` are zero. A heap of row numbers, in `indices`:
// O(rows log rows) comparisons. One thread does it all.
#pragma once
#include "runtime/kernels/nest.h"
#include "runtime/rt/order.h"

namespace rt {
namespace detail {

/// In `order` the rows as they stand, of equal ones the first in front; gives how many differ.
template <class T>
RT_FN i64 group_rows(i64* inverse, i64* order, const T* x, i64 rows, i64 columns) {
  const auto precedes = [&](i64 a, i64 b) {
    for (i64 c = 0; c < columns; ++c) {
      const auto from_a = load(x, a * columns + c), from_b = load(x, b * columns + c);
      if (ranks_before(from_a, from_b, false)) return true;
      if (ranks_before(from_b, from_a, false)) return false;
    }
    return false;
  };
  return rank_all(inverse, order, rows, precedes);
}

/// Groups get the numbers of the order in which their first rows stand; `numbers` has room for each.
RT_FN void number_by_first(i64* inverse, i64* numbers, i64 rows, i64 groups) {
  for (i64 g = 0; g < groups; ++g) numbers[g] = -1;
  i64 next = 0;
  for (i64 i = 0; i < rows; ++i) {
    i64& number = numbers[inverse[i]];
    if (number < 0) number = next++;
    inverse[i] = number;
  }
}

}  // namespace detail

template <class T>
RT_FN void distinct(const Call& call, i64* indices, i64* inverse, i64* counts, i64* count, const T* x, i64 rows,
                    i64 columns, i64 sorted) {
  if (detail::first_unit(call) != 0) return;
  *count = detail::group_rows(inverse, indices, x, rows, columns);
  if (!sorted) detail::number_by_first(inverse, counts, rows, *count);
  for (i64 g = 0; g < rows; ++g) indices[g] = counts[g] = 0;
  for (i64 i = rows; i-- > 0;) {
    indices[inverse[i]] = i;
    ++counts[inverse[i]];
  }
}

}  // namespace rt
