// The Winograd family: convolutions of three taps along one axis or two, of stride 1 or 2, whose weights are known, by
// a quarter to three quarters of the products (runtime/kernels/winograd_shape.h has the algorithms and their sources).
// The kernel's expressions are the plain sum. It competes with that by price, and only where its errors stay small: see
// `error_of`.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "optimizer/choose/family.h"
#include "runtime/kernels/winograd_shape.h"

namespace cameo {
namespace {

using rt::WinogradAxis;

constexpr int64_t kTaps = 3;

// ---- roles

/// One of the three-tap axes of a convolution.
struct Tapped {
  Expr tap;            // variable of the sum
  Expr output;         // axis of the output that it goes with
  size_t at = 0;       // axis of `a`
  int64_t stride = 0;  // of the convolution: 1 or 2
  int64_t dilation = 1;
  WinogradAxis axis() const { return rt::winograd_axis(stride); }
  int64_t tiles() const { return rt::winograd_tiles(axis(), output.extent().int_value(), dilation); }
};

/// What a convolution sums over. Down: the axis farther out, where there are two.
struct Taps {
  std::vector<Tapped> axes;  // [down], across
  Expr channel;
};

/// The tap of this fold in an index of `a`: what is left of it are its axis of the output and a constant.
std::optional<Tapped> tapped_by(Expr fold, size_t axis, Expr index, const OutputExpr& out) {
  const Affine at = affine(index);
  if (!fold.extent().is_const(kTaps) || at.terms.size() != 2) return std::nullopt;
  const Dim dilation = at.stride_of(fold);
  const auto output = std::ranges::find_if(out.index, [&](Expr v) { return !at.stride_of(v).is_static(0); });
  if (output == out.index.end() || !output->extent().is_const() || !dilation.is_static()) return std::nullopt;
  for (int64_t stride : {1, 2})
    if (at.stride_of(*output).is_static(stride) && dilation.value() > 0 && (stride == 1 || dilation.value() == 1))
      return Tapped{fold, *output, axis, stride, dilation.value()};
  return std::nullopt;
}

std::optional<Taps> taps_of(const ContractMatch& m, const OutputExpr& out) {
  Taps taps;
  for (Expr fold : m.folds) {
    std::optional<Tapped> tapped;
    for (size_t d = 0; d < m.a.index().size() && !tapped; ++d) tapped = tapped_by(fold, d, m.a.index()[d], out);
    if (tapped)
      taps.axes.push_back(*tapped);
    else if (taps.channel)
      return std::nullopt;
    else
      taps.channel = fold;
  }
  const bool known = taps.channel && taps.channel.extent().is_const();
  const bool apart = taps.axes.size() == 1 || (taps.axes.size() == 2 && taps.axes[0].output != taps.axes[1].output);
  return known && apart ? std::optional(taps) : std::nullopt;
}

/// `a` with room for whole tiles: what the index of an axis reaches if there were outputs for all of them.
bool make_room(Operand& a, const Graph& g, const ContractMatch& m, const Tapped& t) {
  const int64_t outputs = t.tiles() * t.axis().tile;
  const Affine at = affine(m.a.index()[t.at]);
  const Dim dim = g.type(a.value).shape[t.at];
  if (!dim.is_static()) return false;
  const int64_t reach = at.constant + (outputs - 1) * t.stride + (kTaps - 1) * t.dilation + 1;
  a.after[t.at] = std::max(a.after[t.at], reach - dim.value());
  return true;
}

// ---- accuracy

/// Of a few columns of a convolution, what a run computes, in f32.
template <int Down, int Across>
struct Trial {
  static constexpr WinogradAxis kDown = rt::winograd_axis(Down), kAcross = rt::winograd_axis(Across);
  static float add_times(float factor, float x, float y) { return std::fma(factor, x, y); }

