// The Dequantized family: a sum of products whose weights stay quantised, codes of 4 or 8 bits in blocks with scales
// and zero points (DequantizedMatMul), under whatever stands above. They are converted as they are read, so that few
// rows, which memory bounds, take an eighth of the bytes of f32.
#include <fmt/format.h>

#include <algorithm>

#include "optimizer/choose/family.h"
#include "runtime/kernels/contract_shape.h"

namespace cameo {
namespace {

/// The sum, its codes as `b`, and what they become: (b - zero) * scale.
struct CodedProduct : ProductMatch {
  Expr scale, zero_of_b;  // Loads; the zero may be a number
};

bool is_known(const Graph& g, Expr load) {
  return load.op() == Op::Load && !load.checked() && g[ValueId{load.operand()}].constant;
}

std::optional<CodedProduct> match_coded(const Graph& g, const OutputExpr& out) {
  CodedProduct m;
  m.sum = only_sum(out.value);
  if (!m.sum || m.sum.type() != DType::f32) return std::nullopt;
  const FoldNest nest = unfold(m.sum);
  m.folds = nest.variables;
  if (m.folds.size() != 2 || nest.body.op() != Op::Mul) return std::nullopt;
  for (const int i : {0, 1}) {
    const Expr weight = nest.body.arg(1 - i);
    m.a = nest.body.arg(i);
    if (m.a.op() != Op::Load || m.a.checked() || weight.op() != Op::Mul) continue;
    for (const int j : {0, 1}) {
      m.scale = weight.arg(1 - j);
      Expr code = weight.arg(j);
      if (!is_known(g, m.scale) || code.op() != Op::Cast) continue;
      code = code.arg(0);
      m.zero_of_b = integer(0, DType::i32);
      if (code.op() == Op::Sub) {
        m.zero_of_b = code.arg(1);
        code = code.arg(0);
      }
      const bool zero_known =
          m.zero_of_b.is_const() || (m.zero_of_b.op() == Op::Cast && is_known(g, m.zero_of_b.arg(0)));
      if (code.op() != Op::Cast || !zero_known || !is_known(g, code.arg(0)) || code.arg(0).type() != DType::u8)
        continue;
      m.b = code.arg(0);
      return m;
    }
  }
  return std::nullopt;
}

struct CodeRoles final : Match {  // wishes: `a`, and panels of codes, scales and perhaps zeros
  CodedProduct product;
  Expr column;
};

int64_t bits_of(const Kernel& k) { return k.choice["bits"]; }
/// Operands that come after those of a product: the last ones.
struct CodeOperands {
  explicit CodeOperands(const Kernel& k)
      : has_zeros(k.operands.back() == DType::u8),
        scales(static_cast<uint32_t>(k.operands.size()) - (has_zeros ? 2 : 1)),
        zeros(scales + 1) {}
  bool has_zeros;
  uint32_t scales, zeros;
};
/// What all codes are less by, where there are no zero points of blocks.
int64_t zero_of(const Kernel& k) {
  int64_t zero = 0;
  visit(std::vector<Expr>{k.accumulated}, [&](Expr e) {
    if (e.op() == Op::Sub && e.type() == DType::i32 && e.arg(1).is_const()) zero = e.arg(1).int_value();
  });
  return zero;
}

/// The largest code of a constant has so many bits.
int64_t bits_of_codes(const Tensor& codes) {
  for (int64_t i = 0; i < codes.size(); ++i)
    if (codes.get_int(i) > 15) return 8;
  return 4;
}

/// Puts what is read of panels in the place of a code: (code - zero) * scale.
void put_codes(Kernel& k, const CodedProduct& m, bool nibbles) {
  const Product p(k);
  const CodeOperands more(k);
  const Expr block = p.segments[0], size = p.k.extent(), blocks = block.extent();
  const Expr term = block * size + p.k, scale_at = panel_offset(p.column, block, blocks.int_value());
  const auto read = [](uint32_t operand, DType t, Expr at) { return read_at(operand, t, at, boolean(true), zero(t)); };
  Expr code;
  if (nibbles) {
    const Expr pairs = panel_offset(p.column, floor_div(term, integer(2)), p.terms() / 2);
    const Expr byte = cast(read(Product::kB, DType::u8, pairs), DType::i32);
    code = select(eq(mod(term, integer(2)), integer(0)), apply(Op::BitAnd, {byte, integer(15, DType::i32)}),
                  apply(Op::Shr, {byte, integer(4, DType::i32)}));
  } else {
    code = cast(read(Product::kB, DType::u8, panel_offset(p.column, term, p.terms())), DType::i32);
  }
  const Expr zero_point = more.has_zeros ? cast(read(more.zeros, DType::u8, scale_at), DType::i32) : m.zero_of_b;
  const Expr weight = cast(code - zero_point, DType::f32) * read(more.scales, DType::f32, scale_at);
  k.accumulated = rewrite(k.accumulated, [&](Expr e) {
    return e.op() == Op::Cast && e.arg(0).op() == Op::Read && e.arg(0).operand() == Product::kB ? weight : e;
  });
}

class Dequantized final : public Family {
 public:
  std::string_view name() const override { return "dequantized"; }

