// The Depthwise family: a sum of products of 8-bit integers in which each column has its own elements and its own
// constant weights. `a` is asked for with its columns last and a halo of its zero point; the weights stand in quads of
// the innermost taps.
#include <fmt/format.h>

#include <algorithm>

#include "optimizer/choose/family.h"
#include "optimizer/lower/product.h"
#include "runtime/kernels/depthwise_shape.h"

namespace cameo {
namespace {

/// The axis of the output that the weights have.
Expr channel_of(const OutputExpr& out, const ProductMatch& m) {
  Expr channel;
  for (Expr axis : out.index)
    if (reads_axis(m.b, axis) && !axis.extent().is_const(1)) {
      if (channel) return {};
      channel = axis;
    }
  return channel;
}

/// The axis of `a` that is this one of the output; -1: none, or more than that.
int axis_of(const ProductMatch& m, Expr channel) {
  int found = -1;
  for (size_t d = 0; d < m.a.index().size(); ++d) {
    if (!depends_on(m.a.index()[d], channel)) continue;
    if (found >= 0 || m.a.index()[d] != channel) return -1;
    found = static_cast<int>(d);
  }
  return found;
}

/// A channel is a group of one.
void drop_unit_folds(ProductMatch& m) {
  std::erase_if(m.folds, [&](Expr f) {
    if (!f.extent().is_const(1)) return false;
    const std::vector<Expr> from{f}, to{integer(0)};
    m.a = substitute(m.a, from, to);
    m.b = substitute(m.b, from, to);
    return true;
  });
}

struct ChannelRoles final : Match {  // wishes: `a`, and `b` in panels
  ProductMatch product;
  Expr channel;  // of the output
};

/// The innermost taps of a kernel, as rt::TapWindow has them.
struct Taps {
  int64_t count, row_step = 0;
  Dim stride;
};
Taps taps_of(const Product& p) {
  const Affine a = affine(p.a_offset);
  Taps t{p.k.extent().int_value(), 0, a.stride_of(p.k)};
  if (!p.row || !t.stride.is_static() || !a.stride_of(p.row).is_static()) return t;
  const int64_t row = a.stride_of(p.row).value(), tap = t.stride.value();
  const bool meet = tap > 0 && row > 0 && row % tap == 0 && row / tap <= rt::kMostRowStep;
  t.row_step = meet ? row / tap : 0;
  return t;
}

/// The sum's variables but the last as one number.
Expr segment_of(const Product& p) {
  Expr at = integer(0);
  for (Expr v : p.segments) at = at * v.extent() + v;
  return at;
}

class Depthwise final : public Family {
 public:
  std::string_view name() const override { return "depthwise"; }

  Matched match(const Problem& p) const override {
    if (!p.target.has_integer_products()) return "it is for processors";
    const Graph& g = p.graph;
    const auto found = match_product(g, p.part.out);
    if (!found || !found->is_integer()) return "it is no sum of products of integers with known weights";
    auto roles = std::make_shared<ChannelRoles>();
    ProductMatch& m = roles->product = *found;
    drop_unit_folds(m);
    if (m.folds.empty()) return "it has no taps";
    roles->channel = channel_of(p.part.out, m);
    const int axis = roles->channel ? axis_of(m, roles->channel) : -1;
    if (axis < 0) return "its operands do not share the axis of their channels";
    const auto a = wish_for_axis(g, p.layouts, m, axis);
    if (!a) return "it has no border of its zero point";
    order_folds(m, *a);
    const ValueId b{m.b.operand()};
    const auto packing = packing_of(g, p.layouts, m, {}, roles->channel);
    if (!packing || !guard_of(g.type(b).shape, m.b.index()).is_const(1)) return "its weights fit no panels";
    if (packing->k.back().extent > rt::kMostTaps) return "its windows are too wide";
    roles->wishes = {*a, in_panels(p.layouts, b, *packing)};
    return roles;
  }

