// The Grouped family: a convolution in groups, a sum of products in which both operands have an axis of the output: `a`
// divides it by the columns of a group. The panels of each group's weights stand one behind the other, and `a` is asked
// for with its channels last and a halo of zeros. A wide group is one of contract's batches; groups of floats that are
// narrower than a vector share a panel, as many as fit. Of 8-bit integers each group has panels of its own, in quads:
// those that are narrow were joined before (rewrites/join_groups.cpp).
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "optimizer/choose/family.h"
#include "optimizer/choose/tiles_of_sums.h"

namespace cameo {
namespace {

// ---- matching

/// The quotient by which `a` finds the group of an output's channel; null where it does not.
Expr group_of_channel(const OutputExpr& out, const ProductMatch& m) {
  Expr group;
  visit(m.a.index(), [&](Expr e) {
    if (e.op() != Op::FloorDiv || !e.arg(1).is_const() || std::ranges::find(out.index, e.arg(0)) == out.index.end())
      return;
    if (!e.arg(0).extent().is_const()) return;
    const int64_t channels = e.arg(0).extent().int_value(), columns = e.arg(1).int_value();
    if (reads_axis(m.b, e.arg(0)) && columns >= 2 && channels % columns == 0) group = e;
  });
  return group;
}

/// How many neighbours along an axis of `a` are a group's; 0: its members are no neighbours.
int64_t members_of(const ProductMatch& m, Expr group) {
  for (Expr index : m.a.index()) {
    const Affine at = affine(index);
    for (Expr f : m.folds)
      if (at.stride_of(group) == Dim(f.extent()) && at.stride_of(f).is_static(1)) return f.extent().int_value();
  }
  return 0;
}

/// How many groups share a panel, such that vectors of any width hold whole groups or lie in one.
int64_t groups_of_panel(int64_t groups, int64_t columns, int64_t members) {
  const auto power_of_two = [](int64_t n) { return (n & (n - 1)) == 0; };
  if (members == 0 || !power_of_two(columns) || !power_of_two(members)) return 1;
  int64_t together = 1;
  while (groups % (2 * together) == 0 && 2 * together * std::max(columns, members) <= rt::kPanel) together *= 2;
  return together;
}

/// A part with `whole * columns + column` in the place of a channel.
OutputPart split_channel(const OutputPart& part, Expr channel, Expr whole, Expr column) {
  const std::vector<Expr> from{channel}, to{whole * column.extent() + column};
  OutputPart split = part;
  split.out.value = simplify_index(substitute(part.out.value, from, to));
  for (Expr& at : split.at) at = simplify_index(substitute(at, from, to));
  return split;
}

struct GroupRoles final : Match {  // wishes: `a`, and `b` in panels
  Expr channel;                    // of the output: its columns of all groups
  int64_t columns_of_group = 0;
  Expr panel, column;  // what a channel is made of in `part`; a panel has one group or several
  OutputPart part;
  ProductMatch product;
};

// ---- the parts of a kernel

/// A panel and the innermost taps of a kernel, as rt::GroupWindow has them.
struct Window {
  int64_t groups = 1;   // of a panel
  int64_t columns = 0;  // of a group
  int64_t taps = 1, row_step = 1, tap_step = 1;
};

Window window_of(const Product& p) {
  constexpr int64_t kMostTaps = 8, kMostStep = 4, kMostProducts = 64;  // written out, of one row
  const Affine a = affine(p.a_offset);
  Window w{1, p.n()};
  for (const Affine::Term& t : a.terms)
    if (t.term.op() == Op::FloorDiv) w.columns = t.term.arg(1).int_value();
  w.groups = p.n() / w.columns;
  if (w.groups == 1 || !p.row || p.segments.empty()) return w;
  const Dim row_stride = a.stride_of(p.row), tap_stride = a.stride_of(p.segments.back());
  if (!row_stride.is_static() || !tap_stride.is_static()) return w;
  const int64_t taps = p.segments.back().extent().int_value(), tap = tap_stride.value();
  const int64_t row = row_stride.value(), unit = std::gcd(row, tap);
  if (unit == 0 || row <= 0 || tap <= 0 || row > kMostStep * unit || tap > kMostStep * unit) return w;
  if (taps > kMostTaps || taps * p.k.extent().int_value() > kMostProducts) return w;
  return {w.groups, w.columns, taps, row / unit, tap / unit};
}

/// Positions at which a tile's rows read, each of which takes a shuffle for each member of a group.
int64_t positions(const Window& w, int64_t rows) { return (rows - 1) * w.row_step + (w.taps - 1) * w.tap_step + 1; }

/// Of a processor's core: the shuffles share the ports of the FMAs.
double cycles_of_shared_panels(const Product& p, const Window& w, const Choice& c, const Target& target) {
  constexpr double kStart = 24;
  const double vectors =
      static_cast<double>(rt::round_up_div(p.n() * static_cast<int64_t>(sizeof(float)), target.vector_bytes));
  const double runs = static_cast<double>(p.terms() / w.taps), rows = static_cast<double>(c["rows"]);
  const double reads = std::min(static_cast<double>(positions(w, c["rows"])), rows * static_cast<double>(w.taps));
  const double run = std::max((rows * static_cast<double>(w.taps) + reads) / target.machine.fmas,
                              (reads + static_cast<double>(w.taps)) / target.machine.loads);
  const double tiles = static_cast<double>(p.batches() * rt::round_up_div(p.m(), c["rows"]));
  return tiles * vectors * (runs * run + 2 * rows + kStart);
}

class Grouped final : public Family {
  static constexpr int64_t kFewestTerms = 4;

