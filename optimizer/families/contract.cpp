// The Contract family: a sum of products, tiled; what stands above the sum is its epilogue. `a` is asked for in a
// layout whose innermost axis is summed, with a halo of zeros as wide as the window reaches out, so that no guard is
// left; a constant `b` is packed in panels, its k running over the folds in the order in which they walk `a`. A
// processor widens `a` where it is made; a GPU reads 16-bit floats as they stand, and has tensor cores for products of
// two alike. Its tile is one that both operands are brought to, through shared memory, where that is large both ways.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "optimizer/choose/family.h"
#include "runtime/kernels/contract_shape.h"

namespace cameo {
namespace {

bool is_fold(const ContractMatch& m, Expr v) { return std::ranges::find(m.folds, v) != m.folds.end(); }

/// The axis of `a` whose index is a fold variable and nothing else: the one that is best summed contiguously.
int summed_axis(const ContractMatch& m, const Layout& made) {
  int best = -1;
  for (size_t d = 0; d < m.a.index().size(); ++d)
    if (is_fold(m, m.a.index()[d]) && (best < 0 || made.pitch[d] < made.pitch[best])) best = static_cast<int>(d);
  return best;
}

/// How `a` must stand: as it was made if that will do, else with the summed axis last and a halo.
std::optional<Operand> layout_of_a(const Graph& g, const Layouts& layouts, const ContractMatch& m) {
  ValueId v{m.a.operand()};
  int last = summed_axis(m, layouts[v.index]);
  if (last < 0) return std::nullopt;
  std::optional<Operand> a = halo_of(g, m.a, layouts[v.index]);
  if (a && a->around && a->around.float_value() != 0) return std::nullopt;
  if (!a || (!has_halo(*a) && a->layout.pitch[last] == 1)) return a;
  if (auto wide = layouts.haloed.find(v);
      wide != layouts.haloed.end() && wide->second.layout.pitch[last] == 1 && covers(wide->second, *a))
    return wide->second;
  std::erase(a->order, last);
  a->order.push_back(last);
  a->layout = with_halo(extents(g.type(v).shape), a->order, a->before, a->after);
  return a;
}

/// A fold that walks `a` backwards (a transposed convolution's taps) is counted from its end.
void turn_folds(ContractMatch& m, const Operand& a) {
  for (Expr& f : m.folds) {
    if (affine(physical(a.layout, m.a.index())).coefficient_of(f) >= 0) continue;
    Expr back = var(f.extent());
    std::vector<Expr> from{f}, to{f.extent() - integer(1) - back};
    m.a = substitute(m.a, from, to);
    m.b = substitute(m.b, from, to);
    f = back;
  }
}
/// The folds from the one with the longest stride in `a` to the one that is contiguous.
void sort_folds(ContractMatch& m, Expr a_offset) {
  Affine a = affine(a_offset);
  std::stable_sort(m.folds.begin(), m.folds.end(),
                   [&](Expr x, Expr y) { return a.coefficient_of(x) > a.coefficient_of(y); });
}

Expr linear(std::span<const Expr> vars) {
  Expr at = integer(0);
  for (Expr v : vars) at = at * v.extent() + v;
  return at;
}

/// Where the panels of a constant have an element: `term` counts the terms of the sum, of which there are `terms`.
Expr panel_offset(Expr column, Expr term, int64_t terms) {
  const Expr panel = integer(rt::kPanel);
  return simplify_index((floor_div(column, panel) * integer(terms) + term) * panel + mod(column, panel));
}

/// The panels of a constant whose element is affine in the column and the folds alone; nullopt where it is not.
std::optional<Packing> packing_of(Expr offset, Expr column, const std::vector<Expr>& folds) {
  Affine at = affine(offset);
  Packing p{{column.extent().int_value(), at.coefficient_of(column)}, {}, at.constant};
  for (Expr f : folds) p.k.push_back({f.extent().int_value(), at.coefficient_of(f)});
  for (const Affine::Term& t : at.terms)
    if (t.term != column && std::ranges::find(folds, t.term) == folds.end()) return std::nullopt;
  return p;
}

/// Fewer columns than a panel has run it partly empty: a single one only where folding a contiguous run in lanes is no
/// better.
bool worth_tiles(int64_t n, int64_t k_total, int64_t run, bool packed) {
  constexpr int64_t kShortRun = 128;
  return k_total >= 4 && (n >= (packed ? 2 : 8) || (packed && run <= kShortRun));
}

bool affine_in(Expr offset, const std::vector<Expr>& vars) {
  for (const Affine::Term& t : affine(offset).terms)
    if (std::ranges::find(vars, t.term) == vars.end()) return false;
  return true;
}

/// Whether a value calls exp or its kin.
bool calls_function(Expr value) {
  std::vector<Expr> roots{value};
  bool found = false;
  visit(roots, [&](Expr e) { found |= e.op() >= Op::Exp && e.op() <= Op::Pow; });
  return found;
}

// ---- the parts of a kernel

enum : uint32_t { kOutput, kA, kB };  // operands

/// out(outer.., row, column) = epilogue(sum over segments and k of a * b). Offsets are affine in the axes and the
/// variables of the sum, but b's where it is packed; k has coefficient 1 in a's.
struct Product {
  explicit Product(const Kernel& kernel) {
    FoldNest sum = unfold(kernel.accumulated);
    k = sum.variables.back();
    sum.variables.pop_back();
    segments = std::move(sum.variables);
    const auto factor = [&](size_t i) {
      const Expr e = sum.body.arg(i);
      return e.op() == Op::Cast ? e.arg(0) : e;
    };
    const bool a_first = factor(0).operand() == kA;
    a_offset = factor(a_first ? 0 : 1).arg(0);
    b_offset = factor(a_first ? 1 : 0).arg(0);
    packed = kernel.choice["packed"];
    outer = kernel.axes;
    column = outer.back();
    outer = outer.first(outer.size() - 1);
    if (outer.empty() || depends_on(b_offset, outer.back())) return;
    row = outer.back();
    outer = outer.first(outer.size() - 1);
  }
  int64_t m() const { return row ? row.extent().int_value() : 1; }
  int64_t n() const { return column.extent().int_value(); }
  int64_t terms() const { return points_of(segments) * k.extent().int_value(); }
  int64_t batches() const { return points_of(outer); }