  /// One channel's weights at the points, [down][across], of its taps, [down][across].
  static void transform_taps(const float* taps, float* points) {
    for (int64_t y = 0; y < kDown.points; ++y, points += kAcross.points) {
      float row[kAcross.taps];
      for (int64_t x = 0; x < kAcross.taps; ++x) {
        row[x] = static_cast<float>(kDown.weight[y][0]) * taps[x];
        for (int64_t t = 1; t < kDown.taps; ++t)
          row[x] = std::fma(static_cast<float>(kDown.weight[y][t]), taps[t * kAcross.taps + x], row[x]);
      }
      rt::WinogradAlong<Across>::weight_points(row, points, add_times);
    }
  }
  /// The outputs of one tile. patch: [channels][rows][columns]; taps: [channels][down][across].
  static void compute_tile(const float* patch, const float* taps, int64_t channels, float* outputs) {
    float sums[kAcross.points][kDown.points] = {};
    for (int64_t c = 0; c < channels; ++c, patch += kDown.reach * kAcross.reach, taps += kDown.taps * kAcross.taps) {
      float weights[kDown.points * kAcross.points], rows[kAcross.reach][kDown.points];
      transform_taps(taps, weights);
      for (int64_t x = 0; x < kAcross.reach; ++x) {
        float d[kDown.reach];
        for (int64_t y = 0; y < kDown.reach; ++y) d[y] = patch[y * kAcross.reach + x];
        rt::WinogradAlong<Down>::source_points(d, rows[x], add_times);
      }
      for (int64_t y = 0; y < kDown.points; ++y) {
        float d[kAcross.reach], point[kAcross.points];
        for (int64_t x = 0; x < kAcross.reach; ++x) d[x] = rows[x][y];
        rt::WinogradAlong<Across>::source_points(d, point, add_times);
        for (int64_t x = 0; x < kAcross.points; ++x)
          sums[x][y] = std::fma(point[x], weights[y * kAcross.points + x], sums[x][y]);
      }
    }
    float rows[kAcross.points][kDown.tile], point[kAcross.points];
    for (int64_t x = 0; x < kAcross.points; ++x) rt::WinogradAlong<Down>::outputs(sums[x], rows[x], add_times);
    for (int64_t y = 0; y < kDown.tile; ++y) {
      for (int64_t x = 0; x < kAcross.points; ++x) point[x] = rows[x][y];
      rt::WinogradAlong<Across>::outputs(point, outputs + y * kAcross.tile, add_times);
    }
  }
};
using ComputeTile = void (*)(const float*, const float*, int64_t, float*);
/// By the strides down, 0 to 2, and across, 1 or 2.
constexpr ComputeTile kComputeTile[3][2] = {{Trial<0, 1>::compute_tile, Trial<0, 2>::compute_tile},
                                            {Trial<1, 1>::compute_tile, Trial<1, 2>::compute_tile},
                                            {Trial<2, 1>::compute_tile, Trial<2, 2>::compute_tile}};

/// The largest error of outputs in f32, of inputs between 0 and 1 and of both signs, as a share of the outputs' root
/// mean square. Packing::k: down, across, channels.
double error_of(const Tensor& weights, const Packing& p, int64_t stride_down, int64_t stride_across) {
  constexpr int64_t kColumns = 8;  // that are tried
  const WinogradAxis down = rt::winograd_axis(stride_down), across = rt::winograd_axis(stride_across);
  const int64_t channels = p.k[2].extent, columns = std::min(kColumns, p.column.extent);
  const int64_t tile = down.tile * across.tile, reach = down.reach * across.reach, all = down.taps * across.taps;
  std::vector<float> taps(static_cast<size_t>(channels * all)), patch(static_cast<size_t>(channels * reach)),
      outputs(static_cast<size_t>(tile));
  double largest = 0, squares = 0;
  for (const float least : {0.F, -1.F}) {
    uint32_t state = 1;
    for (float& x : patch)
      x = least + (1 - least) * static_cast<float>((state = state * 1664525U + 1013904223U) >> 8) * 0x1p-24F;
    for (int64_t column = 0; column < columns; ++column) {
      const int64_t first = p.base_offset + column * (p.column.extent / columns) * p.column.stride;
      for (int64_t c = 0, at = 0; c < channels; ++c)
        for (int64_t y = 0; y < down.taps; ++y)
          for (int64_t x = 0; x < across.taps; ++x, ++at)
            taps[static_cast<size_t>(at)] =
                static_cast<float>(weights.get(first + y * p.k[0].stride + x * p.k[1].stride + c * p.k[2].stride));
      kComputeTile[down.stride][across.stride - 1](patch.data(), taps.data(), channels, outputs.data());
      for (int64_t i = 0; i < tile; ++i) {
        double sum = 0;
        for (int64_t t = 0; t < all; ++t) {
          const int64_t y = i / across.tile * down.stride + t / across.taps,
                        x = i % across.tile * across.stride + t % across.taps;
          for (int64_t c = 0; c < channels; ++c)
            sum += static_cast<double>(taps[static_cast<size_t>(c * all + t)]) *
                   static_cast<double>(patch[static_cast<size_t>(c * reach + y * across.reach + x)]);
        }
        largest = std::max(largest, std::abs(sum - static_cast<double>(outputs[static_cast<size_t>(i)])));
        squares += sum * sum;
      }
    }
  }
  return squares == 0 ? largest : largest / std::sqrt(squares / static_cast<double>(2 * columns * tile));
}

// ---- roles and extents

struct WinogradRoles final : Match {  // wishes: `a`, and the weights
  ContractMatch product;
  Taps taps;
  Expr column;  // of the output's channels
};

/// An axis of a kernel's sum that has taps; none: of one output.
struct KernelAxis {
  KernelAxis() = default;
  /// Null where its strides in `a` are none that a convolution's would have.
  static std::optional<KernelAxis> of(const Affine& a, Expr output, Expr tap) {
    const Dim by_output = a.stride_of(output), by_tap = a.stride_of(tap);
    if (!output.extent().is_const() || !by_output.is_static() || !by_tap.is_static()) return std::nullopt;
    const int64_t outputs = by_output.value(), taps = by_tap.value();
    KernelAxis k;
    k.extent = output.extent().int_value();
    k.step = std::min(outputs, taps);
    if (k.step <= 0 || outputs % k.step || taps % k.step) return std::nullopt;
    k.stride = outputs / k.step;
    k.dilation = taps / k.step;
    return k.stride <= 2 ? std::optional(k) : std::nullopt;
  }
  int64_t extent = 1, stride = 0, dilation = 1;
  int64_t step = 0;  // elements of `a` from one neighbour to the next
  WinogradAxis axis() const { return rt::winograd_axis(stride); }
  int64_t tiles() const { return rt::winograd_tiles(axis(), extent, dilation); }
};

/// Of a kernel: its sum, and the extents that prices and calls ask for.
struct Convolution {
  static constexpr int64_t kElement = sizeof(float);
  explicit Convolution(const Kernel& k) : sum(k), a(affine(sum.a_offset)), outer(sum.outer) {
    const bool has_rows = sum.segments.size() == 2;
    if (has_rows) {
      if (outer.empty()) return;
      rows = outer.back();
      outer = outer.first(outer.size() - 1);
      const auto of_rows = KernelAxis::of(a, rows, sum.segments[0]);
      if (!of_rows) return;
      down = *of_rows;
    }
    const auto of_row = KernelAxis::of(a, sum.row, sum.segments.back());
    if (of_row) across = *of_row;
    is_whole = of_row.has_value();
  }
  Product sum;
  Affine a;
  std::span<const Expr> outer;
  Expr rows;  // null where taps are along one axis
  KernelAxis down, across;
  bool is_whole = false;  // the taps are next to each other as they stand
  int64_t points() const { return down.axis().points * across.axis().points; }
  int64_t columns() const { return sum.n(); }
  int64_t channels() const { return sum.k.extent().int_value(); }
  // Bytes of scratch: of a block's tiles, and of weights at the points, all of them or a row's.
  int64_t block_bytes(int64_t tiles, int64_t vectors) const {
    return rt::winograd_block_elements(points(), tiles, vectors, channels()) * kElement;
  }
  int64_t kept_bytes() const { return points() * rt::winograd_kept_pitch(columns(), channels()) * kElement; }
  int64_t row_bytes(int64_t tiles, int64_t vectors) const {
    return rt::winograd_row_elements(down.axis(), across.axis(), tiles, vectors, channels()) * kElement;
  }
  int64_t tiles() const { return points_of(outer) * down.tiles() * across.tiles(); }
};

/// A tap of the weights, which stand as [columns / 16][channel][down][across][16].
Expr tap_in_panels(const Convolution& s, DType type) {
  const int64_t down = s.down.axis().taps, across = s.across.axis().taps;
  const Expr row = s.rows ? s.sum.segments[0] : integer(0);
  const Expr term = (s.sum.k * integer(down) + row) * integer(across) + s.sum.segments.back();
  return read_at(Product::kB, type, panel_offset(s.sum.column, term, s.channels() * down * across), boolean(true),
                 zero(type));
}

/// Operations and moved vectors of a transform, first down, then across; some vectors go through memory between.
struct TransformCost {
  double operations, moves;
};
TransformCost cost_of_source(const WinogradAxis& down, const WinogradAxis& across) {
  return {static_cast<double>(across.reach * down.source_operations + down.points * across.source_operations),
          4.0 / 3 * static_cast<double>(down.reach * across.reach + down.points * across.points)};
}
TransformCost cost_of_outputs(const WinogradAxis& down, const WinogradAxis& across) {
  return {static_cast<double>(across.points * down.output_operations + down.tile * across.output_operations),
          2.0 * static_cast<double>(down.points * across.points + down.tile * across.tile)};
}

/// Of a vector of weights' columns and a channel, brought to the points a row at a time, or two that mirror each other.
/// What is stored is read before.
TransformCost cost_of_weights(const WinogradAxis& down, const WinogradAxis& across) {
  const rt::WinogradRows of = rt::winograd_rows(down);
  int64_t rows = 0, read = 0;
  for (const auto& row : std::span(of.row).first(static_cast<size_t>(down.points))) {
    if (row.repeats) continue;
    ++rows;
    if (!row.mirrors) read += across.taps * row.count;
  }
  return {static_cast<double>(read + rows * across.weight_operations),
          static_cast<double>(read + 2 * rows * across.points)};
}

double cycles_of(const Convolution& s, const Choice& c, const Target& target) {
  constexpr double kStart = 16;
  const WinogradAxis down = s.down.axis(), across = s.across.axis();
  const MachineModel& machine = target.machine;
  const double parts = rt::kPanel * 4.0 / target.vector_bytes;
  const double rows = static_cast<double>(c["rows"]), vectors = static_cast<double>(c["vectors"]) * parts;
  const double channels = static_cast<double>(s.channels()),
               panels = static_cast<double>(rt::panels_of(s.columns())) * parts;
  const double step = std::max({rows * vectors / machine.fmas, (vectors + rows) / machine.loads, machine.fma_latency});
  const auto cycles = [&](const TransformCost& t) { return t.operations / machine.fmas + t.moves / machine.loads; };
  const TransformCost of_weights = cost_of_weights(down, across);  // through the second cache
  const double sources = channels / rt::kPanel * parts * cycles(cost_of_source(down, across)),
               outputs = panels * cycles(cost_of_outputs(down, across)),
               weights = channels * panels *
                         (of_weights.operations / machine.fmas +
                          of_weights.moves * static_cast<double>(target.vector_bytes) / machine.l2_rate);
  const double flushes =
      static_cast<double>(rt::round_up_div(s.channels(), rt::winograd_block(c["kept"] != 0, c["tiles"])));
  const auto cycles_of_block = [&](int64_t tiles) {
    const double groups = std::ceil(static_cast<double>(tiles) / rows) * static_cast<double>(s.points());
    return groups * (panels / vectors) * (channels * step + flushes * (rows * vectors + kStart)) +
           static_cast<double>(tiles) * (sources + outputs) + (c["kept"] ? 0 : weights);
  };
  const int64_t block = c["tiles"], whole = s.tiles() / block, rest = s.tiles() % block;
  return (c["kept"] ? weights : 0) + static_cast<double>(whole) * cycles_of_block(block) +
         (rest ? cycles_of_block(rest) : 0);
}

/// What chunks share: the parts of a block's columns, of all blocks.
int64_t units_of(const Convolution& s, int64_t tiles, int64_t vectors) {
  return rt::round_up_div(s.tiles(), tiles) * rt::round_up_div(rt::panels_of(s.columns()), vectors);
}

constexpr int64_t kFewestUnits = 8;  // that threads share, where there are as many

class Winograd final : public Family {
 public:
  std::string_view name() const override { return "winograd"; }

