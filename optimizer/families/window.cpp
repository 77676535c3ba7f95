// The Window family: a fold whose columns are read along memory (a depthwise convolution, a pool) and whose rows share
// weights or overlap, for a tile of rows at a time with the columns in lanes. What it reads outside of a value is asked
// for as a halo, so that no guard is left in the body.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <ranges>
#include <set>

#include "optimizer/choose/family.h"
#include "optimizer/layout/sum_of_products.h"
#include "optimizer/work.h"
#include "runtime/kernels/window_shape.h"

namespace cameo {
namespace {

/// Of 8-bit integers the kernel has what does not leave 8 bits.
bool is_folded(DType t, FoldKind kind) {
  if (is_8_bits(t)) return kind == FoldKind::Min || kind == FoldKind::Max;
  return t == DType::f32 && kind <= FoldKind::Max;
}

/// The only fold of a value, over one or more variables.
Expr only_fold(Expr value) {
  Expr found;
  bool other = false;
  std::vector<Expr> roots{value};
  visit(roots, [&](Expr e) {  // arguments first
    if (e.op() != Op::Fold) return;
    other |= found && !(e.arg(1) == found && e.fold_kind() == found.fold_kind());
    found = e;
  });
  if (!found || other || !is_folded(found.type(), found.fold_kind())) return {};
  const FoldNest nest = unfold(found);
  return std::ranges::all_of(nest.variables, [](Expr v) { return is_size(v.extent()); }) ? found : Expr();
}

/// Whether a sum of products has its columns in lanes, which the Contract family multiplies then.
bool has_columns_in_lanes(const Problem& p, Expr column) {
  const auto product = match_contract(p.graph, p.part.out);
  return product && p.part.out.index[static_cast<size_t>(product->n_axis)] == column;
}

/// How a value should stand that the body reads, but not along memory as the column moves: with the axis last that
/// moves with it. Nullopt: as it was made.
std::optional<std::vector<int>> order_along(const Problem& p, Expr load, Expr column) {
  const ValueId v{load.operand()};
  const Layout& made = p.layouts[v.index];
  if (p.graph[v].constant || affine(physical(made, load.index())).stride_of(column).is_static(1)) return std::nullopt;
  const auto axis =
      std::ranges::find_if(made.order, [&](int d) { return depends_on(load.index()[static_cast<size_t>(d)], column); });
  return axis == made.order.end() ? std::nullopt : std::optional(with_last(made.order, *axis));
}

/// What the body reads outside of values is wished for as halos of them, and what it reads across memory in another
/// order; nullopt where it reads what cannot stand so.
std::optional<std::vector<Operand>> wishes_of(const Problem& p, Expr fold, Expr column) {
  constexpr double kOften = 5;  // what few channels read once each is as soon fetched apart
  const Graph& g = p.graph;
  const Expr value = p.part.out.value;
  const double points = static_cast<double>(points_of(p.part.out.index));
  const bool may_relay = !p.target.is_gpu() && !has_columns_in_lanes(p, column);
  std::vector<Operand> wishes;
  bool all = true;
  visit(std::vector<Expr>{unfold(fold).body}, [&](Expr e) {
    if (e.op() != Op::Load) return;
    const ValueId v{e.operand()};
    const Layout& made = p.layouts[v.index];
    auto order = may_relay ? order_along(p, e, column) : std::nullopt;
    if (order && !is_read_again(g, v, value, points, kOften)) order.reset();
    const Layout layout = order ? ordered(g.type(v).shape, *order) : made;
    const bool reads_outside = !guard_of(g.type(v).shape, e.index()).is_const(1);
    if (!order && !reads_outside) return;
    auto wish = halo_of(g, e, layout);
    all &= wish && !g[v].constant && !e.checked();
    if (!all) return;
    wish->layout = with_halo(g.type(v).shape, wish->order, wish->before, wish->after);
    wishes.push_back(std::move(*wish));
  });
  return all ? std::optional(wishes) : std::nullopt;
}

/// Whether the body reads along memory as the column moves, and does so at all.
bool reads_along_memory(const Problem& p, std::span<const Operand> wishes, Expr body, Expr column) {
  Reads reads;
  visit(std::vector<Expr>{body}, [&](Expr e) {
    if (e.op() != Op::Load) return;
    const auto wish = std::ranges::find(wishes, ValueId{e.operand()}, &Operand::value);
    const Layout layout = wish == wishes.end() ? operand_along(p.graph, p.layouts, e, column).layout : wish->layout;
    reads.count(physical(layout, e.index()), column);
  });
  return reads.contiguous && !reads.strided;
}

/// Rows in blocks, each for all indices of the axis before them, where that makes them of the same elements: what the
/// caches cannot hold is read once, not once for each channel that a convolution makes.
void block_rows(const Problem& p, LoweredKernel& l) {
  constexpr int64_t kLargest = 16, kSmallest = 4;
  Kernel& k = l.kernel;
  if (p.target.is_gpu() || k.axes.size() < 3) return;
  const size_t rows = k.axes.size() - 2;
  const Expr shared = k.axes[rows - 1], extent = k.axes[rows].extent();
  bool is_large = false;
  visit(std::vector{k.stores[0].value}, [&](Expr e) {
    if (e.op() != Op::Read || depends_on(e.offset(), shared)) return;
    const Type& type = p.graph.type(l.operands[e.operand()].value);
    is_large |= product(type.shape).estimate() * byte_size(type.dtype) > p.target.machine.l2_bytes / 2;
  });
  if (!is_large || !extent.is_const() || extent.int_value() <= kLargest) return;
  int64_t block = kLargest;
  while (extent.int_value() % block) --block;
  if (block < kSmallest) return;
  const Expr outer = split_axis(k, rows, integer(block));
  k.axes.erase(std::ranges::find(k.axes, outer));
  k.axes.insert(k.axes.begin() + static_cast<long>(rows) - 1, outer);
}

class Window final : public Family {
 public:
  std::string_view name() const override { return "window"; }
  double efficiency() const override { return 0.3; }

