// The Contract family: a sum of products, tiled; what stands above the sum is its epilogue. `a` is asked for in a
// layout whose innermost axis is summed, with a halo of zeros as wide as the window reaches out, so that no guard is
// left; a constant `b` is packed in panels, its k running over the folds in the order in which they walk `a`. Integers
// of 8 bits are summed in i32, four terms at a time, with weights in quads: on processors alone. Of floats, a
// processor widens `a` where it is made, unless it multiplies bf16 two terms at a time, by weights in pairs; a GPU
// reads 16-bit floats as they stand, and has tensor cores for products of two alike. Its tile is one that both operands
// are brought to, through shared memory, where that is large both ways.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "optimizer/choose/family.h"
#include "optimizer/choose/tiles_of_blocks.h"
#include "optimizer/choose/tiles_of_sums.h"
#include "runtime/kernels/contract_shape.h"

namespace cameo {
namespace {

/// Fewer columns than a panel has run it partly empty: a single one only where folding a contiguous run in lanes is no
/// better.
bool worth_tiles(int64_t n, int64_t k_total, int64_t run, bool packed) {
  constexpr int64_t kShortRun = 128;
  return k_total >= 4 && (n >= (packed ? 2 : 8) || (packed && run <= kShortRun));
}

bool is_packed(const Kernel& k) { return k.choice["packed"]; }  // b is [n/16][terms][16], or so in quads or pairs

/// Whether terms are multiplied two by two as they stand.
bool is_of_pairs(const ContractMatch& m, const Target& target) {
  return target.has_products_of_pairs() && m.a.type() == DType::bf16 && m.b.type() == DType::bf16;
}

/// Few rows are a matter of reading `b` once, which many threads do better. Tensor cores are worth a tile that is
/// partly empty.
bool worth_staging(const Kernel& k, int64_t m, int64_t n, int64_t terms) {
  const DType a = k.operands[Product::kA];
  if (a != k.operands[Product::kB]) return false;
  return a == DType::f32 ? m >= 16 && n >= 24 && terms >= 16 : m > 4 && n >= 8 && terms >= 16;
}

/// Neighbouring columns that a thread of a staged tile takes from its sums at once: 16 bytes of f32.
int lanes_of_epilogue(const Kernel& k) {
  constexpr int kLanes = 4;
  const bool wide = std::ranges::any_of(k.operands, [](DType t) { return byte_size(t) > 4; });
  return !wide && k.axes.back().extent().is_const() && k.axes.back().extent().int_value() % kLanes == 0 &&
                 moves_together(k, kLanes)
             ? kLanes
             : 1;
}

/// Where blocks share a packed `b`, the points of all outer axes are rows.
BlockProduct block_product_of(const Kernel& k, const Product& p, bool staged) {
  const DType a = k.operands[Product::kA];
  if (staged && is_packed(k)) return {1, p.batches() * p.m(), p.n(), p.terms(), a};
  return {p.batches(), p.m(), p.n(), p.terms(), a};
}
rt::StagedTile staged_tile_of(const Choice& c) {
  return {static_cast<int>(c["rows"]), static_cast<int>(c["vectors"]), static_cast<int>(c["stages"])};
}
rt::BlockTile block_tile_of(const Choice& c) {
  return {static_cast<int>(c["rows"]), static_cast<int>(c["vectors"]), static_cast<int>(c["splits"])};
}

std::vector<Choice> choices_of_gpu(const Kernel& k, const Product& p, const Target& target) {
  const bool packed = is_packed(k);
  std::vector<Choice> all;
  if (const BlockProduct b = block_product_of(k, p, true); worth_staging(k, b.m, b.n, b.terms)) {
    for (const rt::StagedTile& tile : staged_tiles_of(b, target))
      all.push_back({{"packed", packed},
                     {"rows", tile.rows},
                     {"vectors", tile.vectors},
                     {"splits", 1},
                     {"stages", tile.stages},
                     {"in_registers", 1},
                     {"lanes", lanes_of_epilogue(k)}});
    return all;
  }
  for (const rt::BlockTile& tile : block_tiles_of(block_product_of(k, p, false), target))
    all.push_back({{"packed", packed},
                   {"rows", tile.rows},
                   {"vectors", tile.vectors},
                   {"splits", tile.term_groups},
                   {"stages", 0},
                   {"in_registers", 1},
                   {"lanes", rt::kPanel}});
  return all;
}
double cycles_of_gpu(const Kernel& k, const Choice& c, const Target& target) {
  const BlockProduct b = block_product_of(k, Product(k), c["stages"]);
  return c["stages"] ? cycles_of_staged_tiles(b, staged_tile_of(c), target)
                     : cycles_of_block_tiles(b, block_tile_of(c), target);
}

// ---- b of a processor's product, where it is no constant that stands in panels

bool walks(Expr variable, const Affine& offset) { return offset.stride_of(variable).is_static(1); }

/// The numbers of rows from which on it is brought into panels, a tile's columns at a time: that of the rule of thumb,
/// and one by which these rows are computed the other way. Fewer rows than that read it as it stands, which they can
/// along its terms or its columns.
std::vector<int64_t> ways_of_b(const Kernel& k, const Product& p) {
  constexpr int64_t kAlongTerms = 5, kAlongColumns = 16;
  const Affine b = affine(p.b_offset);
  if (is_packed(k) || !(walks(p.k, b) || walks(p.column, b))) return {0};
  const int64_t thumb = walks(p.k, b) ? kAlongTerms : kAlongColumns;
  return {thumb, p.m() < thumb ? 0 : p.m() + 1};
}

/// An element is loaded and stored; squares of vectors are transposed where its terms are neighbours.
double cycles_of_packing(const Product& p, int64_t columns, const Target& target) {
  const double lanes = target.vector_bytes / sizeof(float);
  const double shuffles = walks(p.k, affine(p.b_offset)) ? std::log2(lanes) / lanes : 0;
  const double moves = 2 * sizeof(float) / target.machine.l2_rate;
  return static_cast<double>(p.batches() * columns * p.terms()) * std::max(shuffles, moves);
}

/// Sums of one row with as many columns as a vector has lanes: a load for each column, beside one of `a`, and a square
/// is added up across at the end. All of `b` comes from the second cache the first time, if the first cannot hold it.
double cycles_of_dots(const Product& p, const Choice& c, const Target& target) {
  constexpr double kStart = 8;
  const MachineModel& machine = target.machine;
  const int64_t lanes = target.vector_bytes / static_cast<int64_t>(sizeof(float));
  const double width = static_cast<double>(lanes), terms = static_cast<double>(p.terms());
  const double read = width * terms * sizeof(float);  // of b
  const double l1 = static_cast<double>(machine.l1_bytes) / 2;
  const bool from_l2 = read * static_cast<double>(c["vectors"] * rt::kPanel / lanes) > l1;
  const double loads = terms / width * (width + 1) / machine.loads;
  const double sums = std::max(loads, from_l2 ? read / machine.l2_rate : 0) + 2 * width + kStart;
  const double squares = static_cast<double>(rt::round_up_div(p.n(), lanes));
  const double first = squares * read > l1 ? squares * read / machine.l2_rate : 0;
  return static_cast<double>(p.batches()) * (static_cast<double>(p.m()) * squares * sums + first);
}

/// Of the panels' columns; several products a step are those of all columns.
double share_computed(const Product& p, const Target& target) {
  if (p.zero || p.in_pairs) return 1;
  const int64_t lanes = target.vector_bytes / static_cast<int64_t>(sizeof(float));
  return static_cast<double>(rt::computed_columns(p.n(), lanes)) /
         static_cast<double>(rt::panels_of(p.n()) * rt::kPanel);
}

double cycles_of_processor(const Product& p, const Choice& c, const Target& target) {
  if (has_tile_registers(c)) return cycles_of_registers(p, tile_of(c), target);
  const double tiles = cycles_of_tiles(p, tile_of(c), c["in_registers"], target, share_computed(p, target));
  if (c["packed"]) return tiles;
  const Affine b = affine(p.b_offset);
  const bool stands = p.m() < c["pack_from"];
  if (stands && walks(p.k, b)) return cycles_of_dots(p, c, target);
  const int64_t columns = rt::panels_of(p.n()) * rt::kPanel;
  if (!stands || !walks(p.column, b)) return tiles + cycles_of_packing(p, columns, target);
  const int64_t last = std::min(columns, c["vectors"] * rt::kPanel);  // a tile that is not full of columns
  return tiles + (p.n() % rt::kPanel ? cycles_of_packing(p, last, target) : 0);
}

/// Whether all outer points multiply the same `b`.
bool shares_b(const Product& p) {
  const Affine b = affine(p.b_offset);
  return std::ranges::all_of(p.outer, [&](Expr v) { return b.stride_of(v).is_static(0); });
}

int64_t bytes_of_panel(const Product& p) { return rt::kPanel * p.terms() * (p.zero ? 1 : p.in_pairs ? 2 : 4); }

/// Whether its weights are floats of 16 bits, which become f32 one by one.
bool has_halves(const Kernel& k, const Product& p) {
  return is_packed(k) && !p.in_pairs && byte_size(k.operands[Product::kB]) == 2;
}

/// Tiles of a column at the smallest sizes.
double fewest_tiles(const Product& p, const rt::Tile& tile) {
  const auto least = [](Expr variable) { return static_cast<double>(range_of(variable.extent()).low); };
  double tiles = p.row ? std::ceil(least(p.row) / static_cast<double>(tile.rows)) : 1;
  for (Expr v : p.outer) tiles *= least(v);
  return tiles;
}

/// Whether a tile's panels come from memory while those before them are multiplied: also of weights that the second
/// cache would hold, for those of a whole model it does not, but no small ones. Of few tiles a column the first one
/// would wait for memory; of many, at any size, it takes no share of the time.
bool comes_ahead(const Kernel& k, const Product& p, const rt::Tile& tile, const Target& target) {
  constexpr int64_t kFewTiles = 2, kManyTiles = 100;
  if (!is_packed(k) || !shares_b(p)) return false;
  const int64_t tiles = tiles_down(p, tile), panel = bytes_of_panel(p);
  return tiles >= kFewTiles && fewest_tiles(p, tile) <= kManyTiles &&
         rt::panels_of(p.n()) * panel > target.machine.l2_bytes / 8 &&
         2 * tile.vectors * panel <= target.machine.l2_bytes;
}

/// The same of tiles in tile registers. But where a tile's panels and its rows come from the second cache each time,
/// all that wait for it are in use, and what comes ahead keeps them waiting; a convolution's rows overlap.
bool comes_ahead_of_registers(const Product& p, const rt::Tile& tile, const Target& target) {
  constexpr int64_t kManyTiles = 100;
  if (!shares_b(p)) return false;
  const int64_t panel = bytes_of_panel(p), all = rt::panels_of(p.n()) * panel;
  const bool waits = p.segments.empty() && tile.vectors * panel > target.machine.l1_bytes / 2;
  return tiles_down(p, tile) <= kManyTiles && all > target.machine.l1_bytes &&
         (!waits || all >= target.machine.l2_bytes / 2);
}

/// What one run moves of each operand, where all points of outer axes multiply the same `b`.
struct Moved {
  double a, b, out;  // bytes
  int64_t row;       // of `a`
};
Moved moved_by(const Kernel& k, const Product& p) {
  const auto rows = static_cast<double>(p.batches() * p.m());
  const int64_t row = Dim(affine(p.a_offset).stride_of(p.row)).estimate() * byte_size(k.operands[Product::kA]);
  return {rows * static_cast<double>(row), static_cast<double>(rt::panels_of(p.n()) * bytes_of_panel(p)),
          rows * static_cast<double>(p.n() * byte_size(k.operands[Product::kOutput])), row};
}
bool may_have_bands(const Kernel& k, const Product& p) { return is_packed(k) && p.row && shares_b(p); }

/// Tiles of a band, whose rows of `a` stay in the second cache while it is multiplied with all columns; 0: all tiles,
/// where reading `a` once for each column of tiles takes no more time than reading `b` once for each band.
int64_t band_of_cache(const Kernel& k, const Product& p, const rt::Tile& tile, const Target& target) {
  constexpr int64_t kLeastTiles = 8;
  if (!may_have_bands(k, p)) return 0;
  const Moved moved = moved_by(k, p);
  const int64_t tiles = p.batches() * rt::round_up_div(p.m(), tile.rows);
  const int64_t band = std::max(kLeastTiles, target.machine.l2_bytes / 2 / std::max<int64_t>(1, moved.row * tile.rows));
  if (tiles <= band) return 0;
  const double columns = static_cast<double>(rt::round_up_div(rt::panels_of(p.n()), tile.vectors));
  const double bands = static_cast<double>(rt::round_up_div(tiles, band));
  const double a = target.seconds_to_move(moved.a), b = target.seconds_to_move(moved.b);
  return columns * a > a + bands * b ? band : 0;
}

/// The same of tiles in tile registers. Where the first cache holds all panels, a single one: then rows come from the
/// second cache once, and the output's lines are written whole.
int64_t band_of_registers(const Kernel& k, const Product& p, const rt::Tile& tile, const Target& target) {
  return rt::panels_of(p.n()) * bytes_of_panel(p) <= target.machine.l1_bytes ? 1 : band_of_cache(k, p, tile, target);
}

/// That of the cache, or else a quarter of all tiles where threads do better to share the rows than the columns: each
/// then finds the rows that it made in its own cache, and makes those that it will read. But all of `b`, which each
/// reads, must take less than rows from another thread's cache, a quarter as fast (Emerald Rapids: 24 GB/s against
/// 105); weights that are widened would be so once for each band; one tile may have all columns, or one thread all
/// tiles.
int64_t band_of(const Kernel& k, const Product& p, const rt::Tile& tile, const Target& target) {
  constexpr int64_t kBands = 4, kLeastTiles = 2;
  constexpr double kFromOthers = 4;
  if (const int64_t band = band_of_cache(k, p, tile, target)) return band;
  const int64_t band = rt::round_up_div(tiles_down(p, tile), kBands);
  if (!may_have_bands(k, p) || band < kLeastTiles || rt::panels_of(p.n()) <= tile.vectors || has_halves(k, p) ||
      chunks_by_products(k, rt::kPanel, target) == 1)
    return 0;
  const Moved moved = moved_by(k, p);
  const bool pays = moved.b <= kFromOthers * (moved.a + moved.out);
  return pays && moved.b <= static_cast<double>(target.machine.l2_bytes) / 2 ? band : 0;
}

/// Whether a column's first tile stores weights of 16 bits as f32 for those below it. What it stores goes through the
/// second cache beside what comes ahead: the more of it that takes, the more tiles it has to serve (measured: 7 tiles
/// gain by a twentieth of the cache and lose by a fifth, 16 gain by a quarter).
bool widens(const Kernel& k, const Product& p, const rt::Tile& tile, int64_t band, const Target& target) {
  constexpr int64_t kTilesOfWholeCache = 48;
  if (!has_halves(k, p)) return false;
  const int64_t tiles = band ? band : shares_b(p) ? tiles_down(p, tile) : rt::round_up_div(p.m(), tile.rows);
  const int64_t stored = rt::contract_scratch_bytes(tile, p.terms()), l2 = target.machine.l2_bytes;
  return tiles >= rt::kTilesToWiden && stored <= l2 / 2 && tiles >= kTilesOfWholeCache * stored / l2;
}

std::vector<Choice> choices_of_processor(const Kernel& k, const Product& p, const Target& target) {
  const bool in_registers = sums_stay_in_registers(k, p);
  const std::vector<int64_t> ways = ways_of_b(k, p);
  std::vector<Choice> all;
  for (const rt::Tile& tile : tiles_of_sums(p, target)) {
    const int64_t band = band_of(k, p, tile, target);
    for (const int64_t pack_from : all.empty() ? ways : std::vector{ways[0]})
      all.push_back({{"packed", k.choice["packed"]},
                     {"ahead", comes_ahead(k, p, tile, target)},
                     {"widened", widens(k, p, tile, band, target)},
                     {"band", band},
                     {"pack_from", pack_from},
                     {"rows", tile.rows},
                     {"vectors", tile.vectors},
                     {"splits", tile.splits},
                     {"stages", 0},
                     {"in_registers", in_registers},
                     {"lanes", rt::kPanel}});
  }
  for (const rt::Tile& tile : tiles_of_registers(p, target))
    all.push_back({{"packed", k.choice["packed"]},
                   {"ahead", comes_ahead_of_registers(p, tile, target)},
                   {"band", band_of_registers(k, p, tile, target)},
                   {"pack_from", ways[0]},
                   {"rows", tile.rows},
                   {"vectors", tile.vectors},
                   {"splits", 1},
                   {"stages", 0},
                   {"in_registers", 0},
                   {"amx", 1},
                   {"lanes", rt::kPanel}});
  return all;
}

struct Roles final : Match {  // wishes: `a`, and a packed `b`
  ContractMatch product;
  Expr column;  // of the output
};

class Contract final : public Family {
 public:
  std::string_view name() const override { return "contract"; }
  double efficiency() const override { return 0.8; }

