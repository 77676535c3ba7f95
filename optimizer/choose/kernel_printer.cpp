// See kernel_printer.h.
#include "optimizer/choose/kernel_printer.h"

#include <fmt/format.h>

#include <numeric>

namespace cameo {
namespace {

std::string join(KernelPrinter& printer, std::span<const Expr> variables, auto size) {
  std::string s;
  for (Expr v : variables) s += (s.empty() ? "" : ", ") + printer.name(size(v));
  return s;
}

}  // namespace

std::string constant_of(KernelPrinter& printer, Expr extent, int64_t multiple) {
  if (extent.is_const()) return printer.constant(extent, multiple);
  const Affine sum = affine(extent);
  int64_t divisor = sum.constant;
  for (const Affine::Term& t : sum.terms) divisor = std::gcd(divisor, t.coefficient);
  return divisor > 1 ? fmt::format("rt::multiple_of<{}>({})", divisor, printer.name(extent)) : printer.name(extent);
}

std::string rows_of(KernelPrinter& printer, Expr extent, int64_t multiple) {
  return extent.is_const() ? constant_of(printer, extent, multiple) : printer.name(extent);
}

std::string extents_of(KernelPrinter& printer, std::span<const Expr> variables) {
  return fmt::format("rt::extents({})", join(printer, variables, [](Expr v) { return v.extent(); }));
}

std::string strides_of(KernelPrinter& printer, const Affine& offset, std::span<const Expr> variables) {
  return fmt::format("rt::strides({})", join(printer, variables, [&](Expr v) { return offset.stride_of(v).extent(); }));
}

std::string parameters_of(std::span<const Expr> variables) {
  std::string s;
  for (size_t i = 0; i < variables.size(); ++i) s += fmt::format("rt::i64 i{}, ", i);
  return s;
}

Bindings bindings_of(std::span<const Expr> variables) {
  Bindings names;
  for (size_t i = 0; i < variables.size(); ++i) names.emplace_back(variables[i], fmt::format("i{}", i));
  return names;
}

void print_lambda(KernelPrinter& printer, std::string_view parameters, const Bindings& variables, std::string_view end,
                  const std::function<void()>& body) {
  printer.open(fmt::format("             [&]({}) __attribute__((always_inline)) {{", parameters));
  printer.append(printer.scope(0, variables, body));
  printer.close(end);
}

void print_tile_lambda(KernelPrinter& printer, const Kernel& k, std::string_view parameters, const Bindings& more,
                       std::string_view end, const std::function<void()>& body) {
  const std::span<const Expr> axes(k.axes);
  Bindings names = bindings_of(axes.first(axes.size() - 2));
  names.emplace_back(axes[axes.size() - 2], "row");
  names.emplace_back(axes.back(), "col");
  names.insert(names.end(), more.begin(), more.end());
  print_lambda(printer, parameters, names, end, body);
}

void print_epilogue(KernelPrinter& printer, const Kernel& k, std::string_view parameters) {
  print_tile_lambda(printer, k, parameters, {}, "});", [&] {
    printer.statement("(void)row;");
    printer.stores();
  });
}

void print_sum_epilogue(KernelPrinter& printer, const Product& p, std::string_view end) {
  Bindings axes = bindings_of(p.outer);
  if (p.row) axes.emplace_back(p.row, "row");
  axes.emplace_back(p.column, "col");
  print_lambda(printer, fmt::format("auto acc, {}rt::i64 row, auto col", parameters_of(p.outer)), axes, end, [&] {
    printer.statement("(void)row;");
    printer.stores();
  });
}

std::string b_of(KernelPrinter& printer, const Product& p, int64_t pack_from) {
  const Affine b = affine(p.b_offset);
  const std::string outer = strides_of(printer, b, p.outer);
  if (pack_from == kInQuads) {
    std::string zero;
    printer.append(printer.scope(0, {}, [&] { zero = printer.name(p.zero); }));
    return fmt::format("rt::quads_b(x{}, {}, {}, {})", Product::kB, outer, printer.name(p.k.extent()), zero);
  }
  if (pack_from == kInPairs)
    return fmt::format("rt::pairs_b(x{}, {}, {})", Product::kB, outer, printer.name(p.k.extent()));
  if (pack_from == kInPanels) return fmt::format("rt::packed_b(x{}, {})", Product::kB, outer);
  const auto stride = [&](Expr v) { return printer.name(b.stride_of(v).extent()); };
  return fmt::format("rt::strided_b(x{} + {}, {}, {}, {}, {}l)", Product::kB, printer.name(size_in(b).extent()), outer,
                     stride(p.k), stride(p.column), pack_from);
}

void print_product(KernelPrinter& printer, const Product& p, const ProductCall& call) {
  const Affine a = affine(p.a_offset);
  printer.line(fmt::format(
      "rt::{}(call, {}{}, {}, {}, {}, {},", call.function, call.first, extents_of(printer, p.outer),
      extents_of(printer, p.segments), p.row ? rows_of(printer, p.row.extent(), call.rows) : "rt::c<1>",
      constant_of(printer, p.column.extent(), call.columns), constant_of(printer, p.k.extent(), call.terms)));
  printer.line(fmt::format("             rt::matrix_a(x{} + {}, {}, {}, {}),", Product::kA,
                           printer.name(size_in(a).extent()), strides_of(printer, a, p.outer),
                           p.row ? printer.name(a.stride_of(p.row).extent()) : "0l",
                           strides_of(printer, a, p.segments)));
  printer.line(fmt::format("             {},", call.b));
  print_sum_epilogue(printer, p, call.last.empty() ? "});" : fmt::format("}}, {});", call.last));
}

}  // namespace cameo
