// Plan: every decision, printed. A kernel's body is its fused Expr with a Read at a physical offset for each Load; a
// step gives a kernel its operands; rows that are not kernels (jumps, loops, copies) are the control flow. Codegen
// decides nothing more.
#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "frontend/ir/bind_dims.h"
#include "optimizer/choose/choice.h"
#include "optimizer/layout/appends.h"
#include "optimizer/target.h"

namespace cameo {

// ---- kernels --------------------------------------------------------------------------------------------------------
struct Store {
  uint32_t operand;               // of the kernel
  Expr offset, guard, value;      // an unprovable guard that fails is a run-time error
  std::vector<Expr> blamed = {};  // what that error names: see blamed_axes
};

class Family;

/// What stands where a family is named: a composite node is expanded, and its definition planned; a chain of kernels
/// runs in strips, or one after another.
inline constexpr std::string_view kExpanded = "expanded", kStrips = "strips", kApart = "apart";

/// A way to run a kernel, with its price, or a family that cannot compute it, with the reason.
struct Alternative {
  const Family* family = nullptr;
  Choice choice;
  double seconds = 0;  // on one core
  std::string_view why_not;
  std::string_view without_family = kExpanded;  // what it is, where that is no family
};
std::string_view name_of_family(const Alternative& a);

/// What became of the equal composite nodes that families would compute whole, or of equal chains of kernels.
struct Claim {
  std::string problem;  // as a lock names it
  std::string op;       // or what the chain is made of
  Alternative won;
  std::vector<Alternative> lost;  // the best one first, then families that did not match
  Provenance provenance;
};

/// What one execution of a kernel does.
struct KernelCost {
  double flops = 0;        // operations on floats and 32-bit integers, each function and each term of a fold one
  double bytes = 0;        // of distinct memory that is read or written
  double fixed_bytes = 0;  // those of them that are read at any size of a run: weights
  double operations = 0;   // each Expr of the stores' values at each point; what `Acc` stands for is none
};

/// One emitted function. Its expressions, whose Reads have the numbers of its operands, say what is computed, its
/// choice how; what the numbers of a choice mean only its family knows.
struct Kernel {
  std::string symbol, title;  // k003_conv_relu; "Conv + Relu"
  const Family* family = nullptr;
  Choice choice;
  std::vector<std::string> problems;      // that it solves, as a lock names them; none where the target has no lock
  KernelCost cost;                        // what its price and its chunks are made of, and what profiles print
  double seconds = 0;                     // its price, on one core
  std::vector<Alternative> alternatives;  // that lost, the best one first, then families that did not match
  std::vector<Expr> axes;                 // Vars, outermost first
  Expr accumulated;                       // what the Acc in the stores' values stands for; null where they have none
  std::vector<Store> stores;
  std::vector<DType> operands;
  std::vector<std::string> held;   // by operand: the name, type and shape of the value it is in the first of its steps
  std::vector<bool> aligned;       // by operand: whether it begins at a multiple of rt::kAlignment in every step
  std::vector<bool> in_scratch;    // by operand: whether it stands in the thread's own memory; empty: none does
  bool on_host = false;            // of a GPU's plan: the processor runs it, on operands in its own memory
  bool optimize_for_size = false;  // it takes next to no time, in one chunk
  Dim scratch_bytes = 0;           // a thread needs
  std::shared_ptr<const Graph> node;  // instead of expressions: alone in a graph, what its reference function takes
  std::vector<Layout> layouts;        // of such a node's operands; none: all are row-major
  Provenance provenance;