  std::vector<Expr> segments;  // variables of the sum, outermost first
  Expr k;                      // the innermost one
  Expr a_offset, b_offset;
  bool packed = false;  // b is [n/16][terms][16]
  std::span<const Expr> outer;
  Expr row, column;  // null: the output has no axis beside the column's
};

/// Few rows are a matter of reading `b` once, which many threads do better. Tensor cores are worth a tile that is
/// partly empty.
bool worth_staging(const Kernel& k, int64_t m, int64_t n, int64_t terms) {
  const DType a = k.operands[kA];
  if (a != k.operands[kB]) return false;
  return a == DType::f32 ? m >= 16 && n >= 24 && terms >= 16 : m > 4 && n >= 8 && terms >= 16;
}

/// Neighbouring columns that a thread of a staged tile takes from its sums at once: 16 bytes of f32.
int lanes_of_epilogue(const Kernel& k) {
  constexpr int kLanes = 4;
  const bool wide = std::ranges::any_of(k.operands, [](DType t) { return byte_size(t) > 4; });
  return !wide && k.axes.back().extent().int_value() % kLanes == 0 && moves_together(k, kLanes) ? kLanes : 1;
}

Choice choice_of_gpu(const Kernel& k, const Product& p, const Target& target) {
  const int64_t batches = p.packed ? 1 : p.batches(), rows = p.packed ? p.batches() * p.m() : p.m();
  if (worth_staging(k, rows, p.n(), p.terms())) {
    const rt::StagedTile tile =
        rt::staged_tile(target.sm_count, batches, rows, p.n(), static_cast<int>(byte_size(k.operands[kA])));
    return {{"packed", p.packed}, {"rows", tile.rows}, {"vectors", tile.vectors},      {"groups", 1},
            {"staged", 1},        {"in_registers", 1}, {"lanes", lanes_of_epilogue(k)}};
  }
  const rt::BlockTile tile =
      rt::block_tile(target.block_threads, target.sm_count, p.batches(), p.m(), p.n(), p.terms());
  return {{"packed", p.packed}, {"rows", tile.rows}, {"vectors", tile.vectors}, {"groups", tile.term_groups},
          {"staged", 0},        {"in_registers", 1}, {"lanes", rt::kPanel}};
}

/// By the rule of thumb of the kernel's header first, then all other tiles that registers hold.
std::vector<Choice> choices_of_processor(const Kernel& k, const Product& p, const Target& target) {
  constexpr int64_t kMostRows = 12, kMostVectors = 4;
  const bool in_registers = p.terms() <= rt::kSumBlock && !calls_function(k.stores[0].value);
  const auto choice = [&](int64_t rows, int64_t vectors) -> Choice {
    return {{"packed", p.packed},           {"rows", rows},       {"vectors", vectors}, {"groups", 1}, {"staged", 0},
            {"in_registers", in_registers}, {"lanes", rt::kPanel}};
  };
  const rt::Tile rule = rt::contract_tile(target.vector_bytes, target.vector_registers, p.m(), p.n());
  std::vector<Choice> all{choice(rule.rows, rule.vectors)};
  for (int64_t vectors = 1; vectors <= std::min(kMostVectors, rt::panels_of(p.n())); ++vectors) {
    const int64_t tallest = rt::tallest_tile(target.vector_bytes, target.vector_registers, vectors);
    for (int64_t rows = 1; rows <= std::min({kMostRows, tallest, p.m()}); ++rows) {
      const Choice next = choice(rt::even_part(p.m(), rows), rt::even_part(rt::panels_of(p.n()), vectors));
      if (std::ranges::find(all, next) == all.end()) all.push_back(next);
    }
  }
  return all;
}

/// Cycles of a processor. A term of a tile's sum takes as long as its FMAs, its loads (of b's vectors and a's
/// elements), the latency of one FMA, or the way of b from the second cache, if the first cannot hold what a tile's
/// columns read.
double cycles_of_processor(const Product& p, const Choice& c, const Target& target) {
  constexpr double kLatency = 4, kStart = 16, kBytes = rt::kPanel * sizeof(float);
  const MachineModel& machine = target.machine;
  const double parts = kBytes / target.vector_bytes, terms = static_cast<double>(p.terms());
  const bool from_l2 = terms * static_cast<double>(c["vectors"]) * kBytes > static_cast<double>(machine.l1_bytes) / 2;
  const auto cycles_of_tile = [&](int64_t rows, int64_t vectors) {
    const double r = static_cast<double>(rows), v = static_cast<double>(vectors), sums = r * v * parts;
    const double term = std::max(
        {sums / machine.fmas, (v * parts + r) / machine.loads, kLatency, from_l2 ? v * kBytes / machine.l2_rate : 0});
    const double flushes = c["in_registers"] ? 0 : 2 * sums * std::ceil(terms / static_cast<double>(rt::kSumBlock));
    return terms * term + flushes + 2 * sums + kStart;
  };
  const rt::TileSplit down = rt::split_tiles(p.m(), c["rows"]),
                      along = rt::split_tiles(rt::panels_of(p.n()), c["vectors"]);
  double cycles = 0;
  for (const auto& [rows, row_tiles] : {std::pair(down.size, down.full), std::pair(down.rest, down.parts - down.full)})
    for (const auto& [vectors, tiles] :
         {std::pair(along.size, along.full), std::pair(along.rest, along.parts - along.full)})
      if (row_tiles && tiles) cycles += static_cast<double>(row_tiles * tiles) * cycles_of_tile(rows, vectors);
  return cycles * static_cast<double>(p.batches());
}

}  // namespace

int64_t Packing::k_total() const {
  int64_t total = 1;
  for (const Axis& a : k) total *= a.extent;
  return total;
}

std::optional<Expr> packed_offset(const Packing& p, const std::vector<int64_t>& dims, std::span<const Expr> index) {
  if (dims.size() != 2 || p.k.size() != 1 || p.origin != 0) return std::nullopt;
  const Packing::Axis down{dims[0], dims[1]}, along{dims[1], 1};
  const bool transposed = p.column == down && p.k[0] == along;
  if (!transposed && !(p.column == along && p.k[0] == down)) return std::nullopt;
  return panel_offset(index[transposed ? 0 : 1], index[transposed ? 1 : 0], p.k_total());
}

namespace {

/// `b`: packed panels if it is a constant, else as it stands.
std::optional<Operand> layout_of_b(const Graph& g, const Layouts& layouts, const ContractMatch& m, Expr column) {
  const ValueId b{m.b.operand()};
  if (!guard_of(g.type(b).shape, m.b.index()).is_const(1)) return std::nullopt;
  Operand operand{b, layouts[b.index], {}, {}, {}, {}, {}};
  if (g[b].constant) operand.packing = packing_of(physical(operand.layout, m.b.index()), column, m.folds);
  return operand;
}

class Contract final : public Family {
 public:
  std::string_view name() const override { return "contract"; }
  double efficiency() const override { return 0.8; }

