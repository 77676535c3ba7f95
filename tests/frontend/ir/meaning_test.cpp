// A node's meaning is made once: it stays with the node in copies of its graph, and goes with it into graphs that are
// made of it, where nothing that it was made of has changed.
#include <gtest/gtest.h>

#include "frontend/ir/operator.h"

namespace cameo {
namespace {

ValueId add(Graph& g, std::string_view op, std::vector<ValueId> inputs, Attrs attrs = {}) {
  return g.add(get_operator(op), std::move(inputs), std::move(attrs))[0];
}
const Meaning* meaning(const Graph& g, size_t node) { return &meaning_of(g, g.nodes()[node]); }

/// Y = Softmax(Relu(X))
Graph chain() {
  Graph g;
  const ValueId x = g.add_input("X", Type(DType::f32, {Dim(2), Dim(3)}));
  g.add_output("Y", add(g, "Softmax", {add(g, "Relu", {x})}));
  return g;
}

TEST(Meaning, IsMadeOnce) {
  const Graph g = chain();
  EXPECT_FALSE(g.nodes()[0].meaning);
  EXPECT_EQ(meaning(g, 0), meaning(g, 0));
  EXPECT_EQ(g.nodes()[0].meaning.get(), meaning(g, 0));
}

TEST(Meaning, StaysInCopiesOfTheGraph) {
  const Graph g = chain();
  const Meaning* relu = meaning(g, 0);
  const Graph copy = g;
  EXPECT_EQ(meaning(copy, 0), relu);
}

TEST(Meaning, GoesWithANodeThatIsReplayed) {
  const Graph g = chain();
  const Meaning* relu = meaning(g, 0);
  const Graph same = replay(g, {});
  EXPECT_EQ(meaning(same, 0), relu);
  EXPECT_FALSE(same.nodes()[1].meaning);  // of the other one nobody has asked
  const Graph by_a_rule = replay(g, [](Graph& into, const Node& n, std::span<const ValueId> in) {
    return std::optional(into.add(*n.op, {in.begin(), in.end()}, n.attrs, n.provenance, n.version));
  });
  EXPECT_EQ(meaning(by_a_rule, 0), relu);
}

TEST(Meaning, IsAnotherOnOtherOperands) {
  const Graph g = chain();
  const Meaning* relu = meaning(g, 0);
  const Meaning* softmax = meaning(g, 1);
  const Graph wider = replay(g, [](Graph& into, const Node& n, std::span<const ValueId> in) {
    if (n.op->name != "Relu") return std::optional<std::vector<ValueId>>();
    const Attrs twice = {{"axis", int64_t{1}}};
    return std::optional(std::vector<ValueId>{add(into, "Concat", {in[0], add(into, "Relu", {in[0]})}, twice)});
  });
  ASSERT_EQ(wider.nodes().size(), 3u);
  EXPECT_NE(meaning(wider, 1), softmax);
  EXPECT_NE(meaning(wider, 2), softmax);
  EXPECT_NE(meaning(wider, 0), relu);  // the rule's own node
}

TEST(Meaning, IsAnotherWithOtherAttributes) {
  const Graph g = chain();
  const Meaning* softmax = meaning(g, 1);
  const Graph along = replay(g, [](Graph& into, const Node& n, std::span<const ValueId> in) {
    Attrs attrs = n.attrs;
    if (n.op->name == "Softmax") attrs["axis"] = int64_t{0};
    return std::optional(into.add(*n.op, {in.begin(), in.end()}, attrs, n.provenance, n.version));
  });
  EXPECT_NE(meaning(along, 1), softmax);
}

TEST(Meaning, OfAGraphThatIsInlinedTwiceIsTwo) {
  Graph body;
  const ValueId x = body.add_input("X", Type(DType::f32, {Dim(2), Dim(3)}));
  body.add_output("Y", add(body, "Relu", {x}));
  const Meaning* own = meaning(body, 0);
  Graph g;
  const ValueId a = g.add_input("A", Type(DType::f32, {Dim(2), Dim(3)}));
  const ValueId once = inline_graph(g, body, std::vector{a}, {})[0];
  g.add_output("Y", inline_graph(g, body, std::vector{once}, {})[0]);
  EXPECT_NE(meaning(g, 0), meaning(g, 1));
  EXPECT_NE(meaning(g, 0), own);
}

}  // namespace
}  // namespace cameo
