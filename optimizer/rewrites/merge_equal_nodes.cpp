// merge_equal_nodes: two nodes with one operator, equal attributes and equal inputs are one. Constants are equal by
// content.
#include <fmt/format.h>

#include <map>

#include "frontend/ir/operator.h"
#include "optimizer/pipeline.h"

namespace cameo {
namespace {

std::string text_of(const Attr& a) {
  return std::visit(
      [](const auto& v) -> std::string {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, Constant>)
          return fmt::format("tensor {}", static_cast<const void*>(v.get()));
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

}  // namespace

Graph merge_equal_nodes(const Graph& g, PassContext& context) {
  // Keys name values of the graph that is being made, so each replayed graph (bodies are graphs too) needs a table of
  // its own.
  std::map<uint64_t, std::map<std::string, std::vector<ValueId>>> tables;
  std::map<uint64_t, std::vector<ValueId>> constants;
  auto canonical = [&](Graph& into, ValueId v) {
    if (!v || !into[v].constant || into[v].constant->bytes().size() > 256) return v;
    for (ValueId c : constants[into.serial()])
      if (*into[c].constant == *into[v].constant) return c;
    constants[into.serial()].push_back(v);
    return v;
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