  Matched match(const Problem& p) const override {
    const Graph& g = p.graph;
    auto found = match_contract(g, p.part.out);
    if (!found) return "it is no sum of products of two operands of which one has an axis of its own";
    auto roles = std::make_shared<Roles>();
    ContractMatch& m = roles->product = std::move(*found);
    const auto a = wish_for_a(g, p.layouts, m);
    if (!a) return "an operand has no axis that is summed as it stands, or no border of zeros";
    order_folds(m, *a);
    const ValueId b{m.b.operand()};
    if (!guard_of(g.type(b).shape, m.b.index()).is_const(1)) return "an operand is read outside of itself";
    roles->column = p.part.out.index[static_cast<size_t>(m.n_axis)];
    auto packing = packing_of(g, p.layouts, m, {}, roles->column);
    if (m.is_integer() && (!packing || !p.target.has_integer_products()))
      return "its integers are for processors, with known weights";
    const auto widens = [&](Expr load) { return load.type() == DType::f32 || p.target.has_products_of(load.type()); };
    const bool in_pairs = packing && is_of_pairs(m, p.target);
    if (!m.is_integer() && !in_pairs && (!widens(m.a) || (!packing && !widens(m.b))))
      return "its operands have 16 bits";
    const int64_t run = Dim(m.folds.back().extent()).estimate(), columns = Dim(roles->column.extent()).estimate();
    if (!worth_tiles(columns, points_of(m.folds), run, packing.has_value()))
      return "it has too few columns or terms for a tile";
    roles->wishes = {*a};
    if (packing && in_pairs && packing->k.size() == 1)
      packing->form = PanelForm::Pairs, packing->run = packing->k[0].extent;
    if (packing) roles->wishes.push_back(in_panels(p.layouts, b, *packing));
    return roles;
  }

