// The Winograd family: 3 x 3 convolutions of stride 1, whose weights are known, by a quarter of the products
// (runtime/kernels/winograd_shape.h has the algorithm and its sources). The kernel's expressions are the plain sum of
// taps that are taken back from the transformed weights. It competes with the plain sum by price, and only where its
// errors stay small: see `error_of`.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "optimizer/choose/family.h"
#include "runtime/kernels/winograd_shape.h"

namespace cameo {
namespace {

constexpr int64_t kTaps = rt::kWinogradTaps, kTile = rt::kWinogradTile, kReach = rt::kWinogradReach;
constexpr double kPoints = rt::kWinogradPoints;

// ---- roles

/// What a convolution sums over, and where the output's rows and columns stand.
struct Taps {
  Expr down, across, channel;            // variables of the sum
  Expr row, column;                      // axes of the output that they go with
  size_t row_axis = 0, column_axis = 0;  // of `a`
};

/// The only axis of the output in an index of `a` that has this tap beside it, each times 1; null: there is none.
Expr axis_beside(Expr index, Expr tap, const OutputExpr& out) {
  const Affine at = affine(index);
  if (at.terms.size() != 2 || !at.stride_of(tap).is_static(1)) return {};
  const auto axis = std::ranges::find_if(out.index, [&](Expr v) { return at.stride_of(v).is_static(1); });
  return axis == out.index.end() ? Expr() : *axis;
}

std::optional<Taps> taps_of(const ContractMatch& m, const OutputExpr& out) {
  if (m.folds.size() != 3) return std::nullopt;
  Taps t;
  for (Expr fold : m.folds) {
    bool is_tap = false;
    for (size_t d = 0; d < m.a.index().size(); ++d) {
      const Expr axis = axis_beside(m.a.index()[d], fold, out);
      if (!axis || !fold.extent().is_const(kTaps)) continue;
      is_tap = true;
      const bool first = !t.down;
      (first ? t.down : t.across) = fold;
      (first ? t.row : t.column) = axis;
      (first ? t.row_axis : t.column_axis) = d;
    }
    if (!is_tap) t.channel = fold;
  }
  const bool known = t.row && t.column && t.channel && t.row.extent().is_const() && t.column.extent().is_const() &&
                     t.channel.extent().is_const();
  return known && t.row != t.column ? std::optional(t) : std::nullopt;
}

/// `a` with room for whole tiles: what an index reaches if the axis had a multiple of a tile's rows.
bool make_room(Operand& a, const Graph& g, const ContractMatch& m, size_t axis, Expr extent) {
  const int64_t outputs = rt::round_up_div(extent.int_value(), kTile) * kTile;
  const Affine at = affine(m.a.index()[axis]);
  const Dim dim = g.type(a.value).shape[axis];
  if (!dim.is_static()) return false;
  a.after[axis] = std::max(a.after[axis], at.constant + outputs + kTaps - 1 - dim.value());
  return true;
}

// ---- accuracy

/// The outputs of one tile and column, in f32 as the kernel computes them. patch: [6][6][channels].
void compute_tile(const std::vector<float>& patch, const std::vector<float>& weights, int64_t column, int64_t columns,
                  int64_t channels, float* outputs) {
  const auto add_times = [](float factor, float x, float y) { return std::fma(factor, x, y); };
  float sums[kReach][kReach] = {};
  for (int64_t c = 0; c < channels; ++c) {
    float rows[kReach][kReach], d[kReach], point[kReach];
    for (int64_t x = 0; x < kReach; ++x) {
      for (int64_t y = 0; y < kReach; ++y) d[y] = patch[static_cast<size_t>((y * kReach + x) * channels + c)];
      rt::winograd_source_points(d, rows[x], add_times);
    }
    for (int64_t y = 0; y < kReach; ++y) {
      for (int64_t x = 0; x < kReach; ++x) d[x] = rows[x][y];
      rt::winograd_source_points(d, point, add_times);
      for (int64_t x = 0; x < kReach; ++x) {
        const int64_t at = rt::winograd_weight_offset(y * kReach + x, c, column, columns, channels);
        sums[x][y] = std::fma(point[x], weights[static_cast<size_t>(at)], sums[x][y]);
      }
    }
  }
  float rows[kReach][kTile], point[kReach];
  for (int64_t x = 0; x < kReach; ++x) rt::winograd_outputs(sums[x], rows[x], add_times);
  for (int64_t y = 0; y < kTile; ++y) {
    for (int64_t x = 0; x < kReach; ++x) point[x] = rows[x][y];
    rt::winograd_outputs(point, outputs + y * kTile, add_times);
  }
}

/// The largest error of outputs in f32, of inputs between 0 and 1 and of both signs, as a share of the outputs' root
/// mean square.
double error_of(const Tensor& weights, const Packing& p) {
  constexpr int64_t kColumns = 8;  // that are tried
  const int64_t channels = p.k[2].extent, columns = std::min(kColumns, p.column.extent);
  const auto tap = [&](int64_t y, int64_t x, int64_t channel, int64_t column) {
    return weights.get(p.base_offset + y * p.k[0].stride + x * p.k[1].stride + channel * p.k[2].stride +
                       column * (p.column.extent / columns) * p.column.stride);
  };
  std::vector<float> transformed(static_cast<size_t>(rt::winograd_weight_elements(columns, channels)));
  rt::pack_winograd(transformed.data(), columns, channels, tap);
  double largest = 0, squares = 0;
  for (const float least : {0.F, -1.F}) {
    std::vector<float> patch(static_cast<size_t>(channels * kReach * kReach));
    uint32_t state = 1;
    for (float& x : patch)
      x = least + (1 - least) * static_cast<float>((state = state * 1664525U + 1013904223U) >> 8) * 0x1p-24F;
    for (int64_t column = 0; column < columns; ++column) {
      float outputs[kTile * kTile];
      compute_tile(patch, transformed, column, columns, channels, outputs);
      for (int64_t i = 0; i < kTile * kTile; ++i) {
        double sum = 0;
        for (int64_t t = 0; t < kTaps * kTaps; ++t)
          for (int64_t c = 0; c < channels; ++c)
            sum += tap(t / kTaps, t % kTaps, c, column) *
                   static_cast<double>(patch[static_cast<size_t>(
                       ((i / kTile + t / kTaps) * kReach + i % kTile + t % kTaps) * channels + c)]);
        largest = std::max(largest, std::abs(sum - static_cast<double>(outputs[i])));
        squares += sum * sum;
      }
    }
  }
  return squares == 0 ? largest : largest / std::sqrt(squares / static_cast<double>(2 * columns * kTile * kTile));
}

// ---- expressions

/// A tap of a convolution, taken from the weights at the points.
Expr tap_of_weights(Expr y, Expr x, Expr channel, Expr column, int64_t columns) {
  const auto by_tap = [](Expr tap, auto number) {
    return select(eq(tap, integer(0)), number(0), select(eq(tap, integer(1)), number(1), number(2)));
  };
  const auto point = [&](Expr tap) { return by_tap(tap, [](int i) { return integer(rt::kWinogradTapOf[i].point); }); };
  const auto scale = [&](Expr tap) {
    return by_tap(tap, [](int i) { return constant(DType::f32, rt::kWinogradTapOf[i].scale); });
  };
  const int64_t channels = channel.extent().int_value();
  const auto at = [&](int i, int j) {
    const Expr place = (point(y) + integer(i)) * integer(kReach) + point(x) + integer(j);
    const Expr offset =
        place * integer(rt::packed_b_elements(columns, channels)) + panel_offset(column, channel, channels);
    Expr guard = boolean(true);
    if (i) guard = logical_and(guard, eq(y, integer(1)));
    if (j) guard = logical_and(guard, eq(x, integer(1)));
    return read_at(Product::kB, DType::f32, offset, guard, zero(DType::f32));
  };
  return ((at(0, 0) - at(0, 1)) - (at(1, 0) - at(1, 1))) * scale(y) * scale(x);
}

struct WinogradRoles final : Match {  // wishes: `a`, and the transformed weights
  ContractMatch product;
  Taps taps;
  Expr column;  // of the output's channels
};

/// Of a kernel: its sum, and the extents that prices and calls ask for.
struct Shape2d {
  explicit Shape2d(const Kernel& k) : sum(k) {
    outer = sum.outer.first(sum.outer.size() - 1);
    rows = sum.outer.back();
  }
  Product sum;
  std::span<const Expr> outer;
  Expr rows;
  int64_t height() const { return rows.extent().int_value(); }
  int64_t width() const { return sum.m(); }
  int64_t columns() const { return sum.n(); }
  int64_t channels() const { return sum.k.extent().int_value(); }
  int64_t tiles() const {
    return points_of(outer) * rt::round_up_div(height(), kTile) * rt::round_up_div(width(), kTile);
  }
};

double cycles_of(const Shape2d& s, const Choice& c, const Target& target) {
  constexpr double kStart = 16, kSource = 144, kOutput = 120, kStores = 96;  // operations of the transforms' vectors
  const MachineModel& machine = target.machine;
  const double parts = rt::kPanel * 4.0 / target.vector_bytes;
  const double rows = static_cast<double>(c["rows"]), vectors = static_cast<double>(c["vectors"]) * parts;
  const double channels = static_cast<double>(s.channels()),
               panels = static_cast<double>(rt::panels_of(s.columns())) * parts;
  const double step = std::max({rows * vectors / machine.fmas, (vectors + rows) / machine.loads, machine.fma_latency});
  const auto tiles_of_rows = [&](int64_t tiles) { return std::ceil(static_cast<double>(tiles) / rows); };
  const double weights = kPoints * channels * static_cast<double>(rt::panels_of(s.columns())) * rt::kPanel * 4;
  const double rate = weights <= static_cast<double>(machine.l2_bytes) / 2   ? machine.l2_rate
                      : weights <= static_cast<double>(machine.l3_bytes) / 2 ? machine.l3_rate
                                                                             : machine.memory_rate;
  const auto cycles_of_block = [&](int64_t tiles) {
    const double products =
        kPoints * tiles_of_rows(tiles) * (panels / vectors) * (channels * step + rows * vectors + kStart);
    const double sources = channels / rt::kPanel * parts * (kSource / machine.fmas + kStores / machine.loads);
    const double outputs = panels * (kOutput / machine.fmas + kStores / machine.loads);
    return std::max(products, weights / rate) + static_cast<double>(tiles) * (sources + outputs);
  };
  const int64_t block = c["tiles"], whole = s.tiles() / block, rest = s.tiles() % block;
  return static_cast<double>(whole) * cycles_of_block(block) + (rest ? cycles_of_block(rest) : 0);
}

class Winograd final : public Family {
 public:
  std::string_view name() const override { return "winograd"; }