  Matched match(const Problem& p) const override {
    constexpr int64_t kFewest = 4;                      // columns, and taps
    constexpr int64_t kMostTerms = 64 * rt::kSumBlock;  // of a sum that is taken without blocks
    const DType stored = p.graph.type(p.output).dtype;
    const bool of_processor = stored == DType::bf16 || is_8_bits(stored);
    if (stored != DType::f32 && (!of_processor || p.target.is_gpu())) return "its elements are not f32";
    const Expr fold = only_fold(p.part.out.value);
    if (!fold) return "it has no fold, or several";
    const int64_t taps = points_of(unfold(fold).variables);
    if (fold.fold_kind() == FoldKind::Sum && taps > kMostTerms) return "its sums are long, and are taken in blocks";
    std::vector<Expr> axes = axes_in_memory(p.part.out, p.layouts[p.output.index]);
    std::erase_if(axes, [](Expr axis) { return axis.extent().is_const(1); });
    if (axes.size() < 2) return "it has no rows";
    auto wishes = wishes_of(p, fold, axes.back());
    if (!wishes) return "it reads outside of a value where no border can stand";
    const bool worth = Dim(axes.back().extent()).estimate() >= kFewest && taps >= kFewest;
    if (!worth || !reads_along_memory(p, *wishes, unfold(fold).body, axes.back()))
      return "its columns are not read along memory, or they or its taps are few";
    auto matched = std::make_shared<Match>();
    matched->wishes = std::move(*wishes);
    return matched;
  }