  Matched match(const Problem& p) const override {
    constexpr int64_t kFewestChannels = rt::kPanel;
    constexpr double kMostError = 2e-5;
    if (p.target.is_gpu()) return "it is for processors";
    if (p.target.keeps_size) return "its code is larger than a plain sum's";
    const Graph& g = p.graph;
    auto found = match_contract(g, p.part.out);
    if (!found || found->is_integer() || (found->a.type() != DType::f32 && found->a.type() != DType::bf16))
      return "it is no sum of products of f32";
    const auto taps = taps_of(*found, p.part.out);
    if (!taps) return "it is no convolution of 3 taps along one axis or two, of stride 1 or 2 and known extents";
    auto roles = std::make_shared<WinogradRoles>();
    ContractMatch& m = roles->product = std::move(*found);
    roles->taps = *taps;
    roles->column = p.part.out.index[static_cast<size_t>(m.n_axis)];
    const int64_t channels = taps->channel.extent().int_value();
    if (channels < kFewestChannels) return "it has too few channels";
    const auto fills_tile = [](const Tapped& t) { return t.output.extent().int_value() >= t.axis().tile * t.dilation; };
    if (!std::ranges::all_of(taps->axes, fills_tile)) return "its outputs are fewer than a tile's";
    auto a = wish_for_a(g, p.layouts, m);
    if (!a || !std::ranges::all_of(taps->axes, [&](const Tapped& t) { return make_room(*a, g, m, t); }))
      return "an operand has no channels that are summed as they stand, or no border of zeros";
    if (has_halo(*a) && !a->border_value) a->border_value = zero(m.a.type());
    a->layout = with_halo(g.type(a->value).shape, a->order, a->before, a->after);
    m.folds.clear();
    for (const Tapped& t : taps->axes) m.folds.push_back(t.tap);
    m.folds.push_back(taps->channel);
    auto packing = packing_of(g, p.layouts, m, {}, roles->column);
    if (!packing || !guard_of(g.type(ValueId{m.b.operand()}).shape, m.b.index()).is_const(1))
      return "its weights are not known";
    const auto stride_down = taps->axes.size() == 2 ? taps->axes[0].stride : 0;
    if (taps->axes.size() == 1) packing->k.insert(packing->k.begin(), Packing::Axis{1, 0});
    if (!(error_of(*g[ValueId{m.b.operand()}].constant, *packing, stride_down, taps->axes.back().stride) <= kMostError))
      return "its errors would be too large";
    std::rotate(packing->k.begin(), packing->k.end() - 1, packing->k.end());  // a channel's taps together
    roles->wishes = {*a, in_panels(p.layouts, ValueId{m.b.operand()}, *packing)};
    return roles;
  }