  Matched match(const Problem& p) const override {
    constexpr int64_t kFewestChannels = rt::kPanel, kMostChannels = rt::kSumBlock, kMostWeights = 5 << 20;
    constexpr double kMostError = 2e-5;
    if (p.target.is_gpu()) return "it is for processors";
    if (p.target.keeps_size) return "its weights would take four times the memory";
    const Graph& g = p.graph;
    auto found = match_contract(g, p.part.out);
    if (!found || found->is_integer() || (found->a.type() != DType::f32 && found->a.type() != DType::bf16))
      return "it is no sum of products of f32";
    const auto taps = taps_of(*found, p.part.out);
    if (!taps) return "it is no convolution of 3 x 3 taps and stride 1 of known extents";
    auto roles = std::make_shared<WinogradRoles>();
    ContractMatch& m = roles->product = std::move(*found);
    roles->taps = *taps;
    roles->column = p.part.out.index[static_cast<size_t>(m.n_axis)];
    const int64_t channels = taps->channel.extent().int_value();
    if (channels < kFewestChannels || channels > kMostChannels) return "it has too few or too many channels";
    if (taps->row.extent().int_value() < kTile || taps->column.extent().int_value() < kTile)
      return "its outputs are fewer than a tile's";
    auto a = wish_for_a(g, p.layouts, m);
    if (!a || !make_room(*a, g, m, taps->row_axis, taps->row.extent()) ||
        !make_room(*a, g, m, taps->column_axis, taps->column.extent()))
      return "an operand has no channels that are summed as they stand, or no border of zeros";
    if (has_halo(*a) && !a->border_value) a->border_value = zero(m.a.type());
    a->layout = with_halo(g.type(a->value).shape, a->order, a->before, a->after);
    m.folds = {taps->down, taps->across, taps->channel};
    auto packing = packing_of(g, p.layouts, m, {}, roles->column);
    if (!packing || !guard_of(g.type(ValueId{m.b.operand()}).shape, m.b.index()).is_const(1))
      return "its weights are not known";
    packing->form = PanelForm::Winograd;
    if (packing->elements() > kMostWeights) return "its weights at the points would take too much memory";
    if (error_of(*g[ValueId{m.b.operand()}].constant, *packing) > kMostError) return "its errors would be too large";
    roles->wishes = {*a, in_panels(p.layouts, ValueId{m.b.operand()}, *packing)};
    return roles;
  }

