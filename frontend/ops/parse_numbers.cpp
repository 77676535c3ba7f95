// ParseNumbers, of cameo's own: texts as numbers of the type `to` (runtime/kernels/parse_numbers.h).
#include <charconv>
#include <cmath>

#include "frontend/ops/conversion.h"
#include "frontend/ops/texts.h"

namespace cameo::ops {
namespace {

void infer_parse_numbers(Infer& n) { n.output(0, target_type(n), n.shape()); }

template <class T>
bool read_all(std::string_view text, T* value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size();
}

/// from_chars gives no number for what is too large or too small for the type.
template <class T>
bool read_float(std::string_view text, T* value) {
  const bool minus = text.starts_with('-');
  if (minus || text.starts_with('+')) text.remove_prefix(1);
  std::string word(text);
  for (char& c : word) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  const bool named = word == "INF" || word == "NAN",
             spelled = !word.empty() && (std::isdigit(word[0]) || word[0] == '.');
  if (!named && !spelled) return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  if (end != text.data() + text.size() || error == std::errc::invalid_argument) return false;
  if (error == std::errc::result_out_of_range) *value = static_cast<T>(std::strtod(word.c_str(), nullptr));
  if (minus) *value = -*value;
  return true;
}
template <class T>
bool read_integer(std::string_view text, T* value) {
  if (text.starts_with('+')) text.remove_prefix(1);
  if (text.starts_with('-') && std::is_unsigned_v<T> && text.find_first_not_of("0", 1) == text.npos && text.size() > 1)
    text.remove_prefix(1);
  if (read_all(text, value)) return true;
  double close = 0;
  constexpr double kEnd = std::is_unsigned_v<T> ? 0x1p64 : 0x1p63, kBegin = std::is_unsigned_v<T> ? 0 : -0x1p63;
  if (text.find_first_of(".eE") == text.npos || !read_float(text, &close)) return false;
  close = std::trunc(close);
  if (!(close >= kBegin && close < kEnd)) return false;
  *value = static_cast<T>(close);
  return true;
}

template <class T>
Tensor parsed(const Tensor& x, DType to, bool (*read)(std::string_view, T*)) {
  Tensor y(to, x.dims());
  const auto values = y.mutable_as<T>();
  for (int64_t i = 0; i < x.size(); ++i)
    if (!read(x.text(i), &values[static_cast<size_t>(i)]))
      throw CompileError(Code::E0304,
                         "`" + printable(std::string(x.text(i))) + "` is no number of " + std::string(row(to).onnx));
  return y;
}

std::vector<Tensor> parse_numbers_reference(const MeaningView& n, std::span<const Tensor> in) {
  switch (const DType to = n.out_dtype()) {
    case DType::f32: return {parsed<float>(in[0], to, read_float)};
    case DType::f64: return {parsed<double>(in[0], to, read_float)};
    case DType::u64: return {parsed<uint64_t>(in[0], to, read_integer)};
    default: return {parsed<int64_t>(in[0], to, read_integer)};
  }
}

}  // namespace

Operator declare_parse_numbers() {
  return {.name = "ParseNumbers",
          .domain = "cameo",
          .since = {1},
          .inputs = {{"X", kStrings}},
          .attributes = {{"to", AttrKind::Int}},
          .infer = infer_parse_numbers,
          .meaning = [](const MeaningView& n) -> Meaning { return text_kernel(n, "parse_numbers"); },
          .reference = parse_numbers_reference};
}

}  // namespace cameo::ops
