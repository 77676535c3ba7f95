// ChangeCase, of cameo's own: strings in upper or lower case, code point by code point.
#include "frontend/ops/texts.h"
#include "runtime/kernels/case_mapping.h"
#include "runtime/kernels/utf8.h"

namespace cameo::ops {
namespace {

Meaning change_case(const MeaningView& n) { return text_kernel(n, "change_case", {integer(n.attr_int("upper"))}); }

std::vector<Tensor> change_case_reference(const MeaningView& n, std::span<const Tensor> in) {
  const bool upper = n.attr_int("upper");
  return {map_texts(in[0], [&](std::string_view text) {
    std::string changed;
    const rt::Text all{text.data(), std::ssize(text)};
    for (int64_t at = 0; at < all.bytes;) {
      const rt::CodePoint c = rt::code_point_at(all, at);
      const auto from = static_cast<uint32_t>(c.value);
      char bytes[4] = {text[static_cast<size_t>(at)]};
      const char* end =
          c.value < 0 ? bytes + 1 : rt::put_code_point(bytes, upper ? rt::to_upper(from) : rt::to_lower(from));
      changed.append(static_cast<const char*>(bytes), end);
      at += c.bytes;
    }
    return changed;
  })};
}

}  // namespace

Operator declare_change_case() {
  return {.name = "ChangeCase",
          .domain = "cameo",
          .since = {1},
          .inputs = {{"X", kStrings}},
          .attributes = {{"upper", 0}},
          .infer = infer::same_as_first,
          .meaning = change_case,
          .reference = change_case_reference};
}

}  // namespace cameo::ops
