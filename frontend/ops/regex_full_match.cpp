// RegexFullMatch: which strings are all that a regular expression of RE2's syntax takes.
#include <fmt/format.h>

#include "frontend/ir/regex.h"
#include "frontend/ops/texts.h"

namespace cameo::ops {
namespace {

RegexProgram pattern_of(const NodeView& n) {
  const std::string text = n.attr_string("pattern");
  RegexProgram program = compile_regex(text);
  if (!program.fault.empty())
    n.fail(program.is_unknown ? Code::E0403 : Code::E0204,
           fmt::format("`pattern` is `{}`: {}", printable(text), program.fault));
  return program;
}

void infer_regex_full_match(Infer& n) {
  pattern_of(n);
  n.output(0, DType::b1, n.shape());
}

Meaning regex_full_match(const MeaningView& n) {
  Build b(n);
  const RegexProgram program = pattern_of(n);
  return b.outputs({b.graph().add(get_operator("MatchTexts", "cameo"), {b.in(0), b.ints(program.pattern)},
                                  {{"steps", program.steps}})[0]});
}

}  // namespace

Operator declare_regex_full_match() {
  return {.name = "RegexFullMatch",
          .since = {20},
          .inputs = {{"X", kStrings}},
          .attributes = {{"pattern", AttrKind::String}},
          .infer = infer_regex_full_match,
          .meaning = regex_full_match};
}

}  // namespace cameo::ops
