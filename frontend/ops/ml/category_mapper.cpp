// CategoryMapper: strings to the integers beside them, or integers to the strings; a default where there is none.
#include "frontend/ops/ml/rows.h"
#include "frontend/ops/texts.h"

namespace cameo::ops {
namespace {

void infer_category_mapper(Infer& n) {
  const size_t strings = n.attr_strings("cats_strings").size(), integers = n.attr_ints("cats_int64s").size();
  if (strings != integers || strings == 0)
    n.fail(Code::E0204, fmt::format("`CategoryMapper` has {} strings and {} integers", strings, integers));
  n.output(0, n.dtype() == DType::str ? DType::i64 : DType::str, n.shape());
}

Meaning category_mapper(const MeaningView& n) {
  Build b(n);
  const bool from_strings = n.dtype() == DType::str;
  const Attrs attrs = from_strings ? Attrs{{"keys_strings", n.attr_strings("cats_strings")},
                                           {"values_int64s", n.attr_ints("cats_int64s")},
                                           {"default_int64", n.attr_int("default_int64")}}
                                   : Attrs{{"keys_int64s", n.attr_ints("cats_int64s")},
                                           {"values_strings", n.attr_strings("cats_strings")},
                                           {"default_string", n.attr_string("default_string")}};
  return b.outputs({b.graph().add(get_operator("LabelEncoder", "ai.onnx.ml"), {b.in(0)}, attrs)[0]});
}

}  // namespace

Operator declare_ml_category_mapper() {
  return {.name = "CategoryMapper",
          .domain = "ai.onnx.ml",
          .since = {1},
          .inputs = {{"X", kInt64 | kStrings}},
          .attributes = {{"cats_int64s", AttrKind::Ints},
                         {"cats_strings", AttrKind::Strings},
                         {"default_int64", -1},
                         {"default_string", "_Unused"}},
          .infer = infer_category_mapper,
          .meaning = category_mapper};
}

}  // namespace cameo::ops
