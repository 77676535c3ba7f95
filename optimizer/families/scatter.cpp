// The Scatter family: a nest whose points run one after another, the updates of a Scatter; its start is a kernel of its
// own that ran before. On a GPU the threads share the axes whose points write different elements; where there are none,
// each thread walks all points and writes the elements it owns.
#include <fmt/format.h>

#include <algorithm>

#include "optimizer/choose/folds.h"
#include "optimizer/clusters/clusters.h"
#include "runtime/kernels/contract_shape.h"

namespace cameo {
namespace {

/// Axes that are an index of the output: points that differ in them write different elements. They go first; their
/// number.
int move_owners_first(std::vector<Expr>& axes, const std::vector<Expr>& to) {
  const auto owns = [&](Expr axis) { return std::ranges::find(to, axis) != to.end(); };
  return static_cast<int>(std::ranges::stable_partition(axes, owns).begin() - axes.begin());
}

class ScatterFamily final : public Family {
 public:
  std::string_view name() const override { return "scatter"; }

  Lowered lower(const NodeProblem& p) const override {
    const auto* s = std::get_if<Scatter>(&p.meaning);
    if (!s) return "the node is no Scatter";
    LoweredKernel l;
    Lowering lowering(p.graph, p.layouts, l);
    Kernel& k = l.kernel;
    k.family = this;
    k.axes = s->over;
    const ValueId output = p.node.outputs[0];
    const Layout& layout = p.layouts[output.index];
    const uint32_t y = lowering.operand(as_made(p.layouts, output));
    const Shape& shape = p.graph.type(output).shape;
    const auto bind = [&](Expr e) { return lowering.lower(on_values(p.node, e), {}); };
    std::vector<Expr> to;
    for (Expr e : s->to) to.push_back(simplify_index(bind(e)));
    k.choice = {{"owners", p.target.is_gpu() ? move_owners_first(k.axes, to) : 0}, {"fold_lanes", kFoldLanes}};
    const Expr offset = physical(layout, to), guard = guard_of(shape, to), update = bind(s->update);
    const Expr old = read_at(y, update.type(), offset, guard, zero(update.type()));
    constexpr Op kCombine[] = {Op::Add, Op::Add, Op::Mul, Op::Min, Op::Max};
    const Expr value = s->combine == Scatter::Assign ? update : cameo::apply(kCombine[s->combine], {old, update});
    k.stores.push_back({y, offset, guard, value, blamed_axes(shape, to)});
    return l;
  }
  std::vector<Choice> candidates(const Kernel& k, const Target&) const override { return {k.choice}; }

  int64_t chunks(const Kernel& k, const Target& target) const override {
    if (!target.is_gpu()) return 1;
    const std::span<const Expr> axes(k.axes);
    const size_t owners = owners_of(k);
    const int64_t units = rt::round_up_div(points_of(owners ? axes.first(owners) : axes), target.block_threads);
    return units;
  }
  int64_t most_chunks(const Kernel& k, const Target& target) const override {
    constexpr int64_t kWalks = 8;  // blocks over the same updates: finding one's own is most of the work by then
    if (!target.is_gpu()) return 1;
    return owners_of(k) ? Family::most_chunks(k, target) : kWalks;
  }
  bool writes_once() const override { return false; }

  std::string details(const Kernel& k) const override {
    return owners_of(k) ? fmt::format(" owners {}", owners_of(k)) : "";
  }
  std::string header(const Kernel&) const override { return "nest"; }

  void print(KernelPrinter& printer, const Kernel& k) const override {
    const std::span<const Expr> axes(k.axes);
    const size_t owners = owners_of(k);
    std::string parameters = parameters_of(axes);
    if (!parameters.empty()) parameters.resize(parameters.size() - 2);
    printer.open(fmt::format("rt::serial(call, {}, {}, [&]({}) {{", extents_of(printer, axes.first(owners)),
                             extents_of(printer, axes.subspan(owners)), parameters));
    printer.append(
        printer.scope(0, bindings_of(axes), [&] { printer.stores(owners ? "store(" : "store_own(call, "); }));
    printer.close("});");
  }

 private:
  static size_t owners_of(const Kernel& k) { return static_cast<size_t>(k.choice["owners"]); }
};

}  // namespace

const Family& scatter_family() {
  static const ScatterFamily family;
  return family;
}

}  // namespace cameo
