// See custom_call.h. Dims are arrays that the kernel fills, as they may be sizes that only a run knows; attributes are
// constants of its text, all of it numbers: no bytes of a model become text.
#include "optimizer/choose/custom_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace cameo {
namespace {

constexpr size_t kMostAttributeBytes = 64 * 1024;

const Node& node_of(const Kernel& k) { return k.node->nodes()[0]; }

/// `{1, 2, 3}`, and of nothing `{0}`: there are no empty arrays.
template <class T, class F>
std::string braced(std::span<const T> values, F text) {
  std::string s;
  for (const T& v : values) s += fmt::format("{}{}", s.empty() ? "" : ", ", text(v));
  return fmt::format("{{{}}}", s.empty() ? "0" : s);
}
std::string bytes_of(std::span<const unsigned char> bytes) {
  return braced(bytes, [](unsigned char c) { return fmt::format("{}", c); });
}

/// The lines of a node's attributes, and of what they point to.
class AttributeLines {
 public:
  explicit AttributeLines(const Node& node, const Graph& g) : op_(*node.op) {
    const CustomAttributes attributes(NodeView(g, node));
    std::string rows;
    for (const op::Attribute& a : attributes.list()) rows += row_of(a) + ", ";
    add(fmt::format("constexpr rt::CustomAttribute attributes[] = {{{}{{}}}};", rows));
  }
  std::vector<std::string> take() { return std::move(lines_); }

 private:
  void add(const std::string& line) { lines_.push_back("static " + line); }
  std::string held(std::string_view type, const std::string& values) {
    const std::string name = fmt::format("held{}", ++held_);
    add(fmt::format("constexpr {} {}[] = {};", type, name, values));
    return name;
  }
  std::string text(std::string_view s) {
    const std::string with_end = std::string(s) + '\0';
    return held("char", bytes_of({reinterpret_cast<const unsigned char*>(with_end.data()), with_end.size()}));
  }
  std::string row_of(const op::Attribute& a) {
    const std::string name = text(a.name);
    const auto of = [&](std::string_view kind, std::string_view field, const std::string& value) {
      return fmt::format("{{.name = {}, .kind = rt::CustomKind::{}, .count = {}, .{} = {}}}", name, kind, a.count,
                         field, value);
    };
    switch (a.kind) {
      case op::Kind::integer: return of("integer", "integers", integers({a.integers, 1}));
      case op::Kind::number: return of("number", "numbers", numbers({a.numbers, 1}));
      case op::Kind::text: return of("text", "texts", texts({a.texts, 1}));
      case op::Kind::integers: return of("integers", "integers", integers({a.integers, count(a)}));
      case op::Kind::numbers: return of("numbers", "numbers", numbers({a.numbers, count(a)}));
      case op::Kind::texts: return of("texts", "texts", texts({a.texts, count(a)}));
      default: return of("tensor", "tensor", tensor(a));
    }
  }
  static size_t count(const op::Attribute& a) { return static_cast<size_t>(a.count); }
  std::string integers(std::span<const int64_t> values) {
    return held("rt::int64_t", braced(values, [](int64_t v) {
                  return fmt::format("static_cast<rt::int64_t>({}ul)", static_cast<uint64_t>(v));
                }));
  }
  std::string numbers(std::span<const double> values) {
    return held("double", braced(values, [](double v) {
                  return fmt::format("__builtin_bit_cast(double, {}ul)", std::bit_cast<uint64_t>(v));
                }));
  }
  std::string texts(std::span<const char* const> values) {
    std::vector<std::string> names;
    for (const char* s : values) names.push_back(text(s));
    return held("const char* const",
                braced(std::span<const std::string>(names), [](const std::string& s) { return s; }));
  }
  std::string tensor(const op::Attribute& a) {
    const op::Tensor& t = a.tensor;
    const auto bytes = static_cast<size_t>(t.size()) * static_cast<size_t>(byte_size(static_cast<DType>(t.type)));
    if (bytes > kMostAttributeBytes)
      throw CompileError(Code::E0402, fmt::format("attribute `{}` of `{}` has {} bytes, the most is {}", a.name,
                                                  op_.name, bytes, kMostAttributeBytes));
    const std::string data = fmt::format("held{}", ++held_);
    lines_.push_back(fmt::format("alignas(64) static constexpr unsigned char {}[] = {};", data,
                                 bytes_of({static_cast<const unsigned char*>(t.data), bytes})));
    const std::string dims = integers({t.dims, static_cast<size_t>(t.rank)});
    return fmt::format("{{const_cast<unsigned char*>({}), {}, {}, static_cast<cameo::op::Type>({})}}", data, dims,
                       t.rank, static_cast<int>(t.type));
  }

  const Operator& op_;
  std::vector<std::string> lines_;
  int held_ = 0;
};

std::vector<std::string> attribute_lines(const Kernel& k) { return AttributeLines(node_of(k), *k.node).take(); }

/// The dims of each, and the row of tensors; absent ones are empty. `operand`: the first one's number.
void print_tensors(KernelPrinter& printer, std::string_view what, const Graph& g, std::span<const ValueId> values,
                   std::span<const std::span<const Expr>> dims, int& operand) {
  std::string rows;
  for (size_t i = 0; i < values.size(); ++i) {
    if (!values[i]) {
      rows += "{}, ";
      continue;
    }
    const std::string list = braced(dims[i], [&](Expr e) { return printer.name(e); });
    printer.line(fmt::format("const rt::int64_t dims{}[] = {};", operand, list));
    rows += fmt::format("rt::custom_tensor(x{0}, dims{0}, {1}, {2}), ", operand, dims[i].size(),
                        static_cast<int>(g.type(values[i]).dtype));
    ++operand;
  }
  printer.line(fmt::format("const rt::CustomTensor {}[] = {{{}{{}}}};", what, rows));
}

}  // namespace

const CustomOperator* custom_of(const Kernel& k) { return k.node ? as_custom(*node_of(k).op) : nullptr; }

std::string custom_text(const Kernel& k) {
  const CustomOperator& c = *custom_of(k);
  return fmt::format("{} {} {}", c.file->name, c.row, fmt::join(attribute_lines(k), " "));
}

void print_custom_call(KernelPrinter& printer, const Kernel& k) {
  const CustomOperator& c = *custom_of(k);
  const CustomNumbers numbers(*k.node, node_of(k));
  for (const std::string& line : attribute_lines(k)) printer.line(line);
  int operand = 0;
  print_tensors(printer, "outputs", *k.node, node_of(k).outputs, numbers.outputs, operand);
  print_tensors(printer, "inputs", *k.node, node_of(k).inputs, numbers.inputs, operand);
  printer.line(fmt::format("rt::custom(call, custom_{}.operators[{}], {}, outputs, inputs, attributes);", c.file->name,
                           c.row, printer.name(numbers.extent)));
}

}  // namespace cameo