  Lowered lower(const Problem& p, const Match& match) const override {
    const auto& roles = static_cast<const Roles&>(match);
    const bool packed = roles.wishes.size() > 1;
    // axes in memory order with the column last, whatever the output's layout
    std::vector<Expr> axes = axes_in_memory(p.part.out, p.layouts[p.output.index]);
    std::erase(axes, roles.column);
    axes.push_back(roles.column);
    LoweredKernel l = lower_product(
        p.graph, p.layouts, p.output, p.part, roles.product, granted(p.graph, p.layouts, roles.wishes[0]),
        packed ? roles.wishes[1] : as_made(p.layouts, ValueId{roles.product.b.operand()}), std::move(axes));
    l.kernel.family = this;
    const bool in_pairs = packed && is_of_pairs(roles.product, p.target);
    l.kernel.choice = {{"packed", in_pairs ? kInPanelsOfPairs : packed}};
    if (!take_sum(l.kernel) || (!packed && !Product(l.kernel).segments.empty()))
      return "an operand's offsets are not affine";
    take_most_rows(l.kernel);
    if (packed) put_panels(l.kernel);
    if (in_pairs || roles.product.is_integer()) {
      Packing& panels = *l.operands[Product::kB].packing;
      panels.form = in_pairs ? PanelForm::Pairs : PanelForm::Quads;
      panels.run = Product(l.kernel).k.extent().int_value();
    }
    return l;
  }

