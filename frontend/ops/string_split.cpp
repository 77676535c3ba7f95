// StringSplit: the pieces of each string between delimiters, along an axis of its own that is as long as the most of
// them, with empty strings behind the others; and how many each string has.
#include <fmt/format.h>

#include "frontend/ops/pieces.h"

namespace cameo::ops {
namespace {

/// Pieces at most; -1: any number.
int64_t most_pieces(const NodeView& n) { return n.has_attr("maxsplit") ? n.attr_int("maxsplit") + 1 : -1; }
std::string delimiter_of(const NodeView& n) { return n.has_attr("delimiter") ? n.attr_string("delimiter") : ""; }

void infer_string_split(Infer& n) {
  if (n.has_attr("maxsplit") && (n.attr_int("maxsplit") < 0 || n.attr_int("maxsplit") >= kMaxExtent))
    n.fail(Code::E0204, fmt::format("`maxsplit` is {}", n.attr_int("maxsplit")));
  Shape s = n.shape();
  s.push_back(n.fresh(most_pieces(n) > 0 ? most_pieces(n) : kOpen));
  n.output(0, DType::str, s);
  n.output(1, DType::i64, n.shape());
}

Meaning string_split(const MeaningView& n) {
  Build b(n);
  const ValueId x = b.reshape(b.in(0), {-1}), delimiter = one_text(b, delimiter_of(n));
  const Attrs most{{"most", most_pieces(n)}};
  const ValueId counts = b.graph().add(get_operator("CountPieces", "cameo"), {x, delimiter}, most)[0];
  const ValueId width = b.reduce("ReduceMax", b.concat({counts, b.ints({0})}, 0), {0});
  b.graph().decide(width, Interval{0, most_pieces(n) > 0 ? most_pieces(n) : kMaxExtent});
  const ValueId pieces = b.graph().add(get_operator("SplitTexts", "cameo"), {x, delimiter, width}, most)[0];
  const ValueId shape = b.op("Shape", {b.in(0)});
  return b.outputs({b.op("Reshape", {pieces, b.concat({shape, width}, 0)}, {{"allowzero", int64_t{1}}}),
                    b.op("Reshape", {counts, shape}, {{"allowzero", int64_t{1}}})});
}

}  // namespace

Operator declare_string_split() {
  return {.name = "StringSplit",
          .since = {20},
          .inputs = {{"X", kStrings}},
          .outputs = {{"Y"}, {"Z"}},
          .attributes = {{"delimiter", AttrKind::String}, {"maxsplit", AttrKind::Int}},
          .infer = infer_string_split,
          .meaning = string_split};
}

}  // namespace cameo::ops