  Lowered lower(const Problem& p, const Match& match) const override {
    LoweredKernel l;
    Lowering lowering(p.graph, p.layouts, l);
    Kernel& k = l.kernel;
    k.family = this;
    const Layout& layout = p.layouts[p.output.index];
    k.axes = axes_in_memory(p.part.out, layout);
    const uint32_t y = lowering.operand(as_made(p.layouts, p.output));
    for (const Operand& wish : match.wishes) lowering.operand(granted(p.graph, p.layouts, wish));
    k.stores.push_back({y, physical(layout, p.part.at), boolean(true),
                        collapse_folds(lowering.lower(p.part.out.value, last_moving(k.axes)))});
    drop_unit_axes(k);
    collapse_axes(k, 1);
    block_rows(p, l);
    k.accumulated = only_fold(k.stores[0].value);
    if (k.axes.size() < 2 || !k.accumulated) return "it has no rows";
    put_shared_tap_last(k, p.target);
    k.stores[0].value =
        rewrite(k.stores[0].value, [&](Expr e) { return e == k.accumulated ? make(Op::Acc, e.type(), {}) : e; });
    return l;
  }

  /// More rows than that of the rule of thumb would leave what taps read no registers. A last tap of few is written
  /// out: its rows share what they read.
  std::vector<Choice> candidates(const Kernel& k, const Target& target) const override {
    const bool may_be_written = has_few_taps(k);
    std::vector<Choice> all;
    const auto add = [&](int64_t rows, bool written) {
      const Choice c{{"rows", rows}, {"written", written}, {"lanes", lanes_of(k, target)}};
      if (std::ranges::find(all, c) == all.end()) all.push_back(c);
    };
    const int64_t thumb = rows_of_thumb(k, target);
    add(thumb, may_be_written);
    for (int64_t limit = thumb; limit > 0; --limit)
      for (const bool written : {true, false})
        if (may_be_written || !written) add(rt::even_part(rows_of_tiles(k), limit), written);
    return all;
  }

  /// A processor's columns stand in vectors; what is left of floats takes as long as one, of bytes one of each half
  /// that it has. What a pool's tiles read from beyond the caches is not in the order of memory, which takes twice as
  /// long.
  double price(const Kernel& k, const KernelCost& cost, const Choice& choice, const Target& target) const override {
    const int64_t columns = Dim(k.axes.back().extent()).estimate();
    const int64_t computed = target.is_gpu() ? columns : vectors_of(columns, choice["lanes"]) * choice["lanes"];
    const double padding = static_cast<double>(computed) / static_cast<double>(columns);
    const Choice thumb = candidates(k, target).front();
    const double ratio = padding * cycles_of(k, choice, target) / cycles_of(k, thumb, target);
    const bool is_pool = k.accumulated.fold_kind() != FoldKind::Sum &&
                         std::ranges::none_of(k.axes, [](Expr axis) { return is_open(axis.extent()); });
    const bool from_memory = is_pool && !target.is_gpu() && cost.bytes > static_cast<double>(target.machine.l3_bytes);
    const double waiting = from_memory ? target.seconds_to_move(cost.bytes) : 0;
    if (is_8_bits(k.accumulated.type())) {
      const double columns_of_tiles = static_cast<double>(computed / choice["lanes"] * points_of(k.axes) / columns) /
                                      static_cast<double>(rows_of(k));
      const double cycles = columns_of_tiles * cycles_of(k, choice, target);
      return cycles / (target.machine.clock * 1e9) + target.seconds_to_move(cost.bytes) + waiting;
    }
    return scaled(Family::price(k, cost, choice, target), ratio, target) + waiting;
  }

  bool computes_strips() const override { return true; }
  int64_t chunks(const Kernel& k, const Target& target) const override {
    if (target.is_gpu()) {
      const int64_t rows = rows_of(k), tiles = rt::round_up_div(rows, k.choice["rows"]);
      return rt::round_up_div(points_of(k.axes) / rows * tiles, target.block_threads);
    }
    const double taps = static_cast<double>(points_of(unfold(k.accumulated).variables));
    const double at_once = 8 * sizeof(float) / static_cast<double>(element_bytes(k));
    return chunks_by_work(k, static_cast<double>(points_of(k.axes)) * taps / at_once, target);
  }

