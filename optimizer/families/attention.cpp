// The Attention family: the operator of that name computed whole on a processor, in one pass over the keys; the scores
// of a row never leave the core. It claims f32 with a mask as wide as the keys or none; windows, lengths that only the
// data tells and scores that are asked for are left to the definition.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "frontend/reference/interpret.h"
#include "optimizer/choose/family.h"
#include "optimizer/choose/tiles_of_sums.h"
#include "runtime/kernels/attention_shape.h"

namespace cameo {
namespace {

enum AttentionInput { Q, K, V, Mask, PastKey, PastValue, Valid };
enum AttentionOutput { Y, PresentKey, PresentValue, Scores };

/// How an extent is written: as a number, a size in whatever words the text has for it.
using Words = std::function<std::string(Expr)>;

/// The node of a kernel, as the call of its function has it. Batch, queries and keys may be sizes.
class AttentionNode : public NodeView {
 public:
  explicit AttentionNode(const Kernel& k) : AttentionNode(*k.node, k.node->nodes()[0]) { layouts_ = k.layouts; }
  AttentionNode(const Graph& g, const Node& n) : NodeView(g, n) {
    flat_ = rank(Q) == 3;
    const auto extent = [&](int input, int axis) { return dim(input, axis).value(); };
    batch_ = dim(Q, 0);
    queries_ = dim(Q, -2);
    keys_ = dim(K, -2);
    if (has(PastKey)) past_ = dim(PastKey, 2);
    const int64_t heads = flat_ ? attr_int("q_num_heads") : extent(Q, 1);
    shape_.groups = flat_ ? attr_int("kv_num_heads") : extent(K, 1);
    shape_.heads = heads / shape_.groups;
    shape_.size = flat_ ? extent(Q, -1) / heads : extent(Q, -1);
    shape_.value_size = flat_ ? extent(V, -1) / shape_.groups : extent(V, -1);
    shape_.batch = batch_.estimate();
    shape_.queries = queries_.estimate();
    shape_.past = past_.estimate();
    shape_.keys = keys_.estimate();
  }
  /// With estimates of what only a run knows.
  const rt::AttentionShape& shape() const { return shape_; }
  Dim past() const { return past_; }
  Dim keys() const { return keys_; }
  Dim total() const { return past_ + keys_; }
  /// What the outputs take that are the caches with new rows.
  int64_t present_bytes() const {
    const int64_t sizes =
        (has_output(PresentKey) ? shape_.size : 0) + (has_output(PresentValue) ? shape_.value_size : 0);
    return shape_.batch * shape_.groups * shape_.total() * sizes * int64_t(sizeof(float));
  }
  bool causal() const { return attr_int("is_causal") != 0; }
  bool masked() const { return has(Mask); }
  bool scores_are_products() const { return !masked() && attr_float("softcap") == 0; }
  /// Keys that a row sees, on average.
  double keys_seen() const {
    const double all = static_cast<double>(shape_.total()), queries = static_cast<double>(shape_.queries);
    return causal() ? std::min(all, static_cast<double>(shape_.past) + (queries + 1) / 2) : all;
  }
  /// Whether it is known along which of its axes the mask is the same for all.
  bool mask_is_clear() const {
    const Dim whole[] = {queries_, Dim(shape_.groups * shape_.heads), batch_};
    for (int axis = 2; axis <= std::min(rank(Mask), 4); ++axis)
      if (const Dim d = dim(Mask, -axis); !d.is_static() && d != whole[axis - 2]) return false;
    return true;
  }

  /// The numbers that a call has beside its tile, and the operands by their names.
  std::string arguments() const {
    const rt::AttentionShape& s = shape_;
    const double scale =
        has_attr("scale") ? attr_float("scale") : 1 / std::sqrt(static_cast<double>(std::max<int64_t>(s.size, 1)));
    const std::string score =
        has_attr("masked_score") ? fmt::format(", {:a}f", static_cast<float>(attr_float("masked_score"))) : "";
    return fmt::format("rt::AttentionScores{{{:a}f, {:a}f, {}, {}{}}}", static_cast<float>(scale),
                       static_cast<float>(attr_float("softcap")), causal(), masked() && !has_attr("unguarded"), score);
  }
  std::string shape_text(const Words& words) const {
    const rt::AttentionShape& s = shape_;
    const auto word = [&](Dim d) { return words(d.extent()); };
    return fmt::format("rt::AttentionShape{{{}, {}, {}, {}, {}, {}, {}, {}}}", word(batch_), word(s.groups),
                       word(s.heads), word(queries_), word(past_), word(keys_), s.size, s.value_size);
  }
  /// `streams`: what is present goes past the caches.
  std::string operands(const Words& words, bool streams = false) const {
    const rt::AttentionShape& s = shape_;
    const auto flat = [&](int operand, int64_t size) { return rows(words, operand, flat_ ? size : 0); };
    return fmt::format("rt::AttentionOperands{{{}, {}, {}, {}, {}, {}, {}, {}{}}}", flat(input(Q), s.size),
                       rows(words, input(PastKey)), rows(words, input(PastValue)), flat(input(K), s.size),
                       flat(input(V), s.value_size), flat(output(Y), s.value_size), rows(words, output(PresentKey)),
                       rows(words, output(PresentValue)), streams ? ", true" : "");
  }
  std::string mask(const Words& words) const {
    if (!masked()) return "rt::no_mask()";
    Shape pitch(4, Dim(0));
    Dim elements = 1;
    for (int axis = 1; axis <= rank(Mask); ++axis) {
      const Dim extent = dim(Mask, -axis);
      if (!extent.is_static(1)) pitch[static_cast<size_t>(4 - axis)] = elements;
      elements = elements * extent;
    }
    return rows_at(words, input(Mask), pitch[0], pitch[1], pitch[2]);
  }