  Match match(const Problem& p) const override {
    const Graph& g = p.graph;
    auto found = match_contract(g, p.part.out);
    if (!found) return "it is no sum of products of two operands of which one has an axis of its own";
    ContractMatch& m = *found;
    if (std::ranges::any_of(m.folds, [](Expr f) { return !f.extent().is_const(); }))
      return "the sum has no constant length";
    const auto widens = [&](Expr load) { return load.type() == DType::f32 || p.target.has_tensor_cores(); };
    const auto a = layout_of_a(g, p.layouts, m);
    if (!a) return "an operand has no axis that is summed as it stands, or no border of zeros";
    if (!widens(m.a)) return "its operands have 16 bits";
    const Expr loads_a = m.a, loads_b = m.b, column = p.part.out.index[static_cast<size_t>(m.n_axis)];
    turn_folds(m, *a);
    const Expr a_offset = physical(a->layout, m.a.index());
    sort_folds(m, a_offset);
    const auto b = layout_of_b(g, p.layouts, m, column);
    if (!b) return "an operand is read outside of itself";
    if (!b->packing && !widens(m.b)) return "its operands have 16 bits";
    const bool packed = b->packing.has_value();
    const int64_t terms = points_of(m.folds);
    if (!worth_tiles(column.extent().int_value(), terms, m.folds.back().extent().int_value(), packed))
      return "it has too few columns or terms for a tile";

    LoweredKernel l;
    Kernel& k = l.kernel;
    k.family = this;
    k.choice = {{"packed", packed}};
    const auto add = [&](Operand o) {
      k.operands.push_back(g.type(o.value).dtype);
      l.operands.push_back(std::move(o));
      return static_cast<uint32_t>(l.operands.size() - 1);
    };
    const Layout& y_layout = p.layouts[p.output.index];
    add({p.output, y_layout, {}, {}, {}, {}, {}});
    add(*a);
    add(*b);
    // while axes collapse, a packed b is a matrix of rows of terms
    const Expr b_offset = packed ? column * integer(terms) + linear(m.folds) : physical(b->layout, m.b.index());
    const Expr sum = sum_of(m, a_offset, b_offset);
    std::map<ValueId, uint32_t> numbers;
    const Expr value = rewrite(p.part.out.value, [&](Expr e) -> Expr {
      if (e == m.sum) return sum;
      if (e.op() != Op::Load || e == loads_a || e == loads_b) return e;
      const ValueId v{e.operand()};
      auto [it, fresh] = numbers.try_emplace(v, 0u);
      if (fresh) it->second = add({v, p.layouts[v.index], {}, {}, {}, {}, {}});
      return load_lowered(it->second, e.type(), physical(p.layouts[v.index], e.index()),
                          guard_of(g.type(v).shape, e.index()), e.outside());
    });
    // axes in memory order with the column last, whatever the output's layout
    for (int axis : order_of(y_layout))
      if (axis != m.n_axis) k.axes.push_back(p.part.out.index[static_cast<size_t>(axis)]);
    k.axes.push_back(column);
    k.stores.push_back({kOutput, physical(y_layout, p.part.at), boolean(true), collapse_folds(value)});
    drop_unit_axes(k);
    collapse_axes(k, 1);
    if (!take_sum(k, packed, terms)) return "an operand's offsets are not affine";
    return l;
  }