 public:
  std::string_view name() const override { return "grouped"; }

  Matched match(const Problem& p) const override {
    if (p.target.is_gpu()) return "it is for processors";
    const Graph& g = p.graph;
    const auto found = match_product(g, p.part.out);
    if (!found || !g[ValueId{found->b.operand()}].constant) return "it is no sum of products with a constant";
    if (std::ranges::any_of(found->folds, [](Expr f) { return !f.extent().is_const(); }))
      return "the sum has no constant length";
    if (points_of(found->folds) < kFewestTerms) return "it has too few terms for a tile";
    const Expr group = group_of_channel(p.part.out, *found);
    if (!group) return "no axis of it is divided into groups";
    const bool of_integers = found->is_integer() && p.target.has_integer_products();
    if (!of_integers && found->a.type() != DType::f32) return "its operands are neither f32 nor integers of 8 bits";

    auto roles = std::make_shared<GroupRoles>();
    const int64_t channels = group.arg(0).extent().int_value();
    roles->channel = group.arg(0);
    roles->columns_of_group = group.arg(1).int_value();
    const int64_t groups = channels / roles->columns_of_group;
    const int64_t together =
        of_integers ? 1 : groups_of_panel(groups, roles->columns_of_group, members_of(*found, group));
    roles->column = var(integer(together * roles->columns_of_group));
    roles->panel = var(integer(channels / roles->column.extent().int_value()));
    roles->part = split_channel(p.part, roles->channel, roles->panel, roles->column);
    const auto split = match_product(g, roles->part.out);
    if (!split) return "its groups are not apart";
    ProductMatch& m = roles->product = *split;
    const auto a = wish_for_a(g, p.layouts, m, std::vector<Expr>{roles->panel, roles->column});
    if (!a) return "its members are not summed as they stand, or it has no border of zeros";
    order_folds(m, *a);
    const ValueId b{m.b.operand()};
    const auto packing = packing_of(g, p.layouts, m, std::span(&roles->panel, 1), roles->column);
    if (!packing || !guard_of(g.type(b).shape, m.b.index()).is_const(1)) return "its weights fit no panels";
    roles->wishes = {*a, in_panels(p.layouts, b, *packing)};
    return roles;
  }

  Lowered lower(const Problem& p, const Match& match) const override {
    const auto& roles = static_cast<const GroupRoles&>(match);
    const bool wide = roles.column.extent().int_value() == roles.columns_of_group;
    std::vector<Expr> axes = axes_in_memory(p.part.out, p.layouts[p.output.index]);
    std::erase(axes, roles.channel);
    // wide groups come one after another, each with weights that stay in the cache; narrow ones pixel by pixel
    axes.insert(wide ? axes.begin() : axes.end(), roles.panel);
    axes.push_back(roles.column);
    LoweredKernel l = lower_product(p.graph, p.layouts, p.output, roles.part, roles.product,
                                    granted(p.graph, p.layouts, roles.wishes[0]), roles.wishes[1], std::move(axes),
                                    std::span(&roles.panel, 1));
    l.kernel.family = this;
    const Expr group_of_column = floor_div(roles.column, integer(roles.columns_of_group));
    if (!take_sum(l.kernel, group_of_column)) return "an operand's offsets are not affine";
    put_panels(l.kernel);
    const Product sum(l.kernel);
    if (sum.zero) {
      Packing& panels = *l.operands[Product::kB].packing;
      panels.form = PanelForm::Quads;
      panels.run = sum.k.extent().int_value();
    }
    if (!wide && affine(sum.a_offset).stride_of(group_of_column) != Dim(sum.k.extent()))
      return "its groups do not lie one behind the other as they stand";
    return l;
  }

