// A kernel family: one way to compute a part of an output. Each family is one file of optimizer/families beside one
// header of runtime/kernels; the table of them is made from that folder, whose README says how to add one. Everything
// else that handles kernels works on their common part and asks their family.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "optimizer/choose/cost.h"
#include "optimizer/choose/kernel_printer.h"
#include "optimizer/lower/lower_kernel.h"

namespace cameo {

/// A part of an output that wants a kernel.
struct Problem {
  const Graph& graph;
  const Layouts& layouts;
  ValueId output;
  const OutputPart& part;
  const Target& target;
};

/// What a family has read off a problem: the roles of its parts, which only the family looks into, and how it would
/// like operands to stand. What does not stand so is copied for its kernel.
struct Match {
  virtual ~Match() = default;
  std::vector<Operand> wishes;
};
struct Matched {
  template <class RolesOfFamily>
  Matched(std::shared_ptr<RolesOfFamily> m) : match(std::move(m)) {}
  Matched(std::string_view reason) : why_not(reason) {}
  Matched(const char* reason) : why_not(reason) {}
  std::shared_ptr<const Match> match;  // null: why not
  std::string_view why_not;
};
/// A kernel without its choice, or why there is none.
struct Lowered {
  Lowered(LoweredKernel l) : kernel(std::move(l)) {}
  Lowered(const char* reason) : why_not(reason) {}
  Lowered(std::string_view reason) : why_not(reason) {}
  std::optional<LoweredKernel> kernel;
  std::string_view why_not;
};

/// A node whose meaning is no expression of its output's elements, which wants a kernel; or a composite that one could
/// compute whole.
struct NodeProblem {
  const Graph& graph;
  const Layouts& layouts;
  const Node& node;
  const Meaning& meaning;
  const Target& target;
};

class Family {
 public:
  virtual ~Family() = default;
  virtual std::string_view name() const = 0;

  // ---- choosing
  /// Whether the family can compute the problem well. Of layouts only the order of axes is settled.
  virtual Matched match(const Problem&) const { return "it computes no expressions"; }
  /// A kernel with everything but its choice, when layouts are settled.
  virtual Lowered lower(const Problem&, const Match&) const { return "it computes no expressions"; }
  virtual Lowered lower(const NodeProblem&) const { return "it computes expressions"; }
  /// Whether it computes nodes of this composite operator whole, those that `lower` says; others are expanded.
  virtual bool claims(const Operator&) const { return false; }
  /// Makes a nest that is not chosen for yet a kernel of this family, if it can.
  virtual bool adopt(Kernel&, const Target&) const { return false; }
  /// The ways to run a kernel that `lower` or `adopt` gave, the best one by rule of thumb first: it wins unless the
  /// price of another is clearly lower.
  virtual std::vector<Choice> candidates(const Kernel& k, const Target& target) const = 0;
  /// The same work in other orders, on a processor: other ways that a candidate's price does not tell apart from it and
  /// that compute the same bits, which are worth measuring.
  virtual std::vector<Choice> reorderings(const Kernel&, const Choice&) const { return {}; }
  /// Completes the kernel by one of its candidates.
  virtual void apply(Kernel& k, const Choice& choice, const Target& target) const;
  /// Seconds on one core, or on a GPU. By default those of the operations, at the share of the peak that the family's
  /// inner loop reaches by its first candidate, and those of the bytes, at the rate of the memory that holds them.
  virtual double price(const Kernel& k, const KernelCost& cost, const Choice& choice, const Target& target) const;
  virtual double efficiency() const { return 0.04; }

  // ---- what the plan asks of a kernel of this family
  /// Into how many chunks a processor's threads may share the work, or a GPU's blocks: a step has no more than the
  /// most.
  virtual int64_t chunks(const Kernel& k, const Target& target) const = 0;
  virtual int64_t most_chunks(const Kernel&, const Target& target) const { return target.is_gpu() ? 65535 : 64; }
  /// Whether it computes the same in any number of chunks, each of which does some work anew: then a thread that is
  /// alone has one.
  virtual bool chunks_repeat(const Kernel&) const { return false; }
  static constexpr int64_t kAnyPoints = INT64_MAX;
  /// The most output points of a run whose number of chunks is raised for the weights: chunks of so few points share
  /// these, of more points each reads them all. 0: weights never raise it.
  virtual int64_t most_points_by_weights(const Kernel&) const { return kAnyPoints; }
  /// A kernel may be asked for a few indices of its outermost axis at a time, each of which is computed by itself.
  virtual bool computes_strips() const { return false; }
  /// Each element of an output is computed by one point of the axes; else points run one after another, in order.
  virtual bool writes_once() const { return true; }
  /// Whether the kernel's function writes an operand, or may.
  bool writes(const Kernel& k, uint32_t operand) const;
  /// The outputs of a kernel that has a node instead of expressions.
  virtual std::vector<Tensor> evaluate(const Kernel&, std::span<const Tensor>) const { return {}; }
  /// What tells it apart from other kernels beside its expressions and its choice.
  virtual std::string text(const Kernel&) const { return {}; }
  /// Of the printed plan: what the choice and the shape mean to the family, each word after a blank.
  virtual std::string details(const Kernel&) const { return {}; }

  // ---- code
  /// The header under runtime/kernels that it calls, and what its template arguments are.
  virtual std::string header(const Kernel&) const { return std::string(name()); }
  virtual std::string_view legend() const { return {}; }
  /// Whether a processor's kernels that differ in sizes alone are one function, which is slower by next to nothing.
  virtual bool shares_sizes(const Kernel&) const { return false; }
  /// The kernel's body: the call of its function.
  virtual void print(KernelPrinter& printer, const Kernel& k) const = 0;
};

/// All families, by name.
std::span<const Family* const> all_families();
const Family& family(std::string_view name);  // an internal error where there is none

// ---- shared by families
/// A node on these operands of `g`, of which it keeps types and constants, in a graph of its own whose outputs are the
/// node's.
Graph alone(const Graph& g, const Node& n, std::span<const ValueId> operands);
/// A kernel that computes a node whole: its operands are the node's outputs that are wanted, then its inputs that are
/// present, all of them row-major.
LoweredKernel kernel_of_node(const NodeProblem& p, const Family& family);
/// A price whose work takes `ratio` times as long; to launch it takes what it did.
double scaled(double seconds, double ratio, const Target& target);
std::string_view name(FoldKind kind);  // as rt:: has it
/// Into how many chunks a kernel's work is divided where sizes are the likely ones, up to the most that a step has: as
/// its choice says, or else its family.
inline constexpr std::string_view kChunks = "chunks";
int64_t chunks_of(const Kernel& k, const Target& target);
/// A processor's chunks: each computes, or moves, about as long as threads need to meet, or, of the first four, a third
/// of that. `operations`: those of the whole kernel that its cost does not show.
int64_t chunks_by_work(const Kernel& k, double operations, const Target& target);
/// Those of a sum of products, `lanes` of which are one operation, each as long as threads need to meet: what takes its
/// time is weights, which no other thread has made.
int64_t chunks_by_products(const Kernel& k, int lanes, const Target& target);
/// "3 x 64": the extents that it sums over, in order.
std::string text_of_sum(const Product& p);
/// In proportion to the points of a run, where `chunks` are those of the likely ones, but no fewer than it takes to
/// move what every run reads; null where one number is right.
Expr chunks_of_run(const Kernel& k, const Target& target, int64_t chunks, int64_t most);

}  // namespace cameo
