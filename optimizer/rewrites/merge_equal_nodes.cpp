// merge_equal_nodes: two nodes with one operator, equal attributes and equal inputs are one. Constants are equal by
// content, and so is what is known from the sizes of a run.
#include <fmt/format.h>

#include <map>

#include "frontend/ir/operator.h"
#include "optimizer/pipeline.h"

namespace cameo {
namespace {

constexpr size_t kSmall = 256;  // bytes of a constant that is looked into

std::string text_of(const Constant& c) {
  if (!c || c->bytes().size() > kSmall) return fmt::format("tensor {}", static_cast<const void*>(c.get()));
  std::string s = fmt::format("{} [", name(c->dtype()));
  for (int64_t d : c->dims()) s += fmt::format("{},", d);
  for (std::byte b : c->bytes()) s += fmt::format(" {:02x}", std::to_integer<unsigned>(b));
  return s;
}
std::string text_of(const Attr& a) {
  return std::visit(
      [](const auto& v) -> std::string {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, Constant>)
          return text_of(v);
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
  std::map<uint64_t, std::vector<ValueId>> constants;
  std::map<uint64_t, std::map<std::string, ValueId>> contents;
  auto canonical = [&](Graph& into, ValueId v) {
    if (v && !into[v].constant && !into[v].content.empty())
      return contents[into.serial()].try_emplace(text_of_content(into, v), v).first->second;
    if (!v || !into[v].constant || into[v].constant->bytes().size() > kSmall) return v;
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