  Lowered lower(const Problem& p, const Match& match) const override {
    const auto& roles = static_cast<const WinogradRoles&>(match);
    const Taps& taps = roles.taps;
    std::vector<Expr> axes = axes_in_memory(p.part.out, p.layouts[p.output.index]);
    for (Expr last : {taps.row, taps.column, roles.column}) {
      std::erase(axes, last);
      axes.push_back(last);
    }
    LoweredKernel l =
        lower_product(p.graph, p.layouts, p.output, p.part, roles.product, granted(p.graph, p.layouts, roles.wishes[0]),
                      roles.wishes[1], std::move(axes), {}, Walks::Apart);
    l.kernel.family = this;
    if (!take_sum(l.kernel)) return "an operand's offsets are not affine";
    const Product sum(l.kernel);
    const Affine a = affine(sum.a_offset);
    if (sum.outer.empty() || a.stride_of(sum.segments[0]) != a.stride_of(sum.outer.back()) ||
        a.stride_of(sum.segments[1]) != a.stride_of(sum.row))
      return "its taps are not next to each other as they stand";
    const Expr tap = tap_of_weights(sum.segments[0], sum.segments[1], sum.k, sum.column, sum.n());
    l.kernel.accumulated = rewrite(l.kernel.accumulated,
                                   [&](Expr e) { return e.op() == Op::Read && e.operand() == Product::kB ? tap : e; });
    return l;
  }

