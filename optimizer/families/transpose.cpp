// The Transpose family: a nest that writes along one axis and reads along another one goes through tiles, on a GPU in
// shared memory, so that the threads of a warp are neighbours in both, on a processor in registers. One Read does;
// others stay as they are.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "optimizer/choose/family.h"
#include "runtime/kernels/contract_shape.h"
#include "runtime/kernels/transpose_shape.h"

namespace cameo {
namespace {

/// An axis of the kernel by which `offset` moves by one element, and by a number or a size along every other axis.
Expr axis_of_neighbours(const Kernel& k, Expr offset) {
  const Affine a = affine(offset);
  if (!is_affine_in(a, k.axes)) return {};
  const auto unit = std::ranges::find_if(k.axes, [&](Expr v) { return a.stride_of(v).is_static(1); });
  return unit == k.axes.end() ? Expr() : *unit;
}

class Transpose final : public Family {
 public:
  std::string_view name() const override { return "transpose"; }
  double efficiency() const override { return 0.2; }

  bool adopt(Kernel& k, const Target&) const override {
    constexpr int64_t kFewest = 8;  // rows and columns
    if (k.stores.size() != 1 || !k.stores[0].guard.is_const(1) || has_folds(k)) return false;
    Store& s = k.stores[0];
    const Expr column = axis_of_neighbours(k, s.offset);
    if (!column || Dim(column.extent()).estimate() < kFewest) return false;
    Expr read, row;
    std::vector<Expr> roots{s.value};
    visit(roots, [&](Expr e) {
      if (read || e.op() != Op::Read || !e.guard().is_const(1) || !depends_on(e, column)) return;
      row = axis_of_neighbours(k, e.offset());
      if (row && row != column && Dim(row.extent()).estimate() >= kFewest) read = e;
    });
    if (!read) return false;
    for (Expr last : {row, column}) {
      std::erase(k.axes, last);
      k.axes.push_back(last);
    }
    k.family = this;
    k.accumulated = read;
    s.value = rewrite(s.value, [&](Expr e) { return e == read ? make(Op::Acc, read.type(), {}) : e; });
    return true;
  }
  std::string_view legend() const override { return "transpose<W>: tiles of W rows and columns on a processor"; }
  std::vector<Choice> candidates(const Kernel& k, const Target& target) const override {
    if (target.is_gpu()) return {Choice()};
    const DType type = k.accumulated.type();
    const int64_t bytes = std::max<int64_t>(byte_size(type), is_float(type) ? sizeof(float) : 1);
    return {Choice{{"lanes", std::clamp<int64_t>(target.vector_bytes / bytes, 4, 16)}}};
  }

  /// A processor's tile permutes each vector as often as it has halves, one a cycle.
  double price(const Kernel& k, const KernelCost& cost, const Choice& choice, const Target& target) const override {
    const double seconds = Family::price(k, cost, choice, target);
    if (target.is_gpu()) return seconds;
    const double lanes = static_cast<double>(choice["lanes"]), points = static_cast<double>(points_of(k.axes));
    return std::max(seconds, points / lanes * std::log2(lanes) / (target.machine.clock * 1e9));
  }
  int64_t chunks(const Kernel& k, const Target& target) const override {
    if (!target.is_gpu()) return chunks_by_work(k, 2 * static_cast<double>(points_of(k.axes)), target);
    const std::span<const Expr> axes(k.axes);
    const auto tiles = [](Expr axis) { return rt::round_up_div(Dim(axis.extent()).estimate(), rt::kTransposeTile); };
    return points_of(axes.first(axes.size() - 2)) * tiles(axes[axes.size() - 2]) * tiles(axes.back());
  }

  bool shares_sizes(const Kernel&) const override { return true; }
  void print(KernelPrinter& printer, const Kernel& k) const override {
    const std::span<const Expr> axes(k.axes), outer = axes.first(axes.size() - 2);
    const std::string parameters = parameters_of(outer) + "auto row, auto col";
    printer.line(fmt::format("rt::transpose<{}>(call, {}, {}, {},", k.choice.get("lanes", 1),
                             extents_of(printer, outer),
                             constant_of(printer, axes[axes.size() - 2].extent(), whole_vectors(k)),
                             constant_of(printer, axes.back().extent(), whole_vectors(k))));
    print_tile_lambda(printer, k, parameters, {}, "},",
                      [&] { printer.statement(fmt::format("return {};", printer.name(k.accumulated))); });
    print_epilogue(printer, k, "auto acc, " + parameters);
  }
};

}  // namespace

const Family& transpose_family() {
  static const Transpose family;
  return family;
}

}  // namespace cameo
