// See print_goldens.h. Tensors stand one after the other, inputs before outputs, each at a multiple of 64 bytes.
#include "codegen/print_goldens.h"

#include <fmt/format.h>

#include "frontend/ir/check.h"

namespace cameo {
namespace {

constexpr size_t kAlign = 64;

size_t padded(const Tensor& t) { return (t.bytes().size() + kAlign - 1) / kAlign * kAlign; }

/// `name[] = {symbol + 0, symbol + 64}`; an array cannot be empty.
void print_pointers(Writer& w, std::string_view name, std::span<const Tensor> tensors, size_t& at) {
  std::string list;
  for (const Tensor& t : tensors) {
    list += fmt::format("{} + {}ul, ", kGoldenSymbol, at);
    at += padded(t);
  }
  w.line(fmt::format("const void* const {}[] = {{{}nullptr}};", name, list));
}

/// In the order of the table.
std::string sizes_of(const GoldenCase& golden, const SizeTable& table) {
  std::string list;
  for (Expr symbol : std::span(table.sizes()).first(table.symbols()))
    list += fmt::format("{}, ", table.is_learned(symbol) || table.is_room(symbol)
                                    ? 0
                                    : golden.sizes.at(std::string(symbol_name(symbol))));
  return list;
}

std::string dims_of(const std::vector<Tensor>& outputs) {
  std::string list;
  for (const Tensor& t : outputs) list += fmt::format("{}{}", fmt::join(t.dims(), ", "), t.rank() ? ", " : "");
  return list;
}

}  // namespace

void print_golden_symbol(Writer& w, const std::vector<GoldenCase>& goldens) {
  if (!goldens.empty())
    w.line(fmt::format("extern __attribute__((visibility(\"hidden\"))) const unsigned char {}[];", kGoldenSymbol));
}

void print_goldens(Writer& w, const std::vector<GoldenCase>& goldens, const SizeTable& table) {
  if (goldens.empty()) return;
  size_t at = 0;
  for (size_t i = 0; i < goldens.size(); ++i) {
    const std::span<const Tensor> held(goldens[i].held);
    CAMEO_CHECK(held.size() == goldens[i].inputs.size() + goldens[i].outputs.size(), "a golden case that is held");
    print_pointers(w, fmt::format("golden{}_inputs", i), held.first(goldens[i].inputs.size()), at);
    print_pointers(w, fmt::format("golden{}_outputs", i), held.last(goldens[i].outputs.size()), at);
    std::string list;
    for (double t : goldens[i].tolerances) list += fmt::format("{:.17g}, ", t);
    w.line(fmt::format("const double golden{}_tolerances[] = {{{}-1}};", i, list));
    if (!table.empty())
      w.line(fmt::format("const int64_t golden{}_symbols[] = {{{}}};", i, sizes_of(goldens[i], table)));
    if (table.learns()) w.line(fmt::format("const int64_t golden{}_dims[] = {{{}0}};", i, dims_of(goldens[i].outputs)));
  }
  w.open("const Golden goldens[] = {");
  for (size_t i = 0; i < goldens.size(); ++i)
    w.line(fmt::format("{{{0}, golden{1}_inputs, golden{1}_outputs, golden{1}_tolerances{2}{3}}},",
                       string_literal(goldens[i].name), i, table.empty() ? "" : fmt::format(", golden{}_symbols", i),
                       table.learns() ? fmt::format(", golden{}_dims", i) : ""));
  w.close("};");
}

std::vector<std::span<const std::byte>> golden_pieces(const std::vector<GoldenCase>& goldens) {
  static constexpr std::byte kZeros[kAlign]{};
  std::vector<std::span<const std::byte>> pieces;
  for (const GoldenCase& g : goldens)
    for (const Tensor& t : g.held) {
      pieces.push_back(t.bytes());
      pieces.push_back(std::span(kZeros).first(padded(t) - t.bytes().size()));
    }
  return pieces;
}

}  // namespace cameo
