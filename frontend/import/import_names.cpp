// Names: what a body takes from outside, and the order in which a list of nodes can run. Ready nodes run in the file's
// order, so a list that is in order stays as it is.
#include <queue>

#include "frontend/import/import_internal.h"

namespace cameo::importing {

std::optional<ValueId> Scope::find(std::string_view name) {
  if (auto it = names.find(name); it != names.end()) return it->second;
  if (!outer) return std::nullopt;
  std::optional<ValueId> found = outer->find(name);
  const bool is_absent = found && !*found;  // a function's optional input that the call leaves out
  if (!found || is_absent || &outer->graph == &graph) return found;
  const Value& v = outer->graph[*found];
  ValueId mine;
  if (v.constant) {
    mine = graph.constant(v.constant, v.name);  // constants are shared, never captured
  } else {
    if (--budget < 0) throw TooManyNodes();
    mine = graph.add_input(std::string(name), v.type);
    graph.set_content(mine, v.content);
    captures.push_back({name, mine});
  }
  names[name] = mine;
  return mine;
}

void FreeNames::visit(const onnx::NodeProto& n, const std::function<void(std::string_view)>& captured) {
  for (const auto& a : n.attribute()) {
    if (a.has_g())
      for (std::string_view name : of(a.g())) captured(name);
    for (const auto& g : a.graphs())
      for (std::string_view name : of(g)) captured(name);
  }
}

const std::vector<std::string_view>& FreeNames::of(const onnx::GraphProto& g) {
  if (auto it = known_.find(&g); it != known_.end()) return it->second;
  std::set<std::string_view> made, free;
  std::vector<std::string_view> list;
  for (const auto& v : g.input()) made.insert(v.name());
  for (const auto& t : g.initializer()) made.insert(t.name());
  for (const auto& t : g.sparse_initializer()) made.insert(t.values().name());
  for (const auto& n : g.node())
    for (const auto& o : n.output()) made.insert(o);
  auto use = [&](std::string_view name) {
    if (!name.empty() && !made.count(name) && free.insert(name).second) list.push_back(name);
  };
  for (const auto& n : g.node()) {
    for (const auto& i : n.input()) use(i);
    visit(n, use);
  }
  for (const auto& o : g.output()) use(o.name());
  if ((names_left_ -= static_cast<int64_t>(list.size())) < 0) throw TooManyNodes();
  return known_[&g] = std::move(list);
}

namespace {

class Sorter {
 public:
  Sorter(const NodeList& nodes, const std::set<std::string_view>& given, FreeNames& free)
      : nodes_(nodes), users_(nodes.size()), waits_(nodes.size()) {
    find_makers(given);
    for (int i = 0; i < nodes.size(); ++i) {
      for (const auto& name : nodes[i].input()) depend(i, name);
      free.visit(nodes[i], [&](std::string_view name) {
        depend(i, name);
        if (auto it = maker_.find(name); it != maker_.end() && it->second >= i) order_.late.push_back({i, name});
      });
    }
  }

  Order run() {
    std::priority_queue<int, std::vector<int>, std::greater<>> ready;
    for (int i = 0; i < nodes_.size(); ++i)
      if (waits_[i] == 0) ready.push(i);
    while (!ready.empty()) {
      int i = ready.top();
      ready.pop();
      order_.sorted &= order_.nodes.empty() || order_.nodes.back() < i;
      order_.nodes.push_back(i);
      for (int user : users_[i])
        if (--waits_[user] == 0) ready.push(user);
    }
    if (static_cast<int>(order_.nodes.size()) < nodes_.size()) find_cycle();
    return std::move(order_);
  }

 private:
  void find_makers(const std::set<std::string_view>& given) {
    for (int i = 0; i < nodes_.size(); ++i)
      for (const auto& name : nodes_[i].output()) {
        if (name.empty()) continue;
        if (given.count(name) || !maker_.emplace(name, i).second) order_.duplicates.push_back({i, name});
      }
  }
  void depend(int node, std::string_view name) {
    auto it = maker_.find(name);
    if (it == maker_.end()) return;
    users_[it->second].push_back(node);
    ++waits_[node];
  }
  /// Walks from any waiting node to one it waits for until a node repeats.
  void find_cycle() {
    std::vector<int> waited_for(nodes_.size(), -1);
    for (int i = 0; i < nodes_.size(); ++i)
      if (waits_[i] > 0)
        for (int user : users_[i])
          if (waits_[user] > 0) waited_for[user] = i;
    int at = 0;
    while (waits_[at] == 0 || waited_for[at] < 0) ++at;
    std::vector<bool> seen(nodes_.size());
    for (; !seen[at]; at = waited_for[at]) seen[at] = true;
    int begin = at;
    do {
      order_.cycle.push_back(at);
      at = waited_for[at];
    } while (at != begin);
  }

  const NodeList& nodes_;
  std::unordered_map<std::string_view, int> maker_;
  std::vector<std::vector<int>> users_;
  std::vector<int> waits_;
  Order order_;
};

}  // namespace

Order order_nodes(const NodeList& nodes, const std::set<std::string_view>& given, FreeNames& free) {
  return Sorter(nodes, given, free).run();
}

}  // namespace cameo::importing
