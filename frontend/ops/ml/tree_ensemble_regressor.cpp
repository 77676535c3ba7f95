// TreeEnsembleRegressor: numbers of which the leaves of decision trees say something: their sum, mean, least or
// greatest.
#include "frontend/ops/ml/post_transform.h"
#include "frontend/ops/ml/tree_lists.h"

namespace cameo::ops {
namespace {

constexpr std::string_view kAggregates[] = {"SUM", "MIN", "MAX", "AVERAGE"};

void infer_tree_regressor(Infer& n) {
  features_of(n);
  post_transform(n);
  const int64_t width = count_attr(n, "n_targets");
  const std::string aggregate = n.attr_string("aggregate_function");
  if (std::ranges::find(kAggregates, aggregate) == std::end(kAggregates))
    n.fail(Code::E0204, fmt::format("`aggregate_function` is `{}`", printable(aggregate)), "SUM, AVERAGE, MIN or MAX");
  TreeLists(n, "target", width).forest();
  n.output(0, DType::f32, {rows_of(n), width});
}

Meaning tree_regressor(const MeaningView& n) {
  Build b(n);
  const int64_t width = n.attr_int("n_targets");
  const std::string aggregate = n.attr_string("aggregate_function");
  Forest forest = TreeLists(n, "target", width).forest();
  const auto trees = static_cast<double>(forest.roots.size());
  forest.combine = aggregate == "MIN" ? 1 : aggregate == "MAX" ? 2 : 0;
  ValueId y = join_trees(b, as_rows(b, b.in(0)), std::move(forest));
  if (aggregate == "AVERAGE") y = b.div(y, b.like(y, trees));
  if (ValueId base = base_values(n, b, width, b.type(y).dtype)) y = b.add(y, base);
  return b.outputs({b.cast(transformed(b, y, post_transform(n)), DType::f32)});
}

}  // namespace

Operator declare_ml_tree_ensemble_regressor() {
  return {.name = "TreeEnsembleRegressor",
          .domain = "ai.onnx.ml",
          .since = {1, 3, 5},
          .inputs = {{"X", DTypes(DType::f32, DType::f64, DType::i32, DType::i64)}},
          .attributes = tree_attributes({{"aggregate_function", "SUM"},
                                         {"n_targets", 1},
                                         {"target_ids", AttrKind::Ints},
                                         {"target_nodeids", AttrKind::Ints},
                                         {"target_treeids", AttrKind::Ints},
                                         {"target_weights", AttrKind::Floats},
                                         {"target_weights_as_tensor", AttrKind::Tensor, 3}}),
          .infer = infer_tree_regressor,
          .meaning = tree_regressor};
}

}  // namespace cameo::ops
