// The Contract family: a sum of products, tiled; what stands above the sum is its epilogue. `a` is asked for in a
// layout whose innermost axis is summed, with a halo of zeros as wide as the window reaches out, so that no guard is
// left; a constant `b` is packed in panels, its k running over the folds in the order in which they walk `a`. A
// processor widens `a` where it is made; a GPU reads 16-bit floats as they stand, and has tensor cores for products of
// two alike. Its tile is one that both operands are brought to, through shared memory, where that is large both ways.
#include <fmt/format.h>

#include <algorithm>

#include "optimizer/choose/family.h"
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

bool is_packed(const Kernel& k) { return k.choice["packed"]; }  // b is [n/16][terms][16]

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
  return !wide && k.axes.back().extent().int_value() % kLanes == 0 && moves_together(k, kLanes) ? kLanes : 1;
}

Choice choice_of_gpu(const Kernel& k, const Product& p, const Target& target) {
  const int64_t batches = is_packed(k) ? 1 : p.batches(), rows = is_packed(k) ? p.batches() * p.m() : p.m();
  if (worth_staging(k, rows, p.n(), p.terms())) {
    const rt::StagedTile tile =
        rt::staged_tile(target.sm_count, batches, rows, p.n(), static_cast<int>(byte_size(k.operands[Product::kA])));
    return {{"packed", is_packed(k)},
            {"rows", tile.rows},
            {"vectors", tile.vectors},
            {"groups", 1},
            {"staged", 1},
            {"in_registers", 1},
            {"lanes", lanes_of_epilogue(k)}};
  }
  const rt::BlockTile tile =
      rt::block_tile(target.block_threads, target.sm_count, p.batches(), p.m(), p.n(), p.terms());
  return {{"packed", is_packed(k)},     {"rows", tile.rows}, {"vectors", tile.vectors},
          {"groups", tile.term_groups}, {"staged", 0},       {"in_registers", 1},
          {"lanes", rt::kPanel}};
}

std::vector<Choice> choices_of_processor(const Kernel& k, const Product& p, const Target& target) {
  const bool in_registers = sums_stay_in_registers(k, p);
  std::vector<Choice> all;
  for (const auto& [rows, vectors] : tiles_of_sums(p, target))
    all.push_back({{"packed", is_packed(k)},
                   {"rows", rows},
                   {"vectors", vectors},
                   {"groups", 1},
                   {"staged", 0},
                   {"in_registers", in_registers},
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
    if (std::ranges::any_of(m.folds, [](Expr f) { return !f.extent().is_const(); }))
      return "the sum has no constant length";
    const auto a = wish_for_a(g, p.layouts, m);
    if (!a) return "an operand has no axis that is summed as it stands, or no border of zeros";
    order_folds(m, *a);
    const ValueId b{m.b.operand()};
    if (!guard_of(g.type(b).shape, m.b.index()).is_const(1)) return "an operand is read outside of itself";
    roles->column = p.part.out.index[static_cast<size_t>(m.n_axis)];
    const auto packing = packing_of(g, p.layouts, m, {}, roles->column);
    const auto widens = [&](Expr load) { return load.type() == DType::f32 || p.target.has_products_of(load.type()); };
    if (!widens(m.a) || (!packing && !widens(m.b))) return "its operands have 16 bits";
    const int64_t run = m.folds.back().extent().int_value();
    if (!worth_tiles(roles->column.extent().int_value(), points_of(m.folds), run, packing.has_value()))
      return "it has too few columns or terms for a tile";
    roles->wishes = {*a};
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
    l.kernel.choice = {{"packed", packed}};
    if (!take_sum(l.kernel, packed)) return "an operand's offsets are not affine";
    return l;
  }

  std::vector<Choice> candidates(const Kernel& k, const Target& target) const override {
    const Product p(k);
    if (target.is_gpu()) return {choice_of_gpu(k, p, target)};
    return choices_of_processor(k, p, target);
  }
  double price(const Kernel& k, const KernelCost& cost, const Choice& choice, const Target& target) const override {
    if (target.is_gpu()) return Family::price(k, cost, choice, target);
    return cycles_of_tiles(Product(k), tile_of(choice), choice["in_registers"], target) / (target.machine.clock * 1e9) +
           seconds_to_move(cost.bytes, target.machine);
  }

  void apply(Kernel& k, const Choice& choice, const Target& target) const override {
    Family::apply(k, choice, target);
    k.scratch_bytes =
        is_packed(k) || target.is_gpu() ? 0 : rt::contract_scratch_bytes(tile_of(choice), Product(k).terms());
  }

  int chunks(const Kernel& k, const Target& target) const override {
    const Product p(k);
    if (!target.is_gpu())
      return chunks_by_work(k, static_cast<double>(points_of(k.axes)) * static_cast<double>(p.terms()) / 16);
    const int rows = static_cast<int>(k.choice["rows"]), vectors = static_cast<int>(k.choice["vectors"]);
    const int64_t n = p.n(), m = p.m();
    if (k.choice["staged"]) {
      const rt::StagedTile tile{rows, vectors};
      return chunks_by_units(is_packed(k) ? rt::staged_tiles(tile, p.batches() * m, n)
                                          : p.batches() * rt::staged_tiles(tile, m, n));
    }
    const rt::BlockTile tile{rows, vectors, static_cast<int>(k.choice["groups"])};
    return chunks_by_units(p.batches() * rt::block_tiles(tile, target.block_threads, m, n));
  }

  std::string details(const Kernel& k) const override {
    const Product p(k);
    std::string sum;
    for (Expr v : p.segments) sum += to_string(v.extent()) + " x ";
    const Choice& c = k.choice;
    return fmt::format(" sum [{}{}]{} tile {}x{}{}{}{}", sum, to_string(p.k.extent()), is_packed(k) ? " packed" : "",
                       c["rows"], c["vectors"], c["groups"] > 1 ? fmt::format(" by {}", c["groups"]) : "",
                       c["staged"] ? k.operands[Product::kA] == DType::f32 ? " staged" : " on tensor cores" : "",
                       c["in_registers"] ? " in registers" : "");
  }
  std::string_view legend() const override {
    return "contract<R, V, S>: a tile of R rows by V vectors of 16 columns; S: its sums stay in registers";
  }

  void print(KernelPrinter& printer, const Kernel& k) const override {
    print_product(printer, Product(k), function_of(k.choice), is_packed(k));
  }

 private:
  static std::string function_of(const Choice& c) {
    if (c["staged"]) return fmt::format("contract_staged<{}, {}, {}>", c["rows"], c["vectors"], c["lanes"]);
    const std::string groups = c["groups"] > 1 ? fmt::format(", {}", c["groups"]) : "";
    return fmt::format("contract<{}, {}, {}{}>", c["rows"], c["vectors"], c["in_registers"] != 0, groups);
  }
};

}  // namespace

const Family& contract_family() {
  static const Contract family;
  return family;
}

}  // namespace cameo
