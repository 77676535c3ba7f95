// FeatureVectorizer: rows of several tensors one behind the other, each cut or filled with zeros to what
// `inputdimensions` says.
#include "frontend/ops/ml/rows.h"

namespace cameo::ops {
namespace {

std::vector<Dim> widths_of(const NodeView& n) {
  std::vector<int64_t> given;
  if (n.has_attr("inputdimensions")) given = n.attr_ints("inputdimensions");
  if (!given.empty() && std::ssize(given) != n.input_count())
    n.fail(Code::E0204, fmt::format("`inputdimensions` has {} entries for {} inputs", given.size(), n.input_count()));
  std::vector<Dim> widths;
  for (int i = 0; i < n.input_count(); ++i) {
    if (n.rank(i) != 1 && n.rank(i) != 2)
      n.fail(Code::E0302, fmt::format("input {} is {}, not one row or rows", i, to_string(n.type(i))));
    if (!given.empty() && (given[i] < 0 || given[i] > kMaxStep))
      n.fail(Code::E0204, fmt::format("`inputdimensions` holds {}", given[i]));
    widths.push_back(given.empty() ? n.shape(i).back() : Dim(given[i]));
  }
  return widths;
}

void infer_feature_vectorizer(Infer& n) {
  Dim rows = n.rank(0) == 2 ? n.shape(0)[0] : Dim(1), width = 0;
  for (int i = 1; i < n.input_count(); ++i)
    rows = same_dim(n, rows, n.rank(i) == 2 ? n.shape(i)[0] : Dim(1), "rows of the inputs");
  for (Dim d : widths_of(n)) width = width + d;
  n.output(0, DType::f32, {rows, width});
}

Meaning feature_vectorizer(const MeaningView& n) {
  Build b(n);
  const std::vector<Dim> widths = widths_of(n);
  std::vector<ValueId> parts;
  for (int i = 0; i < n.input_count(); ++i) {
    ValueId x = b.cast(n.rank(i) == 1 ? b.unsqueeze(b.in(i), {0}) : b.in(i), DType::f32);
    if (widths[i] != n.shape(i).back()) {
      x = b.op("Pad", {x, b.ints({0, 0, 0, widths[i].value()})});
      x = b.slice(x, 1, 0, widths[i].value());
    }
    parts.push_back(x);
  }
  return b.outputs({b.concat(parts, 1)});
}

}  // namespace

Operator declare_ml_feature_vectorizer() {
  return {.name = "FeatureVectorizer",
          .domain = "ai.onnx.ml",
          .since = {1},
          .inputs = {{"X", kOfRows, InputSpec::Variadic}},
          .attributes = {{"inputdimensions", AttrKind::Ints}},
          .infer = infer_feature_vectorizer,
          .meaning = feature_vectorizer};
}

}  // namespace cameo::ops