 private:
  /// The number of an operand of the kernel, or -1: outputs that are wanted, then inputs that are present.
  int output(int i) const { return has_output(i) ? place(node().outputs, i) : -1; }
  int input(int i) const { return has(i) ? place(node().outputs, output_count()) + place(node().inputs, i) : -1; }
  static int place(const std::vector<ValueId>& list, int i) {
    return static_cast<int>(std::count_if(list.begin(), list.begin() + i, [](ValueId v) { return bool(v); }));
  }
  /// [batch, heads, rows, elements], or [batch, rows, heads * `size`].
  std::string rows(const Words& words, int operand, int64_t size = 0) const {
    if (operand < 0) return "{}";
    const Shape& pitch = layouts_[static_cast<size_t>(operand)].pitch;
    return rows_at(words, operand, pitch[0], size ? Dim(size) : pitch[1], pitch[size ? 1 : 2]);
  }
  static std::string rows_at(const Words& words, int operand, Dim batch, Dim head, Dim row) {
    return fmt::format("rt::attention_rows(x{}, {}, {}, {})", operand, words(batch.extent()), words(head.extent()),
                       words(row.extent()));
  }

  std::vector<Layout> layouts_;
  bool flat_ = false;
  Dim batch_, queries_, past_, keys_;
  rt::AttentionShape shape_{};
};

/// What of the operator the family does not compute; null: it does.
const char* not_computed(const Graph& g, const Node& n) {
  const NodeView view(g, n);
  constexpr const char* kNothing = "there may be nothing to compute";
  for (const auto* list : {&n.inputs, &n.outputs})
    for (ValueId v : *list)
      if (v && has_no_elements(g.type(v).shape)) return kNothing;
  for (int i : {Q, K, V, PastKey, PastValue})
    if (view.has(i) && view.dtype(i) != DType::f32) return "it computes f32";
  const bool flat = view.rank(Q) == 3;
  for (int i : {Q, K, V})
    if (!view.dim(i, -1).is_static() || (!flat && !view.dim(i, 1).is_static()))
      return "the number of its heads or of their elements is not known";
  const AttentionNode node(g, n);
  if (range_of(node.total().extent()).low < 1) return kNothing;
  if (view.has_attr("softmax_precision") && view.attr_int("softmax_precision") == static_cast<int>(DType::f64))
    return "its softmax is f64";
  if (view.has(Valid) || view.attr_int("left_window_size") >= 0 || view.attr_int("right_window_size") >= 0)
    return "the keys of a row have another end than the causal one";
  if (view.has_output(Scores)) return "its scores are an output";
  if ((view.has_attr("scale") && !std::isfinite(view.attr_float("scale"))) ||
      !std::isfinite(view.attr_float("softcap")))
    return "its scale or its cap is no number";
  if (!view.has(Mask)) return nullptr;
  if (view.dtype(Mask) != DType::f32 && view.dtype(Mask) != DType::b1) return "its mask is neither f32 nor boolean";
  if (view.dim(Mask, -1) != node.total()) return "its mask is not as wide as the keys";
  return node.mask_is_clear() ? nullptr : "only the run knows along which axes its mask is the same for all";
}

/// Whether the elements of its rows are neighbours as the value is made, so that it need not be relaid: its other axes
/// may stand in any order, those of a mask may not.
bool stands_in_rows(const NodeProblem& p, ValueId v) {
  const bool is_mask = p.node.inputs.size() > Mask && p.node.inputs[Mask] == v;
  if (p.layouts.made.empty() || p.graph[v].constant || is_mask) return false;
  const Layout& made = p.layouts[v.index];
  return made.pitch.back().is_static(1) && made.base_offset.is_static(0);
}

rt::AttentionTile attention_tile(const Choice& c) {
  return {static_cast<int>(c["rows"]), static_cast<int>(c["vectors"]), c["block"], c["keys"]};
}

/// Into how many parts sums are split of tiles that are as wide as there are columns for.
int splits_of_part(int64_t rows, int64_t columns, int64_t vectors, const Target& target) {
  const rt::TileSplit along = rt::split_tiles(rt::panels_of(columns), vectors);
  return splits_of({static_cast<int>(rows), static_cast<int>(along.full ? along.size : along.rest)}, target);
}

class AttentionFamily final : public Family {
 public:
  std::string_view name() const override { return "attention"; }
  bool claims(const Operator& op) const override { return op.name == "Attention"; }