  std::string details(const Kernel& k) const override {
    std::vector<std::string> taps;
    for (Expr t : unfold(k.accumulated).variables) taps.push_back(to_string(t.extent()));
    return fmt::format(" taps [{}] tile {}{}", fmt::join(taps, ", "), k.choice["rows"],
                       k.choice["written"] ? " written out" : "");
  }
  std::string_view legend() const override {
    return "window<R, FOLD, W, T>: a tile of R rows; W: its last tap is written out; T: of what it folds, if not f32";
  }

  void print(KernelPrinter& printer, const Kernel& k) const override {
    const FoldNest fold = unfold(k.accumulated);
    const FoldKind kind = k.accumulated.fold_kind();
    const std::span<const Expr> axes(k.axes), outer = axes.first(axes.size() - 2),
                                              taps = std::span(fold.variables).first(fold.variables.size() - 1);
    const std::string parameters = "auto acc, " + parameters_of(outer) + "rt::i64 row, auto col";
    std::string tap_parameters;
    Bindings tap_names;
    for (size_t i = 0; i < fold.variables.size(); ++i) {
      tap_parameters += fmt::format(", rt::i64 r{}", i);
      tap_names.emplace_back(fold.variables[i], fmt::format("r{}", i));
    }
    const std::string type =
        is_8_bits(k.accumulated.type()) ? fmt::format(", rt::{}", cameo::name(k.accumulated.type())) : "";
    printer.line(fmt::format("rt::window<{}, rt::FoldKind::{}, {}{}>(call, {}, {}, {}, {}, {},", k.choice["rows"],
                             cameo::name(kind), k.choice["written"] != 0, type, extents_of(printer, outer),
                             extents_of(printer, taps), cameo::rows_of(printer, axes[axes.size() - 2].extent()),
                             constant_of(printer, axes.back().extent()),
                             constant_of(printer, fold.variables.back().extent())));
    print_tile_lambda(printer, k, parameters + tap_parameters, tap_names, "},", [&] {
      const bool product = kind == FoldKind::Sum && fold.body.op() == Op::Mul;
      constexpr std::string_view joins[] = {"add", "mul", "min", "max"};
      const std::string next =
          product ? fmt::format("rt::fma({}, {}, acc)", printer.name(fold.body.arg(0)), printer.name(fold.body.arg(1)))
                  : fmt::format("rt::{}(acc, {})", joins[static_cast<int>(kind)], printer.name(fold.body));
      printer.statement(fmt::format("return {};", next));
    });
    print_epilogue(printer, k, parameters);
  }