  Lowered lower(const Problem& p, const Match& match) const override {
    const auto& roles = static_cast<const WinogradRoles&>(match);
    const Taps& taps = roles.taps;
    std::vector<Expr> axes = axes_in_memory(p.part.out, p.layouts[p.output.index]);
    const auto put_last = [&](Expr axis) {
      std::erase(axes, axis);
      axes.push_back(axis);
    };
    for (const Tapped& t : taps.axes) put_last(t.output);
    put_last(roles.column);
    LoweredKernel l =
        lower_product(p.graph, p.layouts, p.output, p.part, roles.product, granted(p.graph, p.layouts, roles.wishes[0]),
                      roles.wishes[1], std::move(axes), {}, Walks::Apart);
    l.kernel.family = this;
    if (!take_sum(l.kernel)) return "an operand's offsets are not affine";
    const Convolution s(l.kernel);
    if (!s.is_whole) return "its taps are not next to each other as they stand";
    const Expr weight = tap_in_panels(s, l.kernel.operands[Product::kB]);
    l.kernel.accumulated = rewrite(
        l.kernel.accumulated, [&](Expr e) { return e.op() == Op::Read && e.operand() == Product::kB ? weight : e; });
    return l;
  }

  std::vector<Choice> candidates(const Kernel& k, const Target& target) const override {
    constexpr int64_t kLeastRows = 4, kMostRows = 8, kMostVectors = 4, kMostGroups = 16;
    constexpr int64_t kMostScratch = 8 << 20;       // bytes of a thread's block
    constexpr int64_t kMostBesideKept = 512 << 10;  // in a second cache of 2 MB, too, larger ones are slower
    const Convolution s(k);
    std::vector<Choice> all;
    const auto add = [&](int64_t rows, int64_t vectors) {
      for (int64_t groups = kMostGroups; groups > 0; --groups) {
        const int64_t tiles = rows * rt::even_part(rt::round_up_div(s.tiles(), rows), groups);
        const bool kept = tiles < s.tiles() && s.kept_bytes() <= target.machine.l2_bytes * 3 / 4;
        const Choice next{
            {"rows", rows}, {"vectors", vectors}, {"tiles", tiles}, {"kept", kept}, {"lanes", rt::kPanel}};
        const int64_t most = kept ? std::min(target.machine.l2_bytes / 2, kMostBesideKept)
                                  : std::min(target.machine.l3_bytes / 4, kMostScratch);
        const bool fits = s.block_bytes(tiles, vectors) <= most && tiles < s.tiles() + rows &&
                          units_of(s, tiles, vectors) >= kFewestUnits;
        if ((fits || groups == 1) && std::ranges::find(all, next) == all.end()) all.push_back(next);
      }
    };
    const int64_t panels = rt::panels_of(s.columns());
    const rt::Tile thumb = rt::contract_tile(target.vector_bytes, target.vector_registers, s.tiles(), s.columns());
    add(std::min<int64_t>(thumb.rows, kMostRows), thumb.vectors);
    // a single register of columns would have each row's elements loaded for one FMA
    const int64_t fewest = std::min(panels, rt::kPanel * 4 < 2 * target.vector_bytes ? int64_t{2} : int64_t{1});
    for (int64_t vectors = std::min(kMostVectors, panels); vectors >= fewest; --vectors) {
      const int64_t tallest = rt::tallest_tile(target.vector_bytes, target.vector_registers, vectors);
      for (int64_t rows = std::min(kMostRows, tallest); rows >= kLeastRows; --rows)
        add(rows, rt::even_part(panels, vectors));
    }
    return all;
  }
  double price(const Kernel& k, const KernelCost& cost, const Choice& choice, const Target& target) const override {
    constexpr double kLeftOut = 1.1;  // by what the caches let wait: measured, 1.0 to 1.2
    return kLeftOut * cycles_of(Convolution(k), choice, target) / (target.machine.clock * 1e9) +
           target.seconds_to_move(cost.bytes);
  }
  void apply(Kernel& k, const Choice& choice, const Target& target) const override {
    Family::apply(k, choice, target);
    const Convolution s(k);
    const int64_t vectors = choice["vectors"],
                  weights = choice["kept"] ? s.kept_bytes() : s.row_bytes(choice["tiles"], vectors);
    k.scratch_bytes = s.block_bytes(choice["tiles"], vectors) + weights;
  }
  int64_t most_points_by_weights(const Kernel&) const override { return 0; }
  int64_t chunks(const Kernel& k, const Target& target) const override {
    const Convolution s(k);
    const Choice& c = k.choice;
    const double products = static_cast<double>(s.points() * s.tiles() * s.columns() * s.channels());
    const int64_t blocks = units_of(s, c["tiles"], rt::panels_of(s.columns()));
    const int64_t units = blocks >= kFewestUnits ? blocks : units_of(s, c["tiles"], c["vectors"]);
    const int64_t chunks = std::min(units, chunks_by_work(k, products / rt::kPanel, target));
    if (chunks == units || chunks <= 2) return chunks;
    return std::max<int64_t>(chunks / 4 * 4, 2);  // as many for each of two or four threads
  }
  bool chunks_repeat(const Kernel&) const override { return true; }

