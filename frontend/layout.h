// Layout: where an element of a tensor stands in its buffer. A pitch an axis and an origin say it, so that
// channels-last images, halos and slices are all the same thing; `physical` is an Expr, used by printer, interpreter
// and packer alike.
#pragma once
#include <span>
#include <vector>

#include "frontend/expr.h"
#include "frontend/tensor.h"

namespace cameo {

struct Layout {
  std::vector<int64_t> pitch;  // elements from one index to the next, by axis
  int64_t origin = 0;          // of the element with index 0 everywhere
  int64_t elements = 0;        // of the whole buffer, padding included
  bool operator==(const Layout&) const = default;
};

Layout row_major(std::span<const int64_t> dims);
/// Compact, with the axes in the given order, outermost first.
Layout ordered(std::span<const int64_t> dims, std::span<const int> order);
/// The same order with room for `before[a]` elements in front of axis a and `after[a]` behind it.
Layout with_halo(std::span<const int64_t> dims, std::span<const int> order, std::span<const int64_t> before,
                 std::span<const int64_t> after);
/// The axes from the outermost to the innermost; of equal pitches the lower axis is the outer one.
std::vector<int> order_of(const Layout& l);
bool is_row_major(const Layout& l, std::span<const int64_t> dims);  // axes of extent 1 may have any pitch
Expr physical(const Layout& l, std::span<const Expr> index);
/// A copy of a constant with its elements where `to` wants them (gaps are zero), as a tensor of one axis.
Tensor relaid(const Tensor& t, const Layout& to);
std::string to_string(const Layout& l);

}  // namespace cameo
