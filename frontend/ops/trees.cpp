// Trees, of cameo's own: what the leaves that each row of X comes to say of each target, in the form that the kernel
// walks (runtime/kernels/trees_shape.h): nodes i64[n] or, of 16 bytes, i64[n, 2]; roots i32[groups, 9]; values and
// targets of each leaf.
#include <bit>
#include <cmath>

#include "frontend/ops/operands.h"
#include "runtime/kernels/trees_shape.h"

namespace cameo::ops {
namespace {

enum TreesInput { Rows, TreeNodes, Roots, LeafValues, LeafTargets };
enum { AddLeaves, LeastLeaf, GreatestLeaf };

/// A node as the kernel reads it.
struct PackedNode {
  double threshold;
  int64_t feature, next, leaf;
  bool nan_goes_right;
};
PackedNode packed_node(const Tensor& nodes, int64_t at) {
  const auto words = nodes.as<int64_t>();
  if (nodes.rank() == 2) {
    const auto bits = static_cast<uint64_t>(words[2 * at]), rest = static_cast<uint64_t>(words[2 * at + 1]);
    return {std::bit_cast<double>(bits), static_cast<int64_t>((rest & 0xFFFFFFFF) >> 1),
            static_cast<int32_t>(rest >> 32), static_cast<int64_t>(bits & 0xFFFFFFFF), (rest & 1) != 0};
  }
  const auto bits = static_cast<uint64_t>(words[at]);
  return {std::bit_cast<float>(static_cast<uint32_t>(bits)),
          static_cast<int64_t>(bits >> rt::kShortFeatureAt & (rt::kShortFeatures - 1)), words[at] >> rt::kShortNextAt,
          static_cast<int64_t>(bits & (rt::kShortLeaves - 1)), (bits >> 32 & 1) != 0};
}

/// Whether all of the tables stays within them, and nodes within a row.
bool fits_together(const NodeView& n) {
  const Tensor &nodes = *n.constant(TreeNodes), &roots = *n.constant(Roots), &targets = *n.constant(LeafTargets);
  const int64_t slots = nodes.dims()[0], leaves = targets.dims()[0], width = n.attr_int("width");
  int64_t features = 0;
  bool fits = true;
  for (int64_t at = 0; at < slots; ++at) {
    const PackedNode node = packed_node(nodes, at);
    const int64_t last = at + node.next + 1;
    fits &= node.next == 0 ? node.leaf < leaves : last > 0 && last < slots;
    if (node.next != 0) features = std::max(features, node.feature + 1);
  }
  for (int64_t i = 0; i < roots.size(); ++i) {
    const bool is_depth = i % (rt::kTreesAtOnce + 1) == rt::kTreesAtOnce;
    fits &= roots.get_int(i) >= 0 && (is_depth || roots.get_int(i) < slots);
  }
  for (int64_t i = 0; i < targets.size(); ++i) fits &= targets.get_int(i) >= 0 && targets.get_int(i) < width;
  return fits && targets.size() > 0 && n.fits(Dim(features), n.shape(Rows)[1]);
}

void infer_trees(Infer& n) {
  for (int table : {TreeNodes, Roots, LeafValues, LeafTargets})
    if (!n.constant(table)) n.fail(Code::E0404, "trees that only a run knows");
  const auto has_dims = [&](int input, std::initializer_list<int64_t> dims) {
    return std::ranges::equal(n.constant(input)->dims(), dims, [](int64_t a, int64_t b) { return a == b || b < 0; });
  };
  const bool is_table = n.rank(Rows) == 2 && (has_dims(TreeNodes, {-1}) || has_dims(TreeNodes, {-1, 2})) &&
                        has_dims(Roots, {-1, rt::kTreesAtOnce + 1}) && has_dims(LeafValues, {-1, -1}) &&
                        n.constant(LeafTargets)->dims() == n.constant(LeafValues)->dims();
  if (!is_table || !fits_together(n)) n.fail(Code::E0302, "tables that are no trees for " + to_string(n.type(Rows)));
  n.output(0, n.dtype(LeafValues), {n.shape(Rows)[0], n.attr_int("width")});
}

/// Numbers of the kernel: rows, features, groups of trees, targets a leaf, targets of all, how leaves are joined, and
/// whether nodes have 16 bytes.
Meaning trees_meaning(const MeaningView& n) {
  Opaque kernel{"trees"};
  for (Dim d : {n.shape(Rows)[0], n.shape(Rows)[1], n.shape(Roots)[0], n.shape(LeafValues)[1], n.out_shape()[1]})
    kernel.numbers.push_back(d.extent());
  kernel.numbers.push_back(integer(n.attr_int("combine")));
  kernel.numbers.push_back(integer(n.rank(TreeNodes) == 2));
  kernel.units = n.shape(Rows)[0].estimate();
  constexpr double kOfStep = 8;
  const Tensor* roots = n.constant(Roots);
  for (int64_t g = 0; roots && g < roots->dims()[0]; ++g)
    kernel.operations +=
        kOfStep * rt::kTreesAtOnce * static_cast<double>(roots->get_int((g + 1) * (rt::kTreesAtOnce + 1) - 1));
  return kernel;
}

std::vector<Tensor> trees_reference(const MeaningView& n, std::span<const Tensor> in) {
  const int64_t rows = in[Rows].dims()[0], features = in[Rows].dims()[1], width = n.attr_int("width");
  const int64_t groups = in[Roots].dims()[0], each = in[LeafValues].dims()[1], combine = n.attr_int("combine");
  const double none = combine == AddLeaves ? 0 : combine == LeastLeaf ? INFINITY : -INFINITY;
  Tensor y(in[LeafValues].dtype(), {rows, width});
  for (int64_t r = 0; r < rows; ++r) {
    std::vector<double> all(width, none);
    for (int64_t g = 0; g < groups; ++g)
      for (int64_t t = 0; t < rt::kTreesAtOnce; ++t) {
        int64_t at = in[Roots].get_int(g * (rt::kTreesAtOnce + 1) + t);
        PackedNode node = packed_node(in[TreeNodes], at);
        for (; node.next != 0; node = packed_node(in[TreeNodes], at)) {
          const double x = in[Rows].get(r * features + node.feature);
          at += node.next + (x > node.threshold || (x != x && node.nan_goes_right));
        }
        for (int64_t k = node.leaf * each; k < (node.leaf + 1) * each; ++k) {
          double& sum = all[in[LeafTargets].get_int(k)];
          const double v = in[LeafValues].get(k);
          sum = combine == AddLeaves ? sum + v : combine == LeastLeaf ? std::min(sum, v) : std::max(sum, v);
        }
      }
    for (int64_t i = 0; i < width; ++i) y.set(r * width + i, combine != AddLeaves && all[i] == none ? 0 : all[i]);
  }
  return {y};
}

}  // namespace

Operator declare_trees() {
  constexpr DTypes kReal{DType::f32, DType::f64};
  return {.name = "Trees",
          .domain = "cameo",
          .since = {1},
          .inputs = {{"X", kReal},
                     {"nodes", kInt64},
                     {"roots", DTypes(DType::i32)},
                     {"values", kReal},
                     {"targets", DTypes(DType::i32)}},
          .attributes = {{"combine", 0}, {"width", 1}},
          .infer = infer_trees,
          .meaning = trees_meaning,
          .reference = trees_reference};
}

}  // namespace cameo::ops