  Lowered lower(const Problem& p, const Match& match) const override {
    const auto& roles = static_cast<const ChannelRoles&>(match);
    std::vector<Expr> axes = axes_in_memory(p.part.out, p.layouts[p.output.index]);
    std::erase(axes, roles.channel);
    axes.push_back(roles.channel);
    LoweredKernel l =
        lower_product(p.graph, p.layouts, p.output, p.part, roles.product, granted(p.graph, p.layouts, roles.wishes[0]),
                      roles.wishes[1], std::move(axes), {}, Walks::Apart);
    Kernel& k = l.kernel;
    k.family = this;
    const Expr sum = k.accumulated = folds_in({k.stores[0].value}).back();
    const Product product(k);
    std::vector<Expr> variables = k.axes;
    variables.insert(variables.end(), product.segments.begin(), product.segments.end());
    variables.push_back(product.k);
    const Affine a = affine(product.a_offset);
    if (!is_affine_in(a, variables) || !a.stride_of(product.column).is_static(1))
      return "an operand's offsets are not affine";
    k.stores[0].value =
        rewrite(k.stores[0].value, [&](Expr e) { return e == sum ? make(Op::Acc, sum.type(), {}) : e; });
    const Taps taps = taps_of(product);
    const int64_t shifts = rt::tap_shifts(taps.row_step);
    l.operands[Product::kB].packing->form = PanelForm::Taps;
    l.operands[Product::kB].packing->run = shifts;
    const Expr at =
        tap_offset(product.column, segment_of(product), product.k, points_of(product.segments), taps.count, shifts);
    k.accumulated = rewrite(k.accumulated, [&](Expr e) {
      const bool is_b = e.op() == Op::Read && e.operand() == Product::kB;
      return is_b ? read_at(Product::kB, e.type(), at, boolean(true), zero(e.type())) : e;
    });
    return l;
  }

  std::vector<Choice> candidates(const Kernel& k, const Target& target) const override {
    const Product p(k);
    const int64_t m = p.row && !p.row.extent().is_const() ? rt::rows_of_any_number(p.m()) : p.m();
    std::vector<Choice> all;
    for (int64_t limit = rt::most_depthwise_rows(target.vector_registers, taps_of(p).row_step); limit > 0; --limit)
      if (const Choice next{{"rows", rt::even_part(m, limit)}, {"lanes", rt::kPanel}};
          std::ranges::find(all, next) == all.end())
        all.push_back(next);
    return all;
  }

  /// A register of columns takes four of quads, each unpacked from registers that hold two taps.
  double price(const Kernel& k, const KernelCost& cost, const Choice& choice, const Target& target) const override {
    constexpr double kStart = 24, kVectors = 4, kEpilogue = 6;
    const Product p(k);
    const Taps taps = taps_of(p);
    const int64_t rows = choice["rows"], shifts = rt::tap_shifts(taps.row_step);
    const double pairs = static_cast<double>(((rows - 1) * taps.row_step + taps.count + 1) / 2);
    const double split = target.machine.dot8 ? 1 : 2;
    const double products = kVectors * split * static_cast<double>(rows * rt::tap_quads(taps.count, shifts));
    const double segment = (products + kVectors * (1 + split) * pairs) / target.machine.fmas;
    const double tile = static_cast<double>(points_of(p.segments)) * segment +
                        kVectors * kEpilogue * static_cast<double>(rows) + kStart;
    const double tiles = static_cast<double>(p.batches() * rt::round_up_div(p.m(), rows)) *
                         std::ceil(static_cast<double>(p.n()) / target.vector_bytes);
    return tiles * tile / (target.machine.clock * 1e9) + target.seconds_to_move(cost.bytes);
  }

  bool computes_strips() const override { return true; }
  int64_t chunks(const Kernel& k, const Target& target) const override {
    return chunks_by_products(k, rt::kPanel, target);
  }

  std::string details(const Kernel& k) const override {
    const Product p(k);
    return fmt::format(" sum [{}] in quads tile {}", text_of_sum(p), k.choice["rows"]);
  }
  std::string_view legend() const override { return "depthwise<R>: a tile of R rows by a register of bytes"; }

  void print(KernelPrinter& printer, const Kernel& k) const override {
    const Product p(k);
    const Taps taps = taps_of(p);
    std::string weights;
    printer.append(
        printer.scope(0, {}, [&] { weights = fmt::format("rt::taps_b(x{}, {})", Product::kB, printer.name(p.zero)); }));
    print_product(printer, p,
                  {.function = fmt::format("depthwise<{}>", k.choice["rows"]),
                   .b = weights,
                   .first = fmt::format("rt::TapWindow<{}, {}>{{{}}}, ", taps.count, taps.row_step,
                                        printer.name(taps.stride.extent()))});
  }
};

}  // namespace

const Family& depthwise_family() {
  static const Depthwise family;
  return family;
}

}  // namespace cameo
