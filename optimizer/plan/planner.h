// Planner: what planning holds while it walks a graph and the graphs of its bodies: the plan so far, and where values
// stand.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "optimizer/layout/relaid_constants.h"
#include "optimizer/lower/lower_graph.h"
#include "optimizer/plan/kernel_table.h"

namespace cameo {

/// Where a value stands, and the buffers that must stay alive while it is read (two for a slot that swaps).
struct Place {
  Ref ref;
  std::vector<int> buffers;
};
/// A value's name, type and shape, for comments.
std::string text_of(const Value& v);
inline Dim bytes_of(const Type& t) { return product(t.shape) * byte_size(t.dtype); }

struct ById {
  bool operator()(Expr a, Expr b) const { return a.id() < b.id(); }
};

class Planner {
 public:
  Planner(Plan& plan, WeightPool& weights, Diagnostics& diagnostics, const std::vector<std::string>& on_host)
      : plan_(plan), weights_(weights), diagnostics_(diagnostics), on_host_(on_host), kernels_(plan.kernels) {}
  void plan_root(const Graph& g);

 private:
  using Places = std::vector<std::optional<Place>>;  // by value of one graph
  /// What planning knows of one graph, and where its values stand so far.
  struct Frame : LoweredGraph {
    Places places;
    std::map<std::tuple<ValueId, std::string, uint32_t>, Place> relayouts;  // copies, by layout and border's value
    std::vector<ValueId> deciding;                                          // values that the table of sizes takes
  };

  // ---- steps and buffers
  int now() const { return static_cast<int>(plan_.steps.size()); }
  Place new_buffer(Dim bytes, std::string held);
  const Ref& use(const Place& p);
  Step& push(StepKind kind, std::vector<Ref> refs, const Provenance& provenance);
  void copy(const Place& to, const Place& from, Dim bytes, const Provenance& provenance);

  // ---- one graph
  void plan_graph(const Graph& g, const std::vector<Place>& inputs, const std::vector<Place>& outputs);
  Frame open_frame(const Graph& g);
  /// Runs `work`; what it finds wrong with the model is noted, and the cluster's values get places all the same.
  void guarded(const Graph& g, const Cluster& c, Places& places, const std::function<void()>& work);
  void plan_cluster(Frame& f, size_t number);
  void plan_kernels(Frame& f, size_t number);
  /// A step that takes the elements of a value into the table of sizes.
  void learn(Frame& f, ValueId v);
  void require_sizes_of(const Graph& g);
  Expr learn_entry(const std::vector<Requirement>& of_body);

  // ---- where values stand
  /// In the layout that the value was made in.
  Place place_of(Frame& f, ValueId v);
  /// In the layout that a kernel asks for: a constant is laid out now, a value by a kernel.
  Place place_operand(Frame& f, const Operand& o);
  /// Row-major, for what reads whole tensors: bodies, opaque kernels, scatters' operands.
  Place place_plain(Frame& f, ValueId v) { return place_operand(f, plain_operand(f.g, v)); }
  /// Where a value is to be written: its own buffer, or the one that it is a window of.
  Place place_output(Frame& f, ValueId v);
  void relayout(Frame& f, const Operand& o, const Place& to);
  /// Inputs and outputs of the model whose elements share bytes: kernels have a byte an element.
  Place unpack(const Frame& f, ValueId v, const Place& from);
  void pack(Frame& f, ValueId v, const Place& to);
  void add_border(const Frame& f, const Operand& o, const Place& to);

  // ---- kernels
  void plan_output(Frame& f, const FusedCluster& c, size_t number);
  /// Of a meaning that is no expression: a Scatter, an Opaque.
  void plan_node(Frame& f, const Cluster& c, const Node& n, const Meaning& m);
  void add_parts(Frame& f, const Cluster& c, ValueId v, const std::vector<LoweredPart>& parts);
  void add_kernel(Frame& f, const Cluster& c, LoweredKernel l);
  /// The last step copies a state's beginning.
  void skip_if_in_place(const Append& a);
  void push_kernel(Kernel k, const std::vector<Place>& at, const std::vector<ValueId>& written);
  /// Between copies: what it takes goes down, an output too if it writes a part of it; outputs come up again.
  void push_host_kernel(const Graph& g, Kernel k, const std::vector<Operand>& operands, const std::vector<Place>& at,
                        const std::vector<ValueId>& written);
  bool runs_on_host(const Graph& g, const Cluster& c) const;
  /// The last step says it: the ones before wrote a part, or a Scatter's start.
  void tap(const Graph& g, const Operand& o, const Place& at);

  // ---- control flow: plan_control.cpp
  struct Loop;
  void plan_loop(Frame& f, const Node& n);
  void plan_if(Frame& f, const Node& n);
  void settle(Frame& f, ValueId v, const Place& at, const Provenance& provenance);
  Loop open_loop(Frame& f, const Node& n);
  void carry(Frame& f, Loop& loop);
  void scan(Frame& f, Loop& loop);
  int begin_loop(Frame& f, const Loop& loop);
  void end_loop(const Loop& loop, int begin);
  uint32_t new_slot(const Place& p, const Provenance& provenance);
  void keep_alive(int begin, int end);

  Plan& plan_;
  WeightPool& weights_;
  Diagnostics& diagnostics_;
  const std::vector<std::string>& on_host_;
  std::set<Expr, ById> sizes_;  // that only a run knows: dims of the inputs
  int bodies_ = 0;              // begun so far
  const Graph* root_ = nullptr;
  Provenance reader_;  // of the kernel that is being added
  KernelTable kernels_;
  RelaidConstants constants_;
};

}  // namespace cameo