  std::vector<Choice> candidates(const Kernel& k, const Target& target) const override {
    const Product p(k);
    if (target.is_gpu()) return choices_of_gpu(k, p, target);
    return choices_of_processor(k, p, target);
  }
  /// Weights ahead or not, and bands of other heights, of which 0 and 1 are the two orders of the loops.
  std::vector<Choice> reorderings(const Kernel& k, const Choice& c) const override {
    const Product p(k);
    if (!c["packed"]) return {};
    std::vector<Choice> all;
    if (shares_b(p)) all.push_back(c.with("ahead", !c["ahead"]));
    if (c.get("widened", 0)) all.push_back(c.with("widened", 0));
    if (!p.row) return all;
    const int64_t band = c["band"], tiles = tiles_down(p, tile_of(c));
    std::set<int64_t> others{0, 1, band ? 2 * band : rt::round_up_div(tiles, 4), band / 2};
    others.erase(band);
    for (const int64_t other : others)
      if (other < tiles) all.push_back(c.with("band", other));
    return all;
  }
  double price(const Kernel& k, const KernelCost& cost, const Choice& choice, const Target& target) const override {
    if (target.is_gpu()) {
      const Choice thumb = choices_of_gpu(k, Product(k), target).front();
      const double ratio = cycles_of_gpu(k, choice, target) / cycles_of_gpu(k, thumb, target);
      return scaled(Family::price(k, cost, choice, target), ratio, target);
    }
    return cycles_of_processor(Product(k), choice, target) / (target.machine.clock * 1e9) +
           target.seconds_to_move(cost.bytes);
  }