  Matched match(const Problem& p) const override {
    if (p.target.is_gpu()) return "it is for processors";
    const Graph& g = p.graph;
    auto found = match_coded(g, p.part.out);
    if (!found) return "it is no sum of products with quantised weights";
    auto roles = std::make_shared<CodeRoles>();
    CodedProduct& m = roles->product = std::move(*found);
    const Expr block = m.folds[0], column = m.b.index().back();
    if (std::ranges::find(p.part.out.index, column) == p.part.out.index.end()) return "its weights have no columns";
    if (column.extent().is_const(1)) return "it has a single column";
    roles->column = column;
    const auto a = wish_for_a(g, p.layouts, m, std::span(&block, 1));
    if (!a || has_halo(*a)) return "an operand has no axis that is summed as it stands";
    order_folds(m, *a);
    if (m.folds[0] != block) return "its blocks do not stand one behind the other";
    roles->wishes = {*a};
    const auto add = [&](Expr load, std::vector<Expr> folds) {
      ProductMatch panels = m;
      panels.b = load;
      panels.folds = std::move(folds);
      auto packing = packing_of(g, p.layouts, panels, {}, column);
      if (packing) roles->wishes.push_back(in_panels(p.layouts, ValueId{load.operand()}, *packing));
      return packing.has_value();
    };
    const bool has_zeros = !m.zero_of_b.is_const();
    if (!add(m.b, m.folds) || !add(m.scale, {block}) || (has_zeros && !add(m.zero_of_b.arg(0), {block})))
      return "its weights fit no panels";
    const bool pairs = m.folds[1].extent().int_value() % 2 == 0;
    if (pairs && bits_of_codes(*g[ValueId{m.b.operand()}].constant) == 4)
      roles->wishes[1].packing->form = PanelForm::Nibbles;
    return roles;
  }

  Lowered lower(const Problem& p, const Match& match) const override {
    const auto& roles = static_cast<const CodeRoles&>(match);
    const bool in_nibbles = roles.wishes[1].packing->form == PanelForm::Nibbles;
    std::vector<Expr> axes = axes_in_memory(p.part.out, p.layouts[p.output.index]);
    std::erase(axes, roles.column);
    axes.push_back(roles.column);
    LoweredKernel l =
        lower_product(p.graph, p.layouts, p.output, p.part, roles.product, granted(p.graph, p.layouts, roles.wishes[0]),
                      roles.wishes[1], std::move(axes), {}, Walks::Apart);
    Kernel& k = l.kernel;
    collapse_axes(k, 1);
    k.family = this;
    k.choice = {{"bits", in_nibbles ? 4 : 8}};
    if (!take_sum(k)) return "an operand's offsets are not affine";
    for (size_t i = 2; i < roles.wishes.size(); ++i) {
      k.operands.push_back(p.graph.type(roles.wishes[i].value).dtype);
      l.operands.push_back(roles.wishes[i]);
    }
    put_codes(k, roles.product, in_nibbles);
    return l;
  }

  std::vector<Choice> candidates(const Kernel& k, const Target& target) const override {
    constexpr int64_t kMostVectors = 4, kBeside = 6;  // registers for codes, zero points and weights
    const Product p(k);
    const int64_t parts = rt::kPanel * 4 / target.vector_bytes, panels = rt::panels_of(p.n());
    std::vector<Choice> all;
    for (const int64_t limit : {4, 3, 2, 1})
      for (int64_t vectors = std::min(kMostVectors, panels); vectors > 0; --vectors) {
        const int64_t rows = rt::even_part(p.m(), limit), wide = rt::even_part(panels, vectors);
        const Choice next{{"bits", bits_of(k)}, {"rows", rows}, {"vectors", wide}, {"lanes", rt::kPanel}};
        const bool fits = 2 * rows * wide * parts + kBeside <= target.vector_registers || (rows == 1 && wide == 1);
        if (fits && std::ranges::find(all, next) == all.end()) all.push_back(next);
      }
    return all;
  }
  double price(const Kernel& k, const KernelCost& cost, const Choice& c, const Target& target) const override {
    constexpr double kConversions = 4.5, kBlockEnd = 3;  // operations of a vector of codes beside its products
    const Product p(k);
    const double parts = rt::kPanel * 4.0 / target.vector_bytes, rows = static_cast<double>(c["rows"]);
    const double vectors = static_cast<double>(p.terms()) * static_cast<double>(rt::panels_of(p.n())) * parts;
    const double tiles = std::ceil(static_cast<double>(p.m()) / rows) * static_cast<double>(p.batches());
    const double latency = target.machine.fma_latency / (rows * static_cast<double>(c["vectors"]) * parts);
    const double ends = static_cast<double>(points_of(p.segments)) / static_cast<double>(p.terms()) * kBlockEnd;
    const double cycles = tiles * vectors *
                          (std::max(rows / target.machine.fmas, rows * latency) +
                           (kConversions + ends * rows) / (2 * target.machine.fmas));
    return cycles / (target.machine.clock * 1e9) + target.seconds_to_move(cost.bytes);
  }

  int64_t chunks(const Kernel& k, const Target& target) const override { return chunks_by_products(k, 8, target); }

  std::string details(const Kernel& k) const override {
    const Product p(k);
    return fmt::format(" sum [{} x {}] of {} bits tile {}x{}", points_of(p.segments), to_string(p.k.extent()),
                       bits_of(k), k.choice["rows"], k.choice["vectors"]);
  }
  std::string header(const Kernel&) const override { return "contract"; }
  std::string_view legend() const override {
    return "contract<R, V, S, P>: a tile of R rows by V vectors of 16 columns; S: its sums stay in registers; P: 1";
  }
  void print(KernelPrinter& printer, const Kernel& k) const override {
    const CodeOperands more(k);
    const Product p(k);
    const std::string b = fmt::format("rt::codes_b<{}>(x{}, x{}, {}, {}, {})", bits_of(k), Product::kB, more.scales,
                                      more.has_zeros ? fmt::format("x{}", more.zeros) : "nullptr",
                                      printer.name(p.k.extent()), zero_of(k));
    print_product(printer, p, {fmt::format("contract<{}, {}, true, 1>", k.choice["rows"], k.choice["vectors"]), b});
  }
};

}  // namespace

const Family& dequantized_family() {
  static const Dequantized family;
  return family;
}

}  // namespace cameo
