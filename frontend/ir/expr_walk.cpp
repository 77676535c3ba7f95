// Walks over expressions: visiting, rewriting and substituting, and what an expression depends on.
#include <algorithm>
#include <iterator>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "frontend/ir/expr.h"

namespace cameo {

namespace {
/// The nodes that a walk has seen: each walk has a number, which it writes at the ids of what it sees. Walks nest, so
/// each borrows an array of its own.
class Seen {
 public:
  Seen() {
    if (spare_.empty()) spare_.emplace_back();
    marks_ = std::move(spare_.back());
    spare_.pop_back();
    ++marks_.walk;
  }
  ~Seen() { spare_.push_back(std::move(marks_)); }
  Seen(const Seen&) = delete;
  Seen& operator=(const Seen&) = delete;
  /// Whether it is new.
  bool insert(Expr e) {
    if (e.id() >= marks_.of_nodes.size()) marks_.of_nodes.resize(e.id() + 1);
    return std::exchange(marks_.of_nodes[e.id()], marks_.walk) != marks_.walk;
  }

 private:
  struct Marks {
    uint64_t walk = 0;
    std::vector<uint64_t> of_nodes;
  };
  static thread_local std::vector<Marks> spare_;
  Marks marks_;
};
thread_local std::vector<Seen::Marks> Seen::spare_;
}  // namespace

void visit(std::span<const Expr> roots, const std::function<void(Expr)>& f) {
  Seen seen;
  std::vector<std::pair<Expr, size_t>> stack;  // explicit: a fused chain may be deeper than the call stack
  for (Expr root : roots) {
    if (!seen.insert(root)) continue;
    stack.push_back({root, 0});
    while (!stack.empty()) {
      auto& [e, next] = stack.back();
      if (next == e.args().size()) {
        f(e);
        stack.pop_back();
      } else if (Expr a = e.arg(static_cast<int>(next++)); seen.insert(a)) {
        stack.push_back({a, 0});
      }
    }
  }
}

Expr rewrite(Expr root, const std::function<Expr(Expr)>& f) {
  std::unordered_map<Expr, Expr, ExprHash> done;
  std::unordered_set<Expr, ExprHash> parts;  // of results, and these
  std::vector<Expr> further;                 // parts that are not there yet
  const auto is_part = [&](Expr made) {
    while (!further.empty()) {
      const Expr part = further.back();
      further.pop_back();
      if (parts.insert(part).second) further.insert(further.end(), part.args().begin(), part.args().end());
    }
    return parts.count(made) > 0;
  };
  std::vector<Expr> roots{root};
  visit(roots, [&](Expr e) {
    std::vector<Expr> args;
    bool changed = false;
    for (Expr a : e.args()) {
      args.push_back(done.at(a));
      changed |= args.back() != a;
    }
    Expr made = changed ? make(e.op(), e.type(), std::move(args), e.bits()) : e;
    bool short_form = changed && made.op() != e.op() && is_part(made);  // which has been through `f`
    done[e] = short_form ? made : f(made);
    further.push_back(done[e]);
  });
  return done.at(root);
}

FoldNest unfold(Expr fold) {
  FoldNest nest{{}, fold};
  const auto is_next = [&](Expr e) { return e.op() == Op::Fold && e.fold_kind() == fold.fold_kind(); };
  for (; is_next(nest.body); nest.body = nest.body.arg(1)) nest.variables.push_back(nest.body.arg(0));
  return nest;
}

Expr substitute(Expr root, std::span<const Expr> vars, std::span<const Expr> values) {
  if (vars.empty()) return root;
  std::map<uint64_t, Expr> by_number;
  for (size_t i = 0; i < vars.size(); ++i)
    if (vars[i].op() == Op::Var) by_number[vars[i].var_number()] = values[i];
  return rewrite(root, [&](Expr e) {
    if (e.op() != Op::Var) return e;
    auto it = by_number.find(e.var_number());
    return it == by_number.end() ? e : it->second;
  });
}

bool depends_on(Expr e, Expr v) {
  Seen seen;
  std::vector<Expr> rest{e};
  while (!rest.empty()) {
    const Expr x = rest.back();
    rest.pop_back();
    if (x.op() == Op::Var && x.var_number() == v.var_number()) return true;
    std::ranges::copy_if(x.args(), std::back_inserter(rest), [&](Expr a) { return seen.insert(a); });
  }
  return false;
}

}  // namespace cameo
