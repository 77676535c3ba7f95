// See kernel_printer.h.
#include "optimizer/choose/kernel_printer.h"

#include <fmt/format.h>

namespace cameo {
namespace {

std::string join(std::span<const Expr> variables, auto number) {
  std::string s;
  for (Expr v : variables) s += fmt::format("{}{}l", s.empty() ? "" : ", ", number(v));
  return s;
}

}  // namespace

std::string constant_of(Expr extent) { return fmt::format("rt::c<{}>", extent.int_value()); }

std::string extents_of(std::span<const Expr> variables) {
  return fmt::format("rt::extents({})", join(variables, [](Expr v) { return v.extent().int_value(); }));
}

std::string strides_of(const Affine& offset, std::span<const Expr> variables) {
  return fmt::format("rt::strides({})", join(variables, [&](Expr v) { return to_string(offset.stride_of(v)); }));
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

void print_product(KernelPrinter& printer, const Product& p, std::string_view function, int64_t pack_from,
                   std::string_view first) {
  const Affine a = affine(p.a_offset), b = affine(p.b_offset);
  printer.line(fmt::format("rt::{}(call, {}{}, {}, {}, {}, {},", function, first, extents_of(p.outer),
                           extents_of(p.segments), p.row ? constant_of(p.row.extent()) : "rt::c<1>",
                           constant_of(p.column.extent()), constant_of(p.k.extent())));
  printer.line(fmt::format("             rt::matrix_a(x{} + {}l, {}, {}l, {}),", Product::kA, a.constant,
                           strides_of(a, p.outer), to_string(p.row ? a.stride_of(p.row) : Dim(0)),
                           strides_of(a, p.segments)));
  if (pack_from == kInPanels)
    printer.line(fmt::format("             rt::packed_b(x{}, {}),", Product::kB, strides_of(b, p.outer)));
  else
    printer.line(fmt::format("             rt::strided_b(x{} + {}l, {}, {}l, {}l, {}l),", Product::kB, b.constant,
                             strides_of(b, p.outer), to_string(b.stride_of(p.k)), to_string(b.stride_of(p.column)),
                             pack_from));
  Bindings axes = bindings_of(p.outer);
  if (p.row) axes.emplace_back(p.row, "row");
  axes.emplace_back(p.column, "col");
  print_lambda(printer, fmt::format("auto acc, {}rt::i64 row, auto col", parameters_of(p.outer)), axes, "});", [&] {
    printer.statement("(void)row;");
    printer.stores();
  });
}

}  // namespace cameo