 private:
  /// Of a map whose columns are multiplied by one number each tap, four rows share enough: more are as fast, and more
  /// code.
  static int64_t rows_of_thumb(const Kernel& k, const Target& target) {
    constexpr int kRowsOfMap = 4;
    const int64_t m = rows_of_tiles(k);
    if (!target.is_gpu() && k.axes.size() == 2 && has_one_weight(k)) return rt::even_part(m, kRowsOfMap);
    return target.is_gpu() ? rt::block_window_rows(m)
                           : rt::window_rows(target.vector_bytes, target.vector_registers,
                                             lanes_of(k, target) * element_bytes(k), m);
  }
  /// Whether the last tap is a number of few.
  static bool has_few_taps(const Kernel& k) {
    constexpr int64_t kMostWritten = 8;
    const Expr taps = unfold(k.accumulated).variables.back().extent();
    return taps.is_const() && taps.int_value() <= kMostWritten;
  }
  /// Whether one factor of what is summed is the same for all columns.
  static bool has_one_weight(const Kernel& k) {
    const Expr term = unfold(k.accumulated).body, column = k.axes.back();
    return k.accumulated.fold_kind() == FoldKind::Sum && term.op() == Op::Mul &&
           depends_on(term.arg(0), column) != depends_on(term.arg(1), column);
  }
  static int64_t element_bytes(const Kernel& k) { return byte_size(k.accumulated.type()); }
  static int64_t lanes_of(const Kernel& k, const Target& target) {
    return is_8_bits(k.accumulated.type()) ? target.vector_bytes : rt::kPanel;
  }
  static int64_t vectors_of(int64_t columns, int64_t lanes) {
    const auto rest = static_cast<uint64_t>(columns % lanes);
    return columns / lanes + (lanes == rt::kPanel ? rest > 0 : std::popcount(rest));
  }
  /// Loads of a tile, at all values of the last tap: what no row changes they share, and written out those at which
  /// the windows of several meet.
  static double loads_of(const Kernel& k, int64_t rows, bool written) {
    const FoldNest fold = unfold(k.accumulated);
    const Expr row = k.axes[k.axes.size() - 2], tap = fold.variables.back();
    const int64_t taps = Dim(tap.extent()).estimate();
    double loads = 0;
    visit(std::vector<Expr>{fold.body}, [&](Expr e) {
      if (e.op() != Op::Read) return;
      const Affine at = affine(e.offset());
      const int64_t down = at.stride_of(row).estimate(), along = at.stride_of(tap).estimate();
      std::set<int64_t> places;
      for (int64_t r = 0; written && r < rows; ++r)
        for (int64_t t = 0; t < taps; ++t) places.insert(r * down + t * along);
      const int64_t apart = (depends_on(e, row) ? rows : 1) * taps;
      loads += static_cast<double>(written ? std::ssize(places) : apart);
    });
    return loads;
  }
  /// Of the taps that one comes last at which the windows of most rows meet: these are what written out saves loads.
  static void put_shared_tap_last(Kernel& k, const Target& target) {
    constexpr double kClearly = 0.75;
    const Expr before = k.accumulated;
    const FoldNest nest = unfold(before);
    const auto loads_of_tap = [&](const Kernel& of) {
      const int64_t taps = Dim(unfold(of.accumulated).variables.back().extent()).estimate();
      return loads_of(of, rows_of_thumb(of, target), taps > 1 && has_few_taps(of)) / static_cast<double>(taps);
    };
    Kernel best = k;
    double least = kClearly * loads_of_tap(k);
    for (size_t i = 0; i + 1 < nest.variables.size(); ++i) {
      std::vector<Expr> order = nest.variables;
      std::rotate(order.begin() + static_cast<long>(i), order.begin() + static_cast<long>(i) + 1, order.end());
      Kernel other = k;
      other.accumulated = nest.body;
      for (Expr v : std::views::reverse(order)) other.accumulated = fold(before.fold_kind(), v, other.accumulated);
      if (const double loads = loads_of_tap(other); loads < least) least = loads, best.accumulated = other.accumulated;
    }
    k.stores[0].value = rewrite(k.stores[0].value, [&](Expr e) { return e == before ? best.accumulated : e; });
    k.accumulated = best.accumulated;
  }
  /// Of a column's tiles: operations and loads, or on a GPU rounds of as many threads as are resident.
  static double cycles_of(const Kernel& k, const Choice& c, const Target& target) {
    constexpr double kStart = 16;
    const double tiles = static_cast<double>(rt::round_up_div(rows_of(k), c["rows"]));
    const int64_t taps = Dim(unfold(k.accumulated).variables.back().extent()).estimate();
    const double operations = static_cast<double>(c["rows"] * taps), loads = loads_of(k, c["rows"], c["written"]);
    if (!target.is_gpu()) {
      const double outer = static_cast<double>(points_of(unfold(k.accumulated).variables) / taps);
      return tiles * (outer * std::max(operations / target.machine.fmas, loads / target.machine.loads) + kStart);
    }
    const double threads = static_cast<double>(points_of(k.axes)) / static_cast<double>(rows_of(k)) * tiles;
    const double rounds = std::ceil(threads / static_cast<double>(int64_t(target.sm_count) * target.card.threads));
    return rounds * std::max(operations, loads);
  }
  static int64_t rows_of(const Kernel& k) { return Dim(k.axes[k.axes.size() - 2].extent()).estimate(); }
  static int64_t rows_of_tiles(const Kernel& k) {
    const bool known = k.axes[k.axes.size() - 2].extent().is_const();
    return known ? rows_of(k) : rt::rows_of_any_number(rows_of(k));
  }
};

}  // namespace

const Family& window_family() {
  static const Window family;
  return family;
}

}  // namespace cameo