  std::vector<Choice> candidates(const Kernel& k, const Target& target) const override {
    constexpr int64_t kLeastRows = 4, kMostRows = 8, kMostVectors = 4, kMostGroups = 8;
    constexpr int64_t kBlocks = 8;  // for threads to share
    const Shape2d s(k);
    std::vector<Choice> all;
    const auto add = [&](int64_t rows, int64_t vectors) {
      for (int64_t groups = kMostGroups; groups > 0; --groups) {
        const int64_t tiles = rows * groups;
        const Choice next{{"rows", rows}, {"vectors", vectors}, {"tiles", tiles}, {"lanes", rt::kPanel}};
        const int64_t bytes = rt::winograd_scratch_bytes(tiles, vectors, s.channels());
        const bool fits = bytes <= target.machine.l2_bytes / 2 && tiles * kBlocks <= s.tiles();
        if ((fits || groups == 1) && std::ranges::find(all, next) == all.end()) all.push_back(next);
      }
    };
    const int64_t panels = rt::panels_of(s.columns());
    const rt::Tile thumb = rt::contract_tile(target.vector_bytes, target.vector_registers, s.tiles(), s.columns());
    add(std::min<int64_t>(thumb.rows, kMostRows), thumb.vectors);
    for (int64_t vectors = std::min(kMostVectors, panels); vectors > 0; --vectors) {
      const int64_t tallest = rt::tallest_tile(target.vector_bytes, target.vector_registers, vectors);
      for (int64_t rows = std::min(kMostRows, tallest); rows >= kLeastRows; --rows)
        add(rows, rt::even_part(panels, vectors));
    }
    return all;
  }
  double price(const Kernel& k, const KernelCost& cost, const Choice& choice, const Target& target) const override {
    return cycles_of(Shape2d(k), choice, target) / (target.machine.clock * 1e9) + target.seconds_to_move(cost.bytes);
  }
  void apply(Kernel& k, const Choice& choice, const Target& target) const override {
    Family::apply(k, choice, target);
    k.scratch_bytes = rt::winograd_scratch_bytes(choice["tiles"], choice["vectors"], Shape2d(k).channels());
  }
  int64_t most_points_by_weights(const Kernel&) const override { return 0; }
  int64_t chunks(const Kernel& k, const Target& target) const override {
    const Shape2d s(k);
    const double products = kPoints * static_cast<double>(s.tiles() * s.columns() * s.channels());
    return std::min(rt::round_up_div(s.tiles(), k.choice["tiles"]), chunks_by_work(k, products / rt::kPanel, target));
  }

  std::string details(const Kernel& k) const override {
    const Choice& c = k.choice;
    return fmt::format(" sum [3 x 3 x {}] tile {}x{} of {}", Shape2d(k).channels(), c["rows"], c["vectors"],
                       c["tiles"]);
  }
  std::string_view legend() const override {
    return "winograd<R, V, T>: blocks of T tiles of 4 x 4 outputs; R of them by V vectors of 16 columns in registers";
  }
  void print(KernelPrinter& printer, const Kernel& k) const override {
    const Shape2d s(k);
    const Affine a = affine(s.sum.a_offset);
    const auto stride = [&](Expr v) { return printer.name(a.stride_of(v).extent()); };
    printer.line(fmt::format("rt::winograd<{}, {}, {}>(call, {}, {}, {}, {}, {},", k.choice["rows"],
                             k.choice["vectors"], k.choice["tiles"], extents_of(printer, s.outer),
                             constant_of(printer, s.rows.extent()), constant_of(printer, s.sum.row.extent()),
                             constant_of(printer, s.sum.column.extent()), constant_of(printer, s.sum.k.extent())));
    printer.line(fmt::format("             rt::image(x{} + {}, {}, {}, {}), x{},", Product::kA,
                             printer.name(size_in(a).extent()), strides_of(printer, a, s.outer), stride(s.rows),
                             stride(s.sum.row), Product::kB));
    print_sum_epilogue(printer, s.sum);
  }
};

}  // namespace

const Family& winograd_family() {
  static const Winograd family;
  return family;
}

}  // namespace cameo
