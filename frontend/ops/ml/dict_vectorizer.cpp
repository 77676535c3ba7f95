// DictVectorizer: the values that a map has for the keys of a vocabulary, a row of them; zero where it has none.
#include "frontend/ops/list.h"
#include "frontend/ops/ml/labels.h"

namespace cameo::ops {
namespace {

ClassLabels vocabulary(const NodeView& n) {
  ClassLabels keys(n, "int64_vocabulary", "string_vocabulary");
  if (keys.count() == 0) n.fail(Code::E0204, "`DictVectorizer` has no vocabulary");
  if (keys.dtype() != n.type(0).key)
    n.fail(Code::E0301,
           fmt::format("X is {}, but the vocabulary has keys of {}", to_string(n.type(0)), name(keys.dtype())));
  return keys;
}

void infer_dict_vectorizer(Infer& n) {
  const Type& values = element_of(n, 0, Kind::Map);
  n.output(0, values.dtype, {1, vocabulary(n).count()});
}

Meaning dict_vectorizer(const MeaningView& n) {
  Build b(n);
  const ValueId found = b.graph().add(get_operator("LookUp", "cameo"), {b.in(0), vocabulary(n).all(b)})[0];
  return b.outputs({b.unsqueeze(found, {0})});
}

}  // namespace

Operator declare_ml_dict_vectorizer() {
  return {.name = "DictVectorizer",
          .domain = "ai.onnx.ml",
          .since = {1},
          .inputs = {{.name = "X", .takes = InputSpec::Lists}},
          .attributes = {{"int64_vocabulary", AttrKind::Ints}, {"string_vocabulary", AttrKind::Strings}},
          .infer = infer_dict_vectorizer,
          .meaning = dict_vectorizer,
          .foldable = false};
}

}  // namespace cameo::ops
