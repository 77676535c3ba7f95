// merge_equal_nodes: two nodes with one operator, equal attributes and equal inputs are one. Constants are equal by
// content, and so is what is known from the sizes of a run.
#include <fmt/format.h>

#include <map>

#include "frontend/ir/operator.h"
#include "optimizer/pipeline.h"

namespace cameo {
namespace {

constexpr size_t kSmall = 256;  // bytes of a constant that is looked into

/// Equal texts are equal tensors; of large ones, the same.
std::string text_of(const Tensor& t) {
  if (t.bytes().size() > kSmall) return fmt::format("tensor {}", static_cast<const void*>(&t));
  std::string s = fmt::format("{} [{}]", name(t.dtype()), fmt::join(t.dims(), ","));
  for (std::byte b : t.bytes()) s += fmt::format(" {:02x}", std::to_integer<unsigned>(b));
  if (t.is_list())
    for (const Tensor& item : t.items()) s += fmt::format(" ({})", text_of(item));
  return s;
}
std::string text_of(const Attr& a) {
  return std::visit(
      [](const auto& v) -> std::string {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, Constant>)
          return v ? text_of(*v) : "none";
        else if constexpr (std::is_same_v<T, std::shared_ptr<const Type>>)
          return to_string(*v);
        else if constexpr (std::is_same_v<T, std::string>)
          return v;
        else if constexpr (std::is_arithmetic_v<T>)
          return fmt::format("{}", v);
        else {
          std::string s = "[";
          for (auto& x : v) s += fmt::format("{},", x);
          return s;
        }
      },
      a);
}

/// Of elements that are sizes; equal texts are equal values.
std::string text_of_content(const Graph& g, ValueId v) {
  std::string s = to_string(g.type(v));
  for (Expr e : g[v].content) s += fmt::format(" {}", e.id());
  return s;
}

}  // namespace

Graph merge_equal_nodes(const Graph& g, PassContext& context) {
  // Keys name values of the graph that is being made, so each replayed graph (bodies are graphs too) needs a table of
  // its own.
  std::map<uint64_t, std::map<std::string, std::vector<ValueId>>> tables;
  std::map<uint64_t, std::map<std::string, ValueId>> constants;
  std::map<uint64_t, std::map<std::string, ValueId>> contents;
  auto canonical = [&](Graph& into, ValueId v) {
    if (v && !into[v].constant && !into[v].content.empty())
      return contents[into.serial()].try_emplace(text_of_content(into, v), v).first->second;
    if (!v || !into[v].constant || into[v].constant->bytes().size() > kSmall) return v;
    const std::string text = fmt::format("{} {}", to_string(into.type(v)), text_of(*into[v].constant));
    return constants[into.serial()].try_emplace(text, v).first->second;
  };
  return replay(
      g, [&](Graph& into, const Node& n, std::span<const ValueId> inputs) -> std::optional<std::vector<ValueId>> {
        if (!n.bodies.empty() || !n.op->foldable) return std::nullopt;
        std::vector<ValueId> same;
        std::string key = fmt::format("{} {} {}", n.op->domain, n.op->name, n.version);
        for (ValueId v : inputs) {
          same.push_back(canonical(into, v));
          key += fmt::format(" {}", same.back().index);
        }
        for (auto& [name, a] : n.attrs) key += fmt::format(";{}={}", name, text_of(a));
        key += fmt::format(";{}", n.outputs.size());
        auto [it, fresh] = tables[into.serial()].try_emplace(key);
        if (fresh) {
          it->second = into.add(*n.op, same, n.attrs, n.provenance, n.version, static_cast<int>(n.outputs.size()));
        } else {
          if (!context.apply("merge_equal_node", into, n.provenance)) return std::nullopt;
          if (NodeId made = into[it->second[0]].producer) into.add_provenance(made, n.provenance);
        }
        return it->second;
      });
}

}  // namespace cameo
