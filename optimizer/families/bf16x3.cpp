// The bf16x3 family: sums of products of f32 by tile registers that multiply bf16, each number in three parts
// (runtime/kernels/bf16x3_shape.h has the algorithm and its source). The kernel's expressions and its weights' panels
// are those of the plain sum, with which it competes by price.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "optimizer/choose/family.h"
#include "optimizer/choose/tiles_of_sums.h"
#include "runtime/kernels/bf16x3_shape.h"

namespace cameo {
namespace {

bool is_known(Expr variable) { return variable.extent().is_const(); }
/// The fewest points that there are at any size.
int64_t fewest(std::span<const Expr> variables) {
  int64_t points = 1;
  for (Expr v : variables) points *= static_cast<int64_t>(range_of(v.extent()).low);
  return points;
}

struct RolesInParts final : Match {  // wishes: `a`, and the weights in panels
  ContractMatch product;
  Expr column;  // of the output
};

/// Fewer rows than that take less time as the plain sum, as measured: the weights' parts do not pay for themselves.
constexpr int64_t kFewRows = 16;

int64_t rows_of(const Product& p) { return p.batches() * p.m(); }
int64_t bands_of(const Product& p, const Choice& c) { return rt::round_up_div(rows_of(p), c["rows"] * c["band"]); }

rt::Tile tile_of_blocks(const Choice& c) { return {static_cast<int>(c["rows"]), static_cast<int>(c["vectors"])}; }
/// Of the weights: those of f16 have two.
int64_t parts_of(const Kernel& k) { return rt::bf16x3_parts(k.operands[Product::kB] == DType::f16); }

/// Chunks that are worth a thread of their own: such products are so much faster than those of f32.
int64_t worthwhile_chunks(const Kernel& k, const Product& p, const Target& target) {
  constexpr double kTimes = 1.5;
  return chunks_by_work(k, static_cast<double>(rows_of(p) * p.n() * p.terms()) / rt::kPanel / kTimes, target);
}
constexpr int64_t kThreads = 8;  // that shall have a chunk each

/// Into how many parts chunks may divide a band's columns. A thread brings the rows of its chunks' bands into parts,
/// which shall take little beside multiplying them: once for all chunks of a band, or, of more terms than a block, for
/// each.
int64_t most_column_parts(const Product& p) {
  constexpr int64_t kFewestPanels = 24, kFewPanels = 4;
  const bool in_blocks = rt::bf16x3_steps(p.terms()) > rt::kBlockSteps;
  return std::max<int64_t>(1, rt::panels_of(p.n()) / (in_blocks ? kFewestPanels : kFewPanels));
}
/// Into how many they do: a chunk's first weights are parted while nothing is multiplied, so only threads that lack
/// chunks make them smaller than this. Never one chunk alone: two threads are worth bringing the rows into parts twice.
int64_t column_parts(const Product& p, int64_t bands) {
  constexpr int64_t kPanels = 8;
  const int64_t large = rt::panels_of(p.n()) / kPanels, wanted = rt::round_up_div(kThreads, bands);
  const int64_t parts = std::min(most_column_parts(p), std::max(large, wanted));
  return bands * parts == 1 && large > 0 ? 2 : parts;
}

/// Tiles one below another, for each band of which all weights are brought into parts: as many as have their rows, of a
/// block of terms, in half of the second cache, unless threads would then lack chunks.
int64_t band_in_parts(const Kernel& k, const Product& p, const rt::Tile& tile, const Target& target) {
  constexpr int64_t kLeast = 4;
  const int64_t block = rt::bf16x3_block_steps(p.terms()) * rt::kStepTerms;
  const int64_t bytes = tile.rows * block * rt::kParts16 * static_cast<int64_t>(sizeof(uint16_t));
  const int64_t tiles = rt::round_up_div(rows_of(p), tile.rows);
  const int64_t bands = rt::round_up_div(std::min(kThreads, worthwhile_chunks(k, p, target)), most_column_parts(p));
  const int64_t most = std::max<int64_t>(1, target.machine.l2_bytes / 2 / bytes);
  return rt::even_part(tiles, std::min(most, std::max(kLeast, tiles / bands)));
}

class Bf16x3 final : public Family {
 public:
  std::string_view name() const override { return "bf16x3"; }