  std::vector<Choice> candidates(const Kernel& k, const Target& target) const override {
    const Product p(k);
    if (target.is_gpu()) return {choice_of_gpu(k, p, target)};
    return choices_of_processor(k, p, target);
  }
  double price(const Kernel& k, const KernelCost& cost, const Choice& choice, const Target& target) const override {
    if (target.is_gpu()) return Family::price(k, cost, choice, target);
    return cycles_of_processor(Product(k), choice, target) / (target.machine.clock * 1e9) +
           seconds_to_move(cost.bytes, target.machine);
  }

  void apply(Kernel& k, const Choice& choice, const Target& target) const override {
    Family::apply(k, choice, target);
    const rt::Tile tile{static_cast<int>(choice["rows"]), static_cast<int>(choice["vectors"])};
    const Product p(k);
    k.scratch_bytes = p.packed || target.is_gpu() ? 0 : rt::contract_scratch_bytes(tile, p.terms());
  }

  int chunks(const Kernel& k, const Target& target) const override {
    const Product p(k);
    if (!target.is_gpu())
      return chunks_by_work(k, static_cast<double>(points_of(k.axes)) * static_cast<double>(p.terms()) / 16);
    const int rows = static_cast<int>(k.choice["rows"]), vectors = static_cast<int>(k.choice["vectors"]);
    const int64_t n = p.n(), m = p.m();
    if (k.choice["staged"]) {
      const rt::StagedTile tile{rows, vectors};
      return chunks_by_units(p.packed ? rt::staged_tiles(tile, p.batches() * m, n)
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
    return fmt::format(" sum [{}{}]{} tile {}x{}{}{}{}", sum, to_string(p.k.extent()), p.packed ? " packed" : "",
                       c["rows"], c["vectors"], c["groups"] > 1 ? fmt::format(" by {}", c["groups"]) : "",
                       c["staged"] ? k.operands[kA] == DType::f32 ? " staged" : " on tensor cores" : "",
                       c["in_registers"] ? " in registers" : "");
  }
  std::string_view legend() const override {
    return "contract<R, V, S>: a tile of R rows by V vectors of 16 columns; S: its sums stay in registers";
  }

  void print(KernelPrinter& printer, const Kernel& k) const override {
    const Product p(k);
    const Affine a = affine(p.a_offset);
    printer.line(fmt::format("rt::{}(call, {}, {}, {}, {}, {},", function_of(k.choice), extents_of(p.outer),
                             extents_of(p.segments), p.row ? constant_of(p.row.extent()) : "rt::c<1>",
                             constant_of(p.column.extent()), constant_of(p.k.extent())));
    printer.line(fmt::format("             rt::matrix_a(x{} + {}l, {}, {}l, {}),", uint32_t{kA}, a.constant,
                             strides_of(a, p.outer), p.row ? a.coefficient_of(p.row) : 0, strides_of(a, p.segments)));
    if (p.packed) {
      printer.line(fmt::format("             rt::packed_b(x{}, {}),", uint32_t{kB}, strides_of(Affine{}, p.outer)));
    } else {
      const Affine b = affine(p.b_offset);
      printer.line(fmt::format("             rt::strided_b(x{} + {}l, {}, {}l, {}l),", uint32_t{kB}, b.constant,
                               strides_of(b, p.outer), b.coefficient_of(p.k), b.coefficient_of(p.column)));
    }
    Bindings axes = bindings_of(p.outer);
    if (p.row) axes.emplace_back(p.row, "row");
    axes.emplace_back(p.column, "col");
    print_lambda(printer, fmt::format("auto acc, {}rt::i64 row, auto col", parameters_of(p.outer)), axes, "});", [&] {
      printer.statement("(void)row;");
      printer.stores();
    });
  }

 private:
  static Expr sum_of(const ContractMatch& m, Expr a_offset, Expr b_offset) {
    const auto element = [](uint32_t operand, DType t, Expr offset) {
      return cast(load_lowered(operand, t, offset, boolean(true), zero(t)), DType::f32);
    };
    Expr sum = element(kA, m.a.type(), a_offset) * element(kB, m.b.type(), b_offset);
    for (size_t i = m.folds.size(); i-- > 0;) sum = fold(FoldKind::Sum, m.folds[i], sum);
    return sum;
  }

  /// Takes the sum out of the only store's value, as axes and folds have collapsed; false where it is no product of
  /// affine operands any more.
  static bool take_sum(Kernel& k, bool packed, int64_t terms) {
    std::vector<Expr> roots{k.stores[0].value};
    visit(roots, [&](Expr e) {
      if (e.op() == Op::Fold) k.accumulated = e;
    });
    const Product before(k);
    if (!packed && !before.segments.empty()) return false;
    // rows are an axis that b does not have; what both operands have is a batch
    const Affine b = affine(before.b_offset);
    const auto column = k.axes.end() - 1;
    const auto row = std::ranges::find(std::reverse_iterator(column), k.axes.rend(), 0,
                                       [&](Expr axis) { return b.coefficient_of(axis); });
    if (row != k.axes.rend()) std::rotate(row.base() - 1, row.base(), column);
    std::vector<Expr> variables = k.axes;
    variables.insert(variables.end(), before.segments.begin(), before.segments.end());
    variables.push_back(before.k);
    if (!affine_in(before.a_offset, variables) || !affine_in(before.b_offset, variables) ||
        affine(before.a_offset).coefficient_of(before.k) != 1)
      return false;
    const Expr sum = k.accumulated;
    k.stores[0].value =
        rewrite(k.stores[0].value, [&](Expr e) { return e == sum ? make(Op::Acc, DType::f32, {}) : e; });
    if (!packed) return true;
    std::vector<Expr> folds = before.segments;
    folds.push_back(before.k);
    const Expr in_panels = panel_offset(k.axes.back(), linear(folds), terms);
    k.accumulated = rewrite(sum, [&](Expr e) {
      const bool is_b = e.op() == Op::Load && e.operand() == kB;
      return is_b ? load_lowered(kB, e.type(), in_panels, boolean(true), zero(e.type())) : e;
    });
    return true;
  }

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