  bool is_in_scratch(size_t operand) const { return operand < in_scratch.size() && in_scratch[operand]; }
};
/// Whether it makes or reads sequences, optionals or maps, in memory that the runs of one context share: no other step
/// runs beside it.
bool keeps_lists(const Kernel& k);
/// Of an empty output: there is nothing to run.
inline bool has_no_points(const Kernel& k) {
  return std::ranges::any_of(k.axes, [](Expr axis) { return axis.extent().is_const(0); });
}

// ---- where values stand ---------------------------------------------------------------------------------------------
/// Scratch: a thread's own memory, which the steps of a strip hand to each other.
enum class Base : uint8_t { Weights, Arena, Input, Output, Slot, Host, Block, Scratch };
struct Ref {
  Base base = Base::Arena;
  uint32_t number = 0;  // of an input, output, slot or block
  int64_t offset = 0;   // bytes
  bool operator==(const Ref&) const = default;
};
std::string to_string(const Ref& r);

enum class StepKind : uint8_t { Kernel, Jump, JumpIfFalse, LoopBegin, LoopEnd, Swap, SetBase, Advance, Copy, Sizes };
struct Step {
  StepKind kind = StepKind::Kernel;
  uint32_t kernel = 0;
  std::vector<Ref> refs;
  int chunks = 1;
  bool repeats = false;             // each chunk does some work anew: a thread that is alone has one
  bool follows = false;             // of one chunk, behind the step before it on the same thread: a strip is such steps
  int jump = -1;                    // a step's number
  int64_t bytes = 0;                // Copy, Advance; LoopBegin: trips when no ref holds them
  uint32_t a = 0, b = 0;            // slots of Swap, SetBase, Advance; loop number and flags of LoopBegin
  std::vector<Expr> elements = {};  // of Sizes: the symbols that the elements of its ref are, of a type `dtype`
  DType dtype = DType::undefined;
  Expr size = {};  // of Copy and Advance their bytes, of a Kernel its chunks, where only a run knows them
  Provenance provenance;
  std::vector<ValueId> written;  // values of the root graph, for taps
  void move(Dim n) {             // bytes
    bytes = n.upper();
    if (!n.is_static()) size = n.extent();
  }
  bool operator==(const Step&) const = default;
};

/// Neighbouring steps: one of any kind, or kernels that need nothing of each other, in any order; a strip, kernels of
/// which each follows the one before it, is like one of them. A group waits for all groups before it.
struct Group {
  int begin = 0, end = 0;  // its first step, and one past its last
  bool operator==(const Group&) const = default;
};

/// Buffers begin at multiples of a cache's line: bytes, rounded up to such.
inline constexpr int64_t kLine = 64;
constexpr int64_t whole_lines(int64_t bytes) { return (bytes + kLine - 1) / kLine * kLine; }

/// A buffer of the arena: live from step `first` to step `last`, both included. Of an open size it is in a block.
struct Buffer {
  int64_t bytes = 0;
  int first = 0, last = 0;
  int64_t offset = 0;
  std::string held;  // the value, for the printed plan
  Expr size = {};    // bytes, where they are open: `bytes` is 0, `offset` says nothing
  uint32_t block = 0;
  bool on_host = false;  // of a GPU's plan: memory of the processor
};

/// Memory of an open size, which a run takes once it knows that.
struct Block {
  Expr bytes;
  bool on_host = false;
  bool operator==(const Block&) const = default;
};

struct Interface {
  struct Io {
    std::string name;
    Type type;
    std::vector<Expr> content = {};  // of an input whose elements decide sizes: symbols
  };
  std::vector<Io> inputs, outputs;
};
/// Calls `f` once for each symbol of the inputs, those of their dims first. A run reads them off its inputs.
void visit_symbols(const Interface& io, const std::function<void(Expr)>& f);

/// Constant bytes that ship with the artifact, each stored once.
struct WeightPool {
  struct Entry {
    Constant tensor;
    int64_t offset;
    Constant shipped;  // as the artifact has it: of strings their numbers in `strings`, else `tensor`
  };
  std::vector<Entry> entries;
  int64_t bytes = 0;
  std::vector<int64_t> strings;  // the codes of those that the artifact numbers from 1 on; its 0 is the empty one
  std::map<int64_t, int64_t> numbers{};  // of each of them
  int64_t add(const Constant& tensor);   // its offset, 64-byte aligned; equal bytes are stored once
};

/// A named value of the root graph, as it stands when a step has written it.
struct Tap {
  int step = 0;
  Ref at;
  std::string name;
  DType dtype = DType::undefined;
  std::vector<int64_t> dims, pitch;  // elements
  bool operator==(const Tap&) const = default;
};

/// What a run walks, over the kernels of a plan, and the memory that it asks for.
struct Schedule {
  std::vector<Step> steps;
  std::vector<Group> groups;  // of all steps, in their order
  std::vector<Buffer> buffers;
  std::vector<Tap> taps;  // by step
  int64_t arena_bytes = 0;
  Dim scratch_bytes = 0;  // of each thread: what any kernel needs
  std::vector<Block> blocks;
  int64_t host_bytes = 0;  // of the processor's memory in which a GPU's plan has steps on it work, one after another
  uint32_t slots = 0, loops = 0;
};

/// The symbols that a run learns from what it computes, in the order of the steps that take them into the table.
std::vector<Expr> learned_symbols(const Schedule& schedule);
/// How many of them, the first ones, have to be known for a size to be.
size_t waits_for(Expr size, const std::vector<Expr>& learned);

/// The schedule of runs at these sizes, made as if there were no others; what it does not name keeps its range.
struct Bucket : Schedule {
  DimBinding sizes;
  std::vector<Expr> without_room;  // rooms of the plan's appends that it does not know: a run has none there
};

/// As a run asks it.
struct PlanRequirement : Requirement {
  /// Of a body, which may never run: the symbol that a run learns where it begins. None: it is asked from the start.
  Expr since = {};
};

struct Plan : Schedule {
  Target target;
  std::vector<Kernel> kernels;  // of the buckets too
  std::vector<Claim> claims;
  std::vector<PlanRequirement> requirements;
  std::vector<Append> appends;
  std::vector<Bucket> buckets;  // a run takes the first one that has its sizes, else the plan's own schedule
};
/// A bucket by itself.
Plan plan_of_bucket(const Plan& plan, const Bucket& bucket);
/// `made` is the plan of the same target for the graph at these sizes. Its kernels become those of `plan` that are
/// equal, or new ones of it.
void add_bucket(Plan& plan, Plan made, DimBinding sizes);

struct Module {
  std::string name;
  Interface io;
  WeightPool weights;
  std::vector<Plan> plans;
  std::optional<uint64_t> made_up_seed;  // large weights do not ship: they are made up of it when a model is created
  bool reduce_overhead = false;          // rows of GPUs' plans are launched as graphs
  std::shared_ptr<const Sources> sources;
};

/// `batch=1, seq=64`
std::string to_string(const DimBinding& sizes);
/// `batch=1..8, seq=1..`: the sizes that its kernels and memory are made of; empty where all are numbers. Elements of
/// inputs have no range.
std::string sizes_text(const Plan& plan);
std::string to_string(const Plan& plan, const Sources& sources, bool with_bodies = false);
/// A line for each thing that a kernel computes.
std::string body_text(const Kernel& k);
/// In microseconds, two digits or whole ones.
std::string price_text(double seconds);
/// `nest lanes=16 fold_lanes=16 team=1, 1.2 us`, or `window: it has no fold, or several`.
std::string to_string(const Alternative& a);
/// `Attention expanded, 12 us, not attention rows=6 .., 20 us`
std::string to_string(const Claim& c);
/// How many steps of a GPU's plan the processor runs.
int64_t steps_on_host(const Plan& plan);

/// By its name, or by its first output's: not every exporter names nodes.
inline bool is_called(const SourceNode& n, std::string_view name) { return n.name == name || n.output == name; }
/// fuse -> lower -> order -> place. What has no kernel yet is added to `diagnostics`, all of it in one pass. `on_host`
/// names ONNX nodes: the kernels of a GPU's plan that they are part of run on the processor, as host-only operators do.
/// `claims` are what the pass of that name decided.
Plan make_plan(const Graph& g, const Target& target, WeightPool& weights, Diagnostics& diagnostics,
               const std::vector<std::string>& on_host = {}, const std::vector<Claim>& claims = {});
Interface interface_of(const Graph& g);

/// Where many kernels of a GPU differ in floating numbers alone, they become one that reads them from the weights.
void share_kernels(Plan& plan, WeightPool& weights);
/// Takes away what no step computes any more.
void drop_unused_kernels(Plan& plan);

/// Whether a kernel may write where this operand stands: each element of its output is computed from the one at its own
/// address at most.
bool may_overwrite(const Kernel& k, uint32_t operand);
/// Before buffers are placed: one that is read for the last time where another one is made becomes the other one, where
/// the kernel may overwrite it.
void overwrite_operands(Plan& plan);

/// When all is placed: which operands of which kernels are always aligned.
void note_alignment(Plan& plan);

/// Before buffers are placed: kernels of which each alone reads what the one before it makes walk through their rows
/// together, a few at a time, where what stands between them would leave the caches. See strips/form_strips.cpp.
void form_strips(Plan& plan);

/// Before buffers are placed: which kernels need not wait for the ones before them.
void find_groups(Plan& plan);
/// A group in which no step has several chunks, and none is a strip, is taken apart into its steps: one thread runs it.
void keep_shared_groups(Plan& plan);
/// One past the last step of the strip that begins at a step; of any other step, one past that.
int end_of_strip(const Schedule& schedule, int step);
/// The one that a step is in.
const Group& group_of(const Schedule& schedule, int step);
inline std::span<const Step> steps_of(const Schedule& schedule, const Group& g) {
  return std::span(schedule.steps).subspan(static_cast<size_t>(g.begin), static_cast<size_t>(g.end - g.begin));
}

/// The larger of two, where a run knows which.
Dim larger(Dim a, Dim b);

/// Places the buffers, which live from the beginning to the end of groups then; makes groups shorter rather than the
/// arena larger.
void place_groups(Plan& plan);
/// Gives buffers of open sizes blocks, which those share that do not live at once.
void place_blocks(Plan& plan);
/// Gives every buffer an offset such that buffers which live at once do not overlap; returns the arena's size.
/// Greedy by size, lowest offset that fits (as in "Efficient Memory Management for Deep Neural Net Inference", 2020).
int64_t place_buffers(std::vector<Buffer>& buffers);

}  // namespace cameo