  Matched match(const Problem& p) const override {
    constexpr int64_t kLikelyRows = 64, kFewestColumns = 6 * rt::kPanel, kFewestTerms = 2 * rt::kStepTerms;
    if (!p.target.machine.amx) return "the target has no tile registers";
    if (p.target.keeps_size) return "its code is larger than a plain sum's";
    const Graph& g = p.graph;
    auto found = match_contract(g, p.part.out);
    const bool widens = found && (found->b.type() == DType::f32 || found->b.type() == DType::f16);
    if (!widens || found->a.type() != DType::f32) return "it is no sum of products of f32";
    auto roles = std::make_shared<RolesInParts>();
    ContractMatch& m = roles->product = std::move(*found);
    const auto a = wish_for_a(g, p.layouts, m);
    if (!a) return "an operand has no axis that is summed as it stands, or no border of zeros";
    order_folds(m, *a);
    const ValueId b{m.b.operand()};
    roles->column = p.part.out.index[static_cast<size_t>(m.n_axis)];
    auto packing = packing_of(g, p.layouts, m, {}, roles->column);
    if (!packing || !packing->groups.empty() || !guard_of(g.type(b).shape, m.b.index()).is_const(1))
      return "it has no known weights that all its rows share";
    if (packing->column.extent < kFewestColumns || packing->k_total() < kFewestTerms)
      return "it has too few columns or terms";
    if (points_of(p.part.out.index) / packing->column.extent < kLikelyRows)
      return "its rows are so few that it waits for its weights";
    roles->wishes = {*a, in_panels(p.layouts, b, *packing)};
    return roles;
  }

  Lowered lower(const Problem& p, const Match& match) const override {
    const auto& roles = static_cast<const RolesInParts&>(match);
    std::vector<Expr> axes = axes_in_memory(p.part.out, p.layouts[p.output.index]);
    std::erase(axes, roles.column);
    axes.push_back(roles.column);
    LoweredKernel l = lower_product(p.graph, p.layouts, p.output, p.part, roles.product,
                                    granted(p.graph, p.layouts, roles.wishes[0]), roles.wishes[1], std::move(axes));
    l.kernel.family = this;
    if (!take_sum(l.kernel)) return "an operand's offsets are not affine";
    take_most_rows(l.kernel);
    put_panels(l.kernel);
    return l;
  }

