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
  return fmt::format("rt::strides({})", join(variables, [&](Expr v) { return offset.coefficient_of(v); }));
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

}  // namespace cameo