  Lowered lower(const NodeProblem& p) const override {
    if (!claims(*p.node.op)) return "it computes Attention";
    if (p.target.is_gpu()) return "it has no kernel for GPUs";
    if (const char* why = not_computed(p.graph, p.node)) return why;
    LoweredKernel l = kernel_of_node(p, *this);
    for (Operand& o : l.operands) {
      if (stands_in_rows(p, o.value)) o = as_made(p.layouts, o.value);
      l.kernel.layouts.push_back(o.layout);
    }
    for (const Dim& d : p.graph.type(p.node.outputs[Y]).shape) l.kernel.axes.push_back(var(d.extent()));
    return l;
  }

  /// A tile that registers hold, in units of some hundred rows whose scratch is half of the second cache at most; up to
  /// four rows read keys where they stand.
  std::vector<Choice> candidates(const Kernel& k, const Target& target) const override {
    constexpr int64_t kFewRows = 4, kMostRows = 6, kMostTiles = 32, kLeastKeys = 64, kFewUnits = 8;
    const AttentionNode node(k);
    const rt::AttentionShape s = node.shape();
    const int64_t rows = s.rows(), wanted = std::min(rows, kMostRows);
    int64_t vectors = 4;
    while (vectors > 1 && rt::tallest_tile(target.vector_bytes, target.vector_registers, vectors) < wanted) --vectors;
    const int64_t tallest = rt::tallest_tile(target.vector_bytes, target.vector_registers, vectors);
    const int64_t tile = rt::even_part(rows, std::min(wanted, tallest)), tiles = rt::round_up_div(rows, tile);
    const bool streams = node.present_bytes() > target.machine.l2_bytes / 2;
    std::vector<Choice> all;
    const auto add = [&](bool in_panels, int64_t keys, int64_t most_tiles) {
      const int64_t block = tile * rt::even_part(tiles, most_tiles);
      const Choice c{{"rows", tile},
                     {"vectors", vectors},
                     {"block", block},
                     {"keys", keys},
                     {"panels", in_panels},
                     {"streams", streams},
                     {"score_splits", in_panels ? splits_of_part(tile, keys, vectors, target) : 1},
                     {"value_splits", splits_of_part(tile, s.value_size, vectors, target)}};
      if (std::ranges::find(all, c) == all.end()) all.push_back(c);
    };
    const auto fitting = [&](int64_t keys) {
      return std::min(keys, rt::round_up_div(s.total(), rt::kPanel) * rt::kPanel);
    };
    int64_t keys = rt::kMostKeys, unit = kMostTiles;
    const auto made = [&] {
      return rt::AttentionTile{static_cast<int>(tile), static_cast<int>(vectors), tile * rt::even_part(tiles, unit),
                               fitting(keys)};
    };
    const auto is_large = [&] { return rt::attention_scratch_bytes(s, made()) > target.machine.l2_bytes / 2; };
    if (is_large() || rt::attention_units(s, made()) < kFewUnits) unit = kMostTiles / 2;
    while (keys > kLeastKeys && is_large()) keys /= 2;
    add(rows > kFewRows, fitting(keys), unit);
    for (int64_t other = kLeastKeys; other <= rt::kMostKeys; other *= 2) add(rows > kFewRows, fitting(other), unit);
    for (int64_t other : {kMostTiles / 2, kMostTiles}) add(rows > kFewRows, fitting(keys), other);
    if (rows <= 2 * kFewRows) add(rows <= kFewRows, fitting(keys), unit);
    if (node.present_bytes()) all.push_back(all.front().with("streams", !streams));
    return all;
  }
  double price(const Kernel& k, const KernelCost& cost, const Choice& c, const Target& target) const override {
    const AttentionNode n(k);
    // caches are copied either way, where they cannot grow in place: the definition's price would have them come from
    // the second cache, a part at a time
    const double copied = n.total().is_static() ? 2 * static_cast<double>(n.present_bytes()) : 0;
    return cycles(n, c, target) / (target.machine.clock * 1e9) + target.seconds_to_move(cost.bytes - copied);
  }
  void apply(Kernel& k, const Choice& choice, const Target& target) const override {
    Family::apply(k, choice, target);
    k.scratch_bytes = rt::attention_scratch_bytes(AttentionNode(k).shape(), attention_tile(choice));
  }
  int64_t chunks(const Kernel& k, const Target& target) const override {
    const AttentionNode n(k);
    const rt::AttentionShape& s = n.shape();
    const int64_t units = rt::attention_units(s, attention_tile(k.choice));
    const double read = n.keys_seen() * static_cast<double>(s.size + s.value_size);  // by a unit
    const double multiplied = static_cast<double>(s.batch * s.groups * s.rows()) * read / rt::kPanel;
    return std::min(units, chunks_by_work(k, multiplied + static_cast<double>(units) * read, target));
  }
  std::vector<Tensor> evaluate(const Kernel& k, std::span<const Tensor> in) const override {
    return interpret_node(*k.node, k.node->nodes()[0], in);
  }
  std::string text(const Kernel& k) const override {
    const AttentionNode n(k);
    const Words words = [](Expr e) { return to_string(e); };
    return n.shape_text(words) + n.arguments() + n.operands(words) + n.mask(words);
  }

