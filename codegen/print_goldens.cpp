// See print_goldens.h. Tensors, those of lists too, stand one after the other, inputs before outputs, each at a
// multiple of 64 bytes.
#include "codegen/print_goldens.h"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/ir/check.h"
#include "runtime/dtype.h"

namespace cameo {
namespace {

constexpr size_t kAlign = 64;

size_t padded(const Tensor& t) { return (t.bytes().size() + kAlign - 1) / kAlign * kAlign; }

/// The initialiser of a cameo_value of the C ABI, behind the arrays that it points to, whose names begin with `name`.
class ValuePrinter {
 public:
  ValuePrinter(Writer& w, size_t& at) : w_(w), at_(at) {}

  std::string list(const std::string& name, const Type& type, const Tensor& list) {
    constexpr uint32_t kKinds[] = {CAMEO_KIND_TENSOR, CAMEO_KIND_SEQUENCE, CAMEO_KIND_OPTIONAL, CAMEO_KIND_MAP};
    std::string items;
    for (size_t i = 0; i < list.items().size(); ++i) {
      const Tensor& item = list.items()[i];
      const std::string of_item = fmt::format("{}_{}", name, i);
      items += (item.is_list() ? this->list(of_item, *type.of, item) : tensor(of_item, item)) + ", ";
    }
    if (!items.empty()) w_.line(fmt::format("const cameo_value {}_items[] = {{{}}};", name, items));
    return fmt::format("{{sizeof(cameo_value), {}, {{}}, {}, {}, nullptr, nullptr}}",
                       kKinds[static_cast<int>(type.kind)], items.empty() ? "nullptr" : name + "_items",
                       list.items().size());
  }

 private:
  std::string tensor(const std::string& name, const Tensor& t) {
    const bool is_strings = t.dtype() == DType::str;
    const cameo_dtype type = rt::to_dlpack(static_cast<uint32_t>(t.dtype()));
    w_.line(fmt::format("const int64_t {}_dims[] = {{{}{}0}};", name, fmt::join(t.dims(), ", "), t.rank() ? ", " : ""));
    if (is_strings) print_texts(name, t);
    const std::string text = fmt::format(
        "{{sizeof(cameo_value), {}, {{{}, {{CAMEO_CPU, 0}}, {}, {{{}, {}, 1}}, const_cast<int64_t*>({}_dims), nullptr, "
        "0}}, nullptr, 0, {}, {}}}",
        is_strings ? "CAMEO_KIND_STRINGS" : "CAMEO_KIND_TENSOR",
        is_strings ? "nullptr" : fmt::format("const_cast<unsigned char*>({} + {}ul)", kGoldenSymbol, at_), t.rank(),
        type.code, type.bits, name, is_strings ? name + "_texts" : "nullptr",
        is_strings ? name + "_lengths" : "nullptr");
    at_ += padded(is_strings ? spelled(t) : packed(t));
    return text;
  }
  /// In what `spelled` says, the texts stand behind their ends.
  void print_texts(const std::string& name, const Tensor& t) {
    std::string texts, lengths;
    size_t begin = at_ + static_cast<size_t>(t.size()) * sizeof(int64_t);
    for (int64_t i = 0; i < t.size(); ++i) {
      texts += fmt::format("reinterpret_cast<const char*>({} + {}ul), ", kGoldenSymbol, begin);
      lengths += fmt::format("{}, ", t.text(i).size());
      begin += t.text(i).size();
    }
    w_.line(fmt::format("const char* const {}_texts[] = {{{}nullptr}};", name, texts));
    w_.line(fmt::format("const int64_t {}_lengths[] = {{{}0}};", name, lengths));
  }

  Writer& w_;
  size_t& at_;
};

/// `name[] = {symbol + 0, symbol + 64, &name_2}`, of lists the address of a value; an array cannot be empty.
void print_pointers(Writer& w, const std::string& name, const std::vector<Interface::Io>& ios,
                    const std::vector<Tensor>& values, std::span<const Tensor> held, size_t& at) {
  std::string list;
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t count = tensors_of(values[i]).size();
    if (values[i].is_list()) {
      const std::string text = ValuePrinter(w, at).list(fmt::format("{}_{}", name, i), ios[i].type, values[i]);
      w.line(fmt::format("const cameo_value {}_{} = {};", name, i, text));
      list += fmt::format("&{}_{}, ", name, i);
    } else {
      list += fmt::format("{} + {}ul, ", kGoldenSymbol, at);
      at += padded(held[0]);
    }
    held = held.subspan(count);
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
  if (!goldens.empty()) w.line(fmt::format("extern {} const unsigned char {}[];", kHidden, kGoldenSymbol));
}

bool hold_lists(const std::vector<GoldenCase>& goldens) {
  return std::ranges::any_of(goldens, [](const GoldenCase& c) {
    return std::ranges::any_of(c.inputs, &Tensor::is_list) || std::ranges::any_of(c.outputs, &Tensor::is_list);
  });
}

void print_goldens(Writer& w, const std::vector<GoldenCase>& goldens, const Interface& io, const SizeTable& table) {
  if (goldens.empty()) return;
  size_t at = 0;
  for (size_t i = 0; i < goldens.size(); ++i) {
    const std::span<const Tensor> held(goldens[i].held);
    size_t of_inputs = 0, of_outputs = 0;
    for (const Tensor& value : goldens[i].inputs) of_inputs += tensors_of(value).size();
    for (const Tensor& value : goldens[i].outputs) of_outputs += tensors_of(value).size();
    CAMEO_CHECK(held.size() == of_inputs + of_outputs, "a golden case that is held");
    print_pointers(w, fmt::format("golden{}_inputs", i), io.inputs, goldens[i].inputs, held.first(of_inputs), at);
    print_pointers(w, fmt::format("golden{}_outputs", i), io.outputs, goldens[i].outputs, held.last(of_outputs), at);
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
