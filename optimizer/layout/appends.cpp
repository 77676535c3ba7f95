// See appends.h.
#include "optimizer/layout/appends.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "optimizer/layout/regions.h"

namespace cameo {
namespace {

/// From 0 to what the output has at most along the axis; one symbol for all that are equally long, so that equal layers
/// have equal kernels.
Expr room_of(const Dim& length, Expr most) {
  return symbol(fmt::format("room behind {}", to_string(length)), {0, range_of(most).high}, is_open(most));
}

/// The only axis along which they differ; nullopt where there is none, or several.
std::optional<uint32_t> axis_that_grows(const Shape& from, const Shape& to) {
  std::optional<uint32_t> axis;
  for (uint32_t a = 0; a < from.size(); ++a) {
    if (from[a] == to[a]) continue;
    if (axis || from[a].is_static()) return std::nullopt;
    axis = a;
  }
  return axis;
}

/// The input that stands at the beginning of an output, whole.
std::optional<uint32_t> input_in_front(const Graph& g, const OutputExpr& out, const Layout& made) {
  for (const OutputPart& region : split_output(out)) {
    const auto copied = copied_value(g, region);
    const auto input = copied ? std::ranges::find(g.inputs(), *copied) : g.inputs().end();
    if (input != g.inputs().end() && layout_within(region, made).base_offset.is_static(0))
      return static_cast<uint32_t>(input - g.inputs().begin());
  }
  return std::nullopt;
}

class Finder {
 public:
  Finder(const Graph& g, std::vector<Layout>& made) : g_(g), made_(made) {}

  std::vector<Append> find(std::span<const FusedCluster> clusters) {
    for (const FusedCluster& c : clusters)
      for (size_t i = 0; i < c.outputs.size(); ++i) {
        add(c.cluster.outputs[i], c.outputs[i]);
        if (!appends_.empty()) follow(c.cluster.outputs[i], c.outputs[i]);
      }
    return std::move(appends_);
  }

 private:
  const Shape& shape(ValueId v) const { return g_.type(v).shape; }
  bool is_compact(ValueId v) const { return made_[v.index] == ordered(shape(v), made_[v.index].order); }
  bool is_plain(ValueId v) const { return is_row_major(made_[v.index], shape(v)); }

  void add(ValueId v, const OutputExpr& out) {
    const auto gives = [&](ValueId value) {
      return std::ranges::count_if(g_.outputs(), [&](const Port& p) { return p.value == value; });
    };
    if (is_static(shape(v)) || is_packed(g_.type(v).dtype) || !is_plain(v) || gives(v) != 1) return;
    const auto number = input_in_front(g_, out, made_[v.index]);
    if (!number) return;
    const ValueId u = g_.inputs()[*number];
    const auto axis = axis_that_grows(shape(u), shape(v));
    const bool taken = std::ranges::any_of(appends_, [&](const Append& a) { return a.input == *number; });
    if (!axis || taken || gives(u) || !is_plain(u)) return;
    const auto port = std::ranges::find_if(g_.outputs(), [&](const Port& p) { return p.value == v; });
    const Expr most = shape(v)[*axis].extent();
    appends_.push_back({*number, static_cast<uint32_t>(port - g_.outputs().begin()), *axis,
                        room_of(shape(u)[*axis], most), room_of(shape(v)[*axis], most)});
    give_room(u, *axis, appends_.back().input_room);
    give_room(v, *axis, appends_.back().output_room);
  }

  /// What only hands on a value that has room stands where that does.
  void follow(ValueId v, const OutputExpr& out) {
    const Expr load = out.value;
    if (load.op() != Op::Load || load.checked() || !is_compact(v)) return;
    const ValueId from{load.operand()};
    if (is_compact(from) || std::ranges::any_of(g_.outputs(), [&](const Port& p) { return p.value == v; })) return;
    std::vector<Expr> units, zeros;
    for (Expr axis : out.index)
      if (axis.extent().is_const(1)) units.push_back(axis), zeros.push_back(integer(0));
    const Expr place = simplify_index(substitute(physical(made_[from.index], load.index()), units, zeros));
    const Affine at = affine(place);
    Layout l{{}, size_in(at), made_[from.index].elements, made_[v.index].order};
    Expr rest = place - l.base_offset.extent();
    for (Expr axis : out.index) {
      l.pitch.push_back(axis.extent().is_const(1) ? Dim(1) : at.stride_of(axis));
      if (!axis.extent().is_const(1)) rest = rest - axis * l.pitch.back().extent();
    }
    if (simplify_index(rest).is_const(0)) made_[v.index] = l;
  }

  void give_room(ValueId v, uint32_t axis, Expr room) {
    Shape larger = shape(v);
    larger[axis] = larger[axis] + Dim(room);
    made_[v.index] = row_major(larger);
  }

  const Graph& g_;
  std::vector<Layout>& made_;
  std::vector<Append> appends_;
};

}  // namespace

std::vector<Append> make_room(const Graph& g, std::span<const FusedCluster> clusters, std::vector<Layout>& made) {
  return Finder(g, made).find(clusters);
}

Expr must_copy(const Append& a) { return integer(1) - min(integer(1), a.input_room); }

}  // namespace cameo