  std::string details(const Kernel& k) const override {
    const AttentionNode n(k);
    const Choice& c = k.choice;
    const std::string past = n.past().is_static(0) ? "" : to_string(n.past()) + " + ";
    return fmt::format(" keys {}{}, tile {}x{} of {} rows by {} keys{}{}", past, to_string(n.keys()), c["rows"],
                       c["vectors"], c["block"], c["keys"], c["panels"] ? " in panels" : "",
                       c["streams"] ? ", present past the caches" : "");
  }
  std::string_view legend() const override {
    return "attention<R, V, P, S, T>: a tile of R rows by V panels of keys or values; P: keys in panels; S, T: parts "
           "of "
           "each sum of a score, of a value";
  }
  bool shares_sizes(const Kernel&) const override { return true; }
  void print(KernelPrinter& printer, const Kernel& k) const override {
    const AttentionNode n(k);
    const Choice& c = k.choice;
    const Words words = [&](Expr e) { return printer.name(e); };
    printer.line(fmt::format("rt::attention<{}, {}, {}, {}, {}>(call, {}, rt::c<{}>,", c["rows"], c["vectors"],
                             c["panels"] != 0, c["score_splits"], c["value_splits"], n.shape_text(words),
                             n.shape().value_size));
    printer.line(
        fmt::format("              {}, {}, {},", words(integer(c["block"])), words(integer(c["keys"])), n.arguments()));
    printer.line(fmt::format("              {},", n.operands(words, c["streams"] != 0)));
    printer.line(fmt::format("              {});", n.mask(words)));
  }

 private:
  /// Two products of a tile's height, the exponentials, and what it takes to bring keys and values into panels.
  static double cycles(const AttentionNode& n, const Choice& c, const Target& target) {
    constexpr double kPack = 0.35, kRow = 40;              // of an element; a row's block
    const double exp = n.scores_are_products() ? 10 : 14;  // of a vector
    const rt::AttentionShape& s = n.shape();
    const double parts = rt::kPanel * 4.0 / target.vector_bytes, rows = static_cast<double>(c["rows"]),
                 vectors = static_cast<double>(c["vectors"]), sums = rows * vectors * parts;
    const auto step = [&](int64_t size, int64_t splits) {
      const MachineModel& m = target.machine;
      return static_cast<double>(size) *
             std::max({sums / m.fmas, (vectors * parts + rows) / m.loads, m.fma_latency / static_cast<double>(splits)});
    };
    const double groups = static_cast<double>(s.batch * s.groups), keys = n.keys_seen();
    const double all_rows = static_cast<double>(rt::round_up_div(s.rows(), c["rows"])) * rows;
    const double units = static_cast<double>(rt::round_up_div(s.rows(), c["block"]));
    const double sizes = static_cast<double>(s.size + s.value_size);
    const double scores = all_rows * keys, blocks = std::ceil(keys / static_cast<double>(c["keys"]));
    const double products = scores / (rows * vectors * rt::kPanel) *
                            (step(s.size, c["score_splits"]) + step(s.value_size, c["value_splits"]));
    const double weights = scores / rt::kPanel * exp * parts + all_rows * blocks * kRow;
    const double packing = c["panels"] ? units * keys * sizes * kPack : 0;
    return groups * (products + weights + packing);
  }
};

}  // namespace

const Family& attention_family() {
  static const AttentionFamily family;
  return family;
}

}  // namespace cameo