  std::vector<Choice> candidates(const Kernel& k, const Target& target) const override {
    const Product p(k);
    const Window w = window_of(p);
    const auto choice = [&](const rt::Tile& tile) -> Choice {
      return {{"rows", tile.rows},
              {"vectors", tile.vectors},
              {"splits", tile.splits},
              {"in_registers", sums_stay_in_registers(k, p)},
              {"lanes", rt::kPanel}};
    };
    std::vector<Choice> all;
    if (w.groups == 1) {
      for (const rt::Tile& tile : tiles_of_sums(p, target)) all.push_back(choice(tile));
      if (p.zero)
        for (const rt::Tile& tile : tiles_of_registers(p, target))
          all.push_back({{"rows", tile.rows},
                         {"vectors", tile.vectors},
                         {"splits", 1},
                         {"in_registers", 0},
                         {"amx", 1},
                         {"lanes", rt::kPanel}});
      return all;
    }
    constexpr int64_t kMostRows = 14, kBeside = 2;  // registers that hold neither sums nor weights
    const int64_t most = std::clamp<int64_t>(target.vector_registers - w.taps - kBeside, 1, kMostRows);
    for (int64_t limit = std::min(most, p.m()); limit > 0; --limit)
      if (const Choice next = choice({static_cast<int>(rt::even_part(p.m(), limit)), 1});
          std::ranges::find(all, next) == all.end())
        all.push_back(next);
    return all;
  }

  double price(const Kernel& k, const KernelCost& cost, const Choice& choice, const Target& target) const override {
    const Product p(k);
    const Window w = window_of(p);
    const double cycles = w.groups > 1 ? cycles_of_shared_panels(p, w, choice, target)
                          : has_tile_registers(choice)
                              ? cycles_of_registers(p, tile_of(choice), target)
                              : cycles_of_tiles(p, tile_of(choice), choice["in_registers"], target);
    return cycles / (target.machine.clock * 1e9) + target.seconds_to_move(cost.bytes);
  }

  bool computes_strips() const override { return true; }
  int64_t chunks(const Kernel& k, const Target& target) const override {
    return chunks_by_products(k, rt::kPanel, target);
  }

  std::string details(const Kernel& k) const override {
    const Product p(k);
    const Window w = window_of(p);
    return fmt::format(" sum [{}]{} tile {}x{}{}{}", text_of_sum(p), p.zero ? " in quads" : "", k.choice["rows"],
                       k.choice["vectors"], w.groups > 1 ? fmt::format(" of {} groups", w.groups) : "",
                       k.choice["in_registers"]       ? " in registers"
                       : has_tile_registers(k.choice) ? " in tile registers"
                                                      : "");
  }

  std::string header(const Kernel& k) const override {
    return window_of(Product(k)).groups == 1 ? "contract" : "grouped";
  }
  std::string_view legend() const override {
    return "contract<R, V, S, P>: a tile of R rows by V vectors of 16 columns of a group; grouped<R, S>: of R rows by "
           "a "
           "vector of several groups; S: its sums stay in registers; P: parts of each sum";
  }
  void print(KernelPrinter& printer, const Kernel& k) const override {
    Product p(k);
    const Window w = window_of(p);
    const bool in_registers = k.choice["in_registers"];
    if (w.groups == 1) {
      const std::string tile = fmt::format("contract<{}, {}, {}, {}>", k.choice["rows"], k.choice["vectors"],
                                           in_registers, k.choice["splits"]);
      const std::string b = b_of(printer, p, p.zero ? kInQuads : kInPanels);
      return print_product(printer, p,
                           {tile, has_tile_registers(k.choice) ? in_tile_registers(p, tile_of(k.choice), b) : b});
    }
    if (w.taps > 1) p.segments.pop_back();
    const std::string window =
        fmt::format("rt::GroupWindow<{}, {}, {}, {}>{{}}, ", w.columns, w.taps, w.row_step, w.tap_step);
    print_product(printer, p,
                  {.function = fmt::format("grouped<{}, {}>", k.choice["rows"], in_registers),
                   .b = b_of(printer, p, kInPanels),
                   .first = window});
  }
};

}  // namespace

const Family& grouped_family() {
  static const Grouped family;
  return family;
}

}  // namespace cameo
