// Layout: where an element of a tensor stands in its buffer. A pitch an axis and a base offset say it, so that
// channels-last images, halos and slices are all the same thing; `physical` is an Expr, used by printer, interpreter
// and packer alike. Where dims are sizes that only a run knows, pitches are, too.
#pragma once
#include <span>
#include <vector>

#include "frontend/ir/expr.h"
#include "frontend/ir/tensor.h"

namespace cameo {

struct Layout {
  Shape pitch;             // elements from one index to the next, by axis
  Dim base_offset = 0;     // of the element with index 0 everywhere
  Dim elements = 0;        // of the whole buffer, padding included
  std::vector<int> order;  // the axes from the outermost to the innermost
  /// Every element stands in the same place.
  bool operator==(const Layout& o) const {
    return pitch == o.pitch && base_offset == o.base_offset && elements == o.elements;
  }
};

Layout row_major(const Shape& dims);
/// Compact, with the axes in the given order, outermost first.
Layout ordered(const Shape& dims, std::span<const int> order);
/// The same order with room for `before[a]` elements in front of axis a and `after[a]` behind it.
Layout with_halo(const Shape& dims, std::span<const int> order, std::span<const int64_t> before,
                 std::span<const int64_t> after);
bool is_static(const Layout& l);
bool is_row_major(const Layout& l, const Shape& dims);  // axes of extent 1 may have any pitch
Expr physical(const Layout& l, std::span<const Expr> index);
/// A copy of a constant with its elements where `to` wants them (gaps are zero), as a tensor of one axis.
Tensor relaid(const Tensor& t, const Layout& to);
std::string to_string(const Layout& l);

}  // namespace cameo
