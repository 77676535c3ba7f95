// Lists whose elements are known when compiling, as exporters write them: SequenceConstruct or SplitToSequence, then
// elements put in or taken away at constant places. What is taken out of such has the type that it was put in with, and
// is that value (optimizer/rewrites/known_lists.cpp).
#pragma once
#include <algorithm>

#include "frontend/ops/operands.h"

namespace cameo::ops {

inline constexpr size_t kKnownElements = 4096;  // of a list: more stay in a list

/// A position that is known, counted from the front of so many places; `otherwise` where none is given.
inline std::optional<int64_t> known_place(const NodeView& n, int input, size_t places, int64_t otherwise) {
  const Tensor* t = n.constant(input);
  if (n.has(input) && (!t || t->size() != 1)) return std::nullopt;
  int64_t at = t ? t->get_int(0) : otherwise;
  if (at < 0) at += static_cast<int64_t>(places);
  return at >= 0 && at <= static_cast<int64_t>(places) ? std::optional(at) : std::nullopt;
}

/// The lengths of SplitToSequence's parts, where they are known.
inline std::optional<std::vector<int64_t>> known_parts(const NodeView& n) {
  const Dim whole = n.dim(0, static_cast<int>(n.attr_int("axis")));
  const Tensor* split = n.constant(1);
  if (n.has(1) && !split) return std::nullopt;
  std::vector<int64_t> parts;
  for (int64_t i = 0; split && split->rank() && i < split->size(); ++i) parts.push_back(split->get_int(i));
  if (split && split->rank()) return parts;
  const int64_t each = split ? split->get_int(0) : 1;
  if (!whole.is_static() || each <= 0 || whole.value() / each >= static_cast<int64_t>(kKnownElements))
    return std::nullopt;
  for (int64_t at = 0; at < whole.value(); at += each) parts.push_back(std::min(each, whole.value() - at));
  return parts;
}

/// What a list is known to hold: `of_value` says it of each element that is a value, `of_split` of those that a node
/// splits a tensor into.
template <class T>
std::optional<std::vector<T>> known_list(const Graph& g, ValueId list, T (*of_value)(const Graph&, ValueId),
                                         std::optional<std::vector<T>> (*of_split)(const NodeView&)) {
  std::vector<const Node*> changes;  // the last one first
  std::optional<std::vector<T>> elements;
  for (ValueId v = list; !elements;) {
    const Node* node = g[v].producer ? &g[g[v].producer] : nullptr;
    const std::string_view op = node ? node->op->name : "";
    if (op == "SequenceEmpty") {
      elements.emplace();
    } else if (op == "SequenceConstruct" || op == "Optional") {
      elements.emplace();
      for (ValueId in : node->inputs) elements->push_back(of_value(g, in));
    } else if (op == "SplitToSequence") {
      elements = of_split(NodeView(g, *node));
      if (!elements) return std::nullopt;
    } else if (op == "SequenceInsert" || op == "SequenceErase" || op == "Identity") {
      changes.push_back(node);
      v = node->inputs[0];
    } else {
      return std::nullopt;
    }
  }
  for (; !changes.empty(); changes.pop_back()) {
    const NodeView n(g, *changes.back());
    const bool inserts = n.node().op->name == "SequenceInsert";
    if (n.node().op->name == "Identity") continue;
    const auto at = known_place(n, inserts ? 2 : 1, elements->size(), inserts ? std::ssize(*elements) : -1);
    if (!at || (!inserts && *at == std::ssize(*elements)) || elements->size() > kKnownElements) return std::nullopt;
    if (inserts)
      elements->insert(elements->begin() + *at, of_value(g, n.node().inputs[1]));
    else
      elements->erase(elements->begin() + *at);
  }
  return elements;
}

/// The values in a list.
inline std::optional<std::vector<ValueId>> known_elements(const Graph& g, ValueId list) {
  return known_list<ValueId>(
      g, list, [](const Graph&, ValueId v) { return v; },
      [](const NodeView&) { return std::optional<std::vector<ValueId>>(); });
}

/// Their types.
inline std::optional<std::vector<Type>> known_types(const Graph& g, ValueId list) {
  return known_list<Type>(
      g, list, [](const Graph& of, ValueId v) { return of.type(v); },
      [](const NodeView& n) {
        std::optional<std::vector<Type>> types;
        const auto parts = known_parts(n);
        const int axis = NodeView::axis(n.attr_int("axis"), n.rank());
        if (parts) types.emplace(parts->size(), n.type(0));
        for (size_t i = 0; types && i < parts->size(); ++i) {
          Shape& shape = (*types)[i].shape;
          shape[static_cast<size_t>(axis)] = Dim((*parts)[i]);
          if (!n.has(1) && !n.attr_int("keepdims")) shape.erase(shape.begin() + axis);
        }
        return types;
      });
}

}  // namespace cameo::ops