  void apply(Kernel& k, const Choice& choice, const Target& target) const override {
    Family::apply(k, choice, target);
    if ((is_packed(k) && !choice.get("widened", 0)) || target.is_gpu()) return;
    const Product p(k);
    Dim terms(p.k.extent());
    for (Expr v : p.segments) terms = terms * Dim(v.extent());
    k.scratch_bytes = terms * rt::contract_scratch_bytes(tile_of(choice), 1);
    if (k.scratch_bytes.upper() != kOpen) k.scratch_bytes = k.scratch_bytes.upper();
  }

  bool computes_strips() const override { return true; }
  int64_t chunks(const Kernel& k, const Target& target) const override {
    if (!target.is_gpu()) return chunks_by_products(k, rt::kPanel, target);
    const BlockProduct b = block_product_of(k, Product(k), k.choice["stages"]);
    const int64_t tiles = k.choice["stages"] ? rt::staged_tiles(staged_tile_of(k.choice), b.m, b.n)
                                             : rt::block_tiles(block_tile_of(k.choice), target.block_threads, b.m, b.n);
    return b.batches * tiles;
  }

  std::string details(const Kernel& k) const override {
    const Product p(k);
    const Choice& c = k.choice;
    return fmt::format(" sum [{}]{}{}{} tile {}x{}{}{}{}{}", text_of_sum(p),
                       p.zero         ? " in quads"
                       : p.in_pairs   ? " in pairs"
                       : is_packed(k) ? " packed"
                                      : "",
                       c.get("widened", 0) ? " widened" : "", c.get("ahead", 0) ? " ahead" : "", c["rows"],
                       c["vectors"], c["splits"] > 1 ? fmt::format(" by {}", c["splits"]) : "",
                       c.get("band", 0) ? fmt::format(" in bands of {}", c["band"]) : "",
                       c["stages"] ? k.operands[Product::kA] == DType::f32 ? " staged" : " on tensor cores" : "",
                       c["in_registers"]       ? " in registers"
                       : has_tile_registers(c) ? " in tile registers"
                                               : "");
  }
  std::string_view legend() const override {
    return "contract<R, V, S, P>: a tile of R rows by V vectors of 16 columns; S: its sums stay in registers; P: parts "
           "of each sum; last: tiles of a band; in_tile_registers: sums of 16 x 16 by AMX";
  }

