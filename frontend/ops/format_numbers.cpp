// FormatNumbers, of cameo's own: numbers as Python writes them (runtime/kernels/format_numbers.h).
#include <charconv>
#include <cmath>

#include "frontend/ops/texts.h"

namespace cameo::ops {
namespace {

template <class T>
std::string float_text(T value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-INF" : "INF";
  if (value == 0) return std::signbit(value) ? "-0.0" : "0.0";
  char text[64];
  const auto end = std::to_chars(text, std::end(text), value, std::chars_format::scientific).ptr;
  const std::string all(&text[0], static_cast<size_t>(end - text));
  const int exponent = std::stoi(all.substr(all.find('e') + 1));
  if (exponent < -4 || exponent >= 16) return all;
  std::string digits;
  for (char c : all.substr(0, all.find('e')))
    if (std::isdigit(c)) digits += c;
  const std::string sign = value < 0 ? "-" : "";
  if (exponent < 0) return sign + "0." + std::string(static_cast<size_t>(-1 - exponent), '0') + digits;
  const size_t whole = static_cast<size_t>(exponent) + 1;
  if (digits.size() <= whole) digits.resize(whole + 1, '0');
  return sign + digits.insert(whole, ".");
}

std::vector<Tensor> format_numbers_reference(const MeaningView&, std::span<const Tensor> in) {
  const Tensor& x = in[0];
  Tensor y(DType::str, x.dims());
  for (int64_t i = 0; i < x.size(); ++i) {
    std::string text;
    switch (x.dtype()) {
      case DType::f32: text = float_text(x.as<float>()[static_cast<size_t>(i)]); break;
      case DType::f64: text = float_text(x.as<double>()[static_cast<size_t>(i)]); break;
      case DType::u64: text = std::to_string(x.as<uint64_t>()[static_cast<size_t>(i)]); break;
      default: text = std::to_string(x.get_int(i));
    }
    y.set_int(i, code_of(text));
  }
  return {y};
}

}  // namespace

Operator declare_format_numbers() {
  return {.name = "FormatNumbers",
          .domain = "cameo",
          .since = {1},
          .inputs = {{"X", kTextNumbers}},
          .infer = [](Infer& n) { n.output(0, DType::str, n.shape()); },
          .meaning = [](const MeaningView& n) -> Meaning { return text_kernel(n, "format_numbers"); },
          .reference = format_numbers_reference};
}

}  // namespace cameo::ops
