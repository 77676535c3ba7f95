// Imputer: another value in place of one that says that there is none, NaN or a number; of each feature its own.
#include <cmath>

#include "frontend/ops/ml/rows.h"

namespace cameo::ops {
namespace {

std::string_view imputed_attr(const NodeView& n) {
  return is_float(n.dtype()) ? "imputed_value_floats" : "imputed_value_int64s";
}

void infer_imputer(Infer& n) {
  const std::string_view attr = imputed_attr(n);
  if (!n.has_attr(attr)) n.fail(Code::E0204, fmt::format("`{}` is missing, X is {}", attr, to_string(n.type(0))));
  check_of_features(n, attr, is_float(n.dtype()) ? n.attr_floats(attr).size() : n.attr_ints(attr).size());
  n.output(0, n.type(0));
}

Meaning imputer(const MeaningView& n) {
  Build b(n);
  const DType t = n.dtype();
  const ValueId x = b.in(0);
  if (!is_float(t)) {
    const ValueId missing = b.op("Equal", {x, b.cast(b.ints({n.attr_int("replaced_value_int64")}), t)});
    return b.outputs({b.op("Where", {missing, list_of(b, t, n.attr_ints(imputed_attr(n))), x})});
  }
  const double replaced = n.attr_float("replaced_value_float");
  const ValueId missing = std::isnan(replaced) ? b.op("IsNaN", {x}) : b.op("Equal", {x, b.like(x, replaced)});
  return b.outputs({b.op("Where", {missing, list_of(b, t, n.attr_floats(imputed_attr(n))), x})});
}

}  // namespace

Operator declare_ml_imputer() {
  return {.name = "Imputer",
          .domain = "ai.onnx.ml",
          .since = {1},
          .inputs = {{"X", kOfRows}},
          .attributes = {{"imputed_value_floats", AttrKind::Floats},
                         {"imputed_value_int64s", AttrKind::Ints},
                         {"replaced_value_float", 0.f},
                         {"replaced_value_int64", 0}},
          .infer = infer_imputer,
          .meaning = imputer};
}

}  // namespace cameo::ops
