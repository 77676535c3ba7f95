// StringNormalizer: a list of strings, or the one row of a matrix, without stop words and in one case; one empty string
// where none is left. Letters are those of every locale but Turkish and Azeri.
#include <fmt/format.h>

#include <algorithm>

#include "frontend/ops/texts.h"

namespace cameo::ops {
namespace {

std::vector<std::string> stopwords_of(const NodeView& n) {
  return n.has_attr("stopwords") ? n.attr_strings("stopwords") : std::vector<std::string>{};
}

void infer_string_normalizer(Infer& n) {
  const Shape& x = n.shape();
  if (n.rank() < 1 || n.rank() > 2 || (n.rank() == 2 && !n.agree(x[0], 1)))
    n.fail(Code::E0302, "X is " + to_string(n.type(0)) + ", not a list or one row");
  const std::string action = n.attr_string("case_change_action");
  if (action != "NONE" && action != "LOWER" && action != "UPPER")
    n.fail(Code::E0204, fmt::format("`case_change_action` is `{}`", printable(action)), "NONE, LOWER or UPPER");
  const Dim most = x.back().upper() == kOpen ? Dim(kOpen) : Dim(std::max<int64_t>(1, x.back().upper()));
  const Dim kept =
      stopwords_of(n).empty() && x.back().is_static() && x.back().value() > 0 ? x.back() : n.fresh(most.value());
  n.output(0, DType::str, n.rank() == 2 ? Shape{1, kept} : Shape{kept});
}

ValueId in_case(Build& b, ValueId x, bool upper) {
  return b.graph().add(get_operator("ChangeCase", "cameo"), {x}, {{"upper", int64_t{upper}}})[0];
}

/// Which of a list are no stop words.
ValueId no_stopwords(const NodeView& n, Build& b, ValueId x) {
  ValueId words = texts(b, stopwords_of(n));
  if (!n.attr_int("is_case_sensitive")) x = in_case(b, x, false), words = in_case(b, words, false);
  const ValueId equal = b.cast(b.op("Equal", {b.unsqueeze(x, {1}), words}), DType::i64);
  return b.op("Equal", {b.reduce("ReduceMax", equal, {1}, false), b.scalar(DType::i64, 0)});
}

Meaning string_normalizer(const MeaningView& n) {
  Build b(n);
  const std::string action = n.attr_string("case_change_action");
  const ValueId x = b.reshape(b.in(0), {-1});
  ValueId y = action == "NONE" ? x : in_case(b, x, action == "UPPER");
  if (n.out_shape().back() != n.shape().back()) {
    const ValueId none = b.op("Equal", {b.op("Shape", {x}), b.ints({-1})});  // one false
    ValueId keeps = b.op("Expand", {b.op("Not", {none}), b.op("Shape", {x})});
    if (!stopwords_of(n).empty()) keeps = no_stopwords(n, b, x);
    const ValueId left = b.reduce("ReduceMax", b.concat({b.cast(keeps, DType::i64), b.ints({0})}, 0), {0});
    const ValueId is_empty = b.op("Equal", {left, b.ints({0})});
    y = b.op("Compress", {b.concat({y, texts(b, {""})}, 0), b.concat({keeps, is_empty}, 0)}, {{"axis", int64_t{0}}});
  }
  return b.outputs({n.rank() == 2 ? b.unsqueeze(y, {0}) : y});
}

}  // namespace

Operator declare_string_normalizer() {
  return {.name = "StringNormalizer",
          .since = {10},
          .inputs = {{"X", kStrings}},
          .attributes = {{"case_change_action", "NONE"},
                         {"is_case_sensitive", 0},
                         {"locale", AttrKind::String},
                         {"stopwords", AttrKind::Strings}},
          .infer = infer_string_normalizer,
          .meaning = string_normalizer};
}

}  // namespace cameo::ops