  std::string details(const Kernel& k) const override {
    const Choice& c = k.choice;
    const Convolution s(k);
    const auto taps = [](const KernelAxis& axis) {
      std::string text = "3";
      if (axis.stride != 1) text += fmt::format(" by {}", axis.stride);
      if (axis.dilation != 1) text += fmt::format(" every {}", axis.dilation);
      return text;
    };
    return fmt::format(" sum [{}{} x {}] tile {}x{} of {}{}", s.rows ? taps(s.down) + " x " : "", taps(s.across),
                       s.channels(), c["rows"], c["vectors"], c["tiles"], c["kept"] ? " kept" : "");
  }
  std::string_view legend() const override {
    return "winograd<R, V, D, A>(T): blocks of T tiles of 4 or 4 x 4 outputs, of strides D down (0: no taps) and A; "
           "R of them by V vectors of 16 columns in registers; kept: all weights are brought to the points first";
  }
  bool shares_sizes(const Kernel&) const override { return true; }
  void print(KernelPrinter& printer, const Kernel& k) const override {
    const Convolution s(k);
    const bool dilated = s.down.dilation != 1 || s.across.dilation != 1;
    printer.line(fmt::format("rt::winograd<{}, {}, {}, {}>(call, {}, {}, {}, {}, {}, {},", k.choice["rows"],
                             k.choice["vectors"], s.down.stride, s.across.stride,
                             constant_of(printer, integer(k.choice["tiles"]), k.choice["rows"]),
                             extents_of(printer, s.outer), constant_of(printer, integer(s.down.extent), 1),
                             constant_of(printer, s.sum.row.extent(), 1),
                             constant_of(printer, s.sum.column.extent(), k.choice["vectors"] * rt::kPanel),
                             constant_of(printer, s.sum.k.extent(), 1)));
    printer.line(fmt::format("             rt::image(x{} + {}, {}, {}, {}{}), rt::taps<{}>(x{}),", Product::kA,
                             printer.name(size_in(s.a).extent()), strides_of(printer, s.a, s.outer),
                             printer.name(integer(s.down.step)), printer.name(integer(s.across.step)),
                             dilated ? fmt::format(", {}, {}", s.down.dilation, s.across.dilation) : "",
                             k.choice["kept"] ? "true" : "false", Product::kB));
    print_sum_epilogue(printer, s.sum);
  }
};

}  // namespace

const Family& winograd_family() {
  static const Winograd family;
  return family;
}

}  // namespace cameo