  void print(KernelPrinter& printer, const Kernel& k) const override {
    const Product p(k);
    const int64_t pack_from = p.zero         ? kInQuads
                              : p.in_pairs   ? kInPairs
                              : is_packed(k) ? kInPanels
                                             : k.choice.get("pack_from", 0);
    std::string b = b_of(printer, p, pack_from);
    if (k.choice.get("widened", 0)) b = fmt::format("rt::widened({})", b);
    if (k.choice.get("ahead", 0)) b = fmt::format("rt::streamed({})", b);
    if (has_tile_registers(k.choice)) b = in_tile_registers(p, tile_of(k.choice), b);
    const int64_t band = k.choice.get("band", 0);
    print_product(printer, p,
                  {.function = function_of(k.choice),
                   .b = b,
                   .last = band ? printer.constant(integer(band), 1) : "",
                   .rows = k.choice["rows"],
                   .columns = k.choice["vectors"] * rt::kPanel,
                   .terms = shared_terms(k, p)});
  }
  bool shares_sizes(const Kernel& k) const override { return !has_tile_registers(k.choice); }

 private:
  /// What divides the terms of kernels that share a function; 0: they share none. A sum of one block that goes through
  /// memory has its own number, which says so; weights that are widened on the way leave no registers for one.
  static int64_t shared_terms(const Kernel& k, const Product& p) {
    const bool is_one_block = p.segments.empty() && Dim(p.k.extent()).upper() <= rt::kSumBlock;
    return (is_one_block && !k.choice["in_registers"]) || k.choice.get("widened", 0) ? 0 : rt::kTermsOfRound;
  }
  static std::string function_of(const Choice& c) {
    if (c["stages"])
      return fmt::format("contract_staged<{}, {}, {}, {}>", c["rows"], c["vectors"], c["lanes"], c["stages"]);
    return fmt::format("contract<{}, {}, {}, {}>", c["rows"], c["vectors"], c["in_registers"] != 0, c["splits"]);
  }
};

}  // namespace

const Family& contract_family() {
  static const Contract family;
  return family;
}

}  // namespace cameo