  std::vector<Choice> candidates(const Kernel& k, const Target& target) const override {
    constexpr rt::Tile kTiles[] = {{2, 2}, {1, 3}, {3, 1}};  // in blocks
    const Product p(k);
    const bool is_static = std::ranges::all_of(k.axes, is_known);
    std::vector<Choice> all;
    for (const rt::Tile& blocks : kTiles) {
      const int64_t most = blocks.rows * rt::kTileRows;
      const rt::Tile tile{static_cast<int>(is_static ? rt::even_part(rows_of(p), most) : most),
                          static_cast<int>(rt::even_part(rt::panels_of(p.n()), blocks.vectors))};
      const Choice next{{"rows", tile.rows},
                        {"vectors", tile.vectors},
                        {"band", band_in_parts(k, p, tile, target)},
                        {"few", fewest(k.axes) / p.n() < kFewRows ? kFewRows : 0},
                        {"lanes", rt::kPanel}};
      if (std::ranges::find(all, next) == all.end()) all.push_back(next);
    }
    return all;
  }
  /// Bands of half and of twice as many tiles.
  std::vector<Choice> reorderings(const Kernel& k, const Choice& c) const override {
    const int64_t tiles = rt::round_up_div(rows_of(Product(k)), c["rows"]);
    std::vector<Choice> all;
    for (const int64_t band : {c["band"] / 2, std::min(2 * c["band"], tiles)})
      if (band > 0 && band != c["band"]) all.push_back(c.with("band", band));
    return all;
  }
  /// A row of a tile's step takes a cycle and a half, as such products slow the processor's clock; a vector of rows in
  /// parts is written through the second cache, which each chunk does anew, a pair of weights half beneath the products
  /// of those before it. Weights come from memory, where the loads of tiles leave little time to hide that.
  double price(const Kernel& k, const KernelCost& cost, const Choice& choice, const Target& target) const override {
    constexpr double kRow = 1.5, kLeastRows = 9, kOfParts = 12, kOfWeights = 10, kOfSum = 8, kStart = 200;
    const Product p(k);
    if (rows_of(p) < choice["few"]) {
      const rt::Tile few = rt::bf16x3_few_rows(choice["few"], p.n());
      return cycles_of_tiles(p, few, false, target) / (target.machine.clock * 1e9) + target.seconds_to_move(cost.bytes);
    }
    const double kinds = static_cast<double>(3 + parts_of(k));
    const int64_t rows = choice["rows"], blocks = rt::round_up_div(rows, rt::kTileRows);
    const double tiles = static_cast<double>(rt::round_up_div(rows_of(p), rows));
    const double panels = static_cast<double>(rt::panels_of(p.n())), vectors = static_cast<double>(choice["vectors"]);
    const double steps = static_cast<double>(rt::bf16x3_steps(p.terms()));
    const double height = std::max(kLeastRows, static_cast<double>(rt::round_up_div(rows, blocks)));
    const double products = tiles * panels * steps * kinds * static_cast<double>(blocks) * height * kRow;
    const double sums = tiles * panels * (static_cast<double>(rows) * kOfSum + kStart / vectors);
    const double parts = tiles * static_cast<double>(rows) * steps * 2 * kOfParts;
    const double bands = static_cast<double>(bands_of(p, choice));
    const double weights = bands * panels * steps * (rt::kStepTerms / rt::kPair) * kOfWeights;
    const double cycles = products + sums + parts + weights;
    return cycles / (target.machine.clock * 1e9) + target.seconds_to_move(cost.bytes);
  }
  void apply(Kernel& k, const Choice& choice, const Target& target) const override {
    Family::apply(k, choice, target);
    const Product p(k);
    k.scratch_bytes = rt::bf16x3_scratch_bytes(tile_of_blocks(choice), choice["band"], p.n(), p.terms());
  }
  bool computes_strips() const override { return true; }
  /// Those of a plain sum. Else a chunk for a few columns would bring all rows into parts for them.
  int64_t most_points_by_weights(const Kernel& k) const override {
    return std::max<int64_t>(0, k.choice["few"] - 1) * Product(k).n();
  }
  int64_t chunks(const Kernel& k, const Target& target) const override {
    const Product p(k);
    const int64_t bands = bands_of(p, k.choice);
    return std::min(bands * column_parts(p, bands), worthwhile_chunks(k, p, target));
  }
  bool chunks_repeat(const Kernel&) const override { return true; }

  std::string details(const Kernel& k) const override {
    const Choice& c = k.choice;
    return fmt::format(" sum [{}] in {} parts tile {}x{} in bands of {}{}", text_of_sum(Product(k)), parts_of(k),
                       c["rows"], c["vectors"], c["band"],
                       c["few"] ? fmt::format(", whole below {} rows", c["few"]) : "");
  }
  std::string_view legend() const override {
    return "bf16x3<R, V, B, F>: products of f32 as some of bf16 by AMX; a tile of R rows by V vectors of 16 columns; "
           "B: tiles of a band; fewer than F rows are contract's";
  }
  void print(KernelPrinter& printer, const Kernel& k) const override {
    const Choice& c = k.choice;
    print_product(printer, Product(k),
                  {fmt::format("bf16x3<{}, {}, {}, {}>", c["rows"], c["vectors"], c["band"], c["few"]),
                   fmt::format("x{}", Product::kB)});
  }
};

}  // namespace

const Family& bf16x3_family() {
  static const Bf16x3 family;
  return family;
}

}  // namespace cameo
