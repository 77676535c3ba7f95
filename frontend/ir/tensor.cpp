// Tensor storage and element access, and the two 16-bit float formats.
#include "frontend/ir/tensor.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "frontend/ir/minifloat.h"
#include "frontend/ir/string_codes.h"

namespace cameo {

namespace {
/// The low bits of a byte as one element of an integer type, whose sign fills the others; as a float's code.
uint8_t in_a_byte(DType t, uint8_t v) {
  const int rest = 8 - row(t).bits;
  const auto shifted = static_cast<uint8_t>(v << rest);
  return static_cast<uint8_t>(row(t).kind == DKind::Int ? static_cast<int8_t>(shifted) >> rest : shifted >> rest);
}
}  // namespace

float bfloat_to_float(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
uint16_t float_to_bfloat(float value) {
  uint32_t u = std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) return static_cast<uint16_t>(u >> 16 | 0x40);
  return static_cast<uint16_t>((u + 0x7fff + (u >> 16 & 1)) >> 16);
}
float half_to_float(uint16_t bits) {
  int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  float sign = bits >> 15 ? -1.f : 1.f;
  if (exponent == 31)
    return mantissa ? std::bit_cast<float>(0x7fc00000u | bits >> 15 << 31 | mantissa << 13) : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(mantissa), -24);
  return sign * std::ldexp(static_cast<float>(mantissa | 1024), exponent - 25);
}
uint16_t float_to_half(float value) {
  uint32_t u = std::bit_cast<uint32_t>(value);
  auto sign = static_cast<uint16_t>(u >> 16 & 0x8000);
  if (std::isnan(value)) return static_cast<uint16_t>(sign | 0x7e00 | (u >> 13 & 0x1ff));
  float a = std::fabs(value);
  if (a >= 65520.f) return sign | 0x7c00;
  if (a < 0x1p-14f) return sign | static_cast<uint16_t>(std::nearbyint(std::ldexp(a, 24)));
  uint32_t m = (u & 0x7fffffff) - (112u << 23);
  return sign | static_cast<uint16_t>((m + 0xfff + (m >> 13 & 1)) >> 13);
}

std::optional<int64_t> element_count(std::span<const int64_t> dims) {
  int64_t n = 1;
  bool zero = std::find(dims.begin(), dims.end(), 0) != dims.end();
  for (int64_t d : dims) {
    if (d < 0) return std::nullopt;
    if (!zero && __builtin_mul_overflow(n, d, &n)) return std::nullopt;
  }
  return zero ? 0 : n;
}

Tensor::Tensor(DType dtype, std::vector<int64_t> dims) : dtype_(dtype), dims_(std::move(dims)) {
  auto n = element_count(dims_);
  CAMEO_CHECK(n, "dims whose product is an element count");
  size_ = *n;
  size_t bytes = static_cast<size_t>(size_) * byte_size(dtype);
  std::shared_ptr<std::byte> p(static_cast<std::byte*>(std::calloc(std::max<size_t>(bytes, 1), 1)), std::free);
  if (!p) throw std::bad_alloc();
  bytes_ = {p.get(), bytes};
  owner_ = p;
}
Tensor::Tensor(DType dtype, std::vector<int64_t> dims, std::span<const std::byte> bytes,
               std::shared_ptr<const void> owner)
    : dtype_(dtype),
      dims_(std::move(dims)),
      size_(element_count(dims_).value()),
      bytes_(bytes),
      owner_(std::move(owner)) {
  CAMEO_CHECK(bytes.size() == static_cast<size_t>(size_) * byte_size(dtype), "as many bytes as the dims say");
}
Tensor Tensor::of_strings(std::vector<int64_t> dims, std::span<const std::string> values) {
  std::vector<int64_t> codes(values.size());
  std::ranges::transform(values, codes.begin(), code_of);
  return of<int64_t>(DType::str, std::move(dims), codes);
}
std::string_view Tensor::text(int64_t i) const {
  CAMEO_CHECK(dtype_ == DType::str, "a tensor of strings");
  return text_of(get_int(i));
}
std::vector<std::string> Tensor::strings() const {
  std::vector<std::string> texts;
  for (int64_t i = 0; i < size_; ++i) texts.emplace_back(text(i));
  return texts;
}
Tensor Tensor::of_items(std::vector<Tensor> items) {
  Tensor t;
  t.dtype_ = kListInMemory;
  t.items_ = std::make_shared<const std::vector<Tensor>>(std::move(items));
  return t;
}
Tensor Tensor::scalar(DType dtype, double value) {
  Tensor t(dtype, {});
  t.set(0, value);
  return t;
}

std::span<std::byte> Tensor::mutable_bytes() { return {const_cast<std::byte*>(bytes_.data()), bytes_.size()}; }

Tensor unpacked(DType t, std::vector<int64_t> dims, std::span<const std::byte> bytes) {
  Tensor out(t, std::move(dims));
  CAMEO_CHECK(is_packed(t) && bytes.size() == packed_bytes(t, out.size()), "as many packed bytes as the dims say");
  const int per_byte = elements_a_byte(t), bits = row(t).bits;
  std::span<uint8_t> to = out.mutable_as<uint8_t>();
  for (size_t i = 0; i < to.size(); ++i)
    to[i] = in_a_byte(t, static_cast<uint8_t>(bytes[i / per_byte] >> static_cast<int>(i % per_byte) * bits));
  return out;
}

Tensor packed(const Tensor& t) {
  if (!is_packed(t.dtype())) return t;
  const int per_byte = elements_a_byte(t.dtype()), bits = row(t.dtype()).bits, mask = (1 << bits) - 1;
  Tensor out(DType::u8, {static_cast<int64_t>(packed_bytes(t.dtype(), t.size()))});
  const std::span<const uint8_t> from = t.as<uint8_t>();
  const std::span<uint8_t> to = out.mutable_as<uint8_t>();
  for (size_t i = 0; i < from.size(); ++i)
    to[i / per_byte] |= static_cast<uint8_t>((from[i] & mask) << static_cast<int>(i % per_byte) * bits);
  return out;
}

Tensor Tensor::reshaped(std::vector<int64_t> dims) const {
  CAMEO_CHECK(element_count(dims) == size_, "dims of the same element count");
  Tensor t = *this;
  t.dims_ = std::move(dims);
  return t;
}

Tensor Tensor::parts() const {
  Tensor t = *this;
  if (!is_complex(dtype_)) return t;
  t.dtype_ = type_of_parts(dtype_);
  t.dims_.push_back(2);
  t.size_ *= 2;
  return t;
}

int64_t Tensor::get_int(int64_t i) const {
  switch (dtype_) {
    case DType::i64:
    case DType::u64:
    case DType::str: return as<int64_t>()[i];
    case DType::i32: return as<int32_t>()[i];
    case DType::u32: return as<uint32_t>()[i];
    case DType::i16: return as<int16_t>()[i];
    case DType::u16: return as<uint16_t>()[i];
    case DType::i8:
    case DType::i4:
    case DType::i2: return as<int8_t>()[i];
    case DType::u8:
    case DType::b1:
    case DType::u4:
    case DType::u2: return as<uint8_t>()[i];
    default: return static_cast<int64_t>(get(i));
  }
}
double Tensor::get(int64_t i) const {
  switch (dtype_) {
    case DType::f32: return as<float>()[i];
    case DType::f64: return as<double>()[i];
    case DType::f16: return half_to_float(as<uint16_t>()[i]);
    case DType::bf16: return bfloat_to_float(as<uint16_t>()[i]);
    case DType::u64: return static_cast<double>(as<uint64_t>()[i]);
    default:
      if (is_minifloat(dtype_)) return minifloat_value(dtype_, as<uint8_t>()[i]);
      CAMEO_CHECK(is_integer(dtype_) || dtype_ == DType::b1, "an element type with a numeric value");
      return static_cast<double>(get_int(i));
  }
}
void Tensor::set(int64_t i, double v) {
  switch (dtype_) {
    case DType::f32: mutable_as<float>()[i] = static_cast<float>(v); return;
    case DType::f64: mutable_as<double>()[i] = v; return;
    case DType::f16: mutable_as<uint16_t>()[i] = float_to_half(static_cast<float>(v)); return;
    case DType::bf16: mutable_as<uint16_t>()[i] = float_to_bfloat(static_cast<float>(v)); return;
    default:
      if (is_minifloat(dtype_)) return void(mutable_as<uint8_t>()[i] = minifloat_code(dtype_, v));
      set_int(i, static_cast<int64_t>(v));
  }
}
void Tensor::set_int(int64_t i, int64_t v) {
  switch (byte_size(dtype_)) {
    case 8:
      dtype_ == DType::f64 ? void(mutable_as<double>()[i] = static_cast<double>(v))
                           : void(mutable_as<int64_t>()[i] = v);
      return;
    case 4:
      dtype_ == DType::f32 ? void(mutable_as<float>()[i] = static_cast<float>(v))
                           : void(mutable_as<int32_t>()[i] = static_cast<int32_t>(v));
      return;
    case 2:
      if (is_float(dtype_))
        set(i, static_cast<double>(v));
      else
        mutable_as<int16_t>()[i] = static_cast<int16_t>(v);
      return;
    default:
      if (is_float(dtype_)) return set(i, static_cast<double>(v));
      mutable_as<uint8_t>()[i] = dtype_ == DType::b1 ? v != 0 : in_a_byte(dtype_, static_cast<uint8_t>(v));
  }
}

std::optional<std::complex<double>> parse_complex(std::string_view text) {
  const auto number = [](std::string_view part) -> std::optional<double> {
    const std::string s(part);
    char* end;
    const double v = std::strtod(s.c_str(), &end);
    return !s.empty() && *end == 0 ? std::optional(v) : std::nullopt;
  };
  if (!text.ends_with('j')) {
    const auto real = number(text);
    return real ? std::optional<std::complex<double>>(*real) : std::nullopt;
  }
  text.remove_suffix(1);
  size_t sign = 0;  // of the imaginary part, not of an exponent
  for (size_t i = 1; i < text.size(); ++i)
    if ((text[i] == '+' || text[i] == '-') && (text[i - 1] | 32) != 'e') sign = i;
  const auto real = sign ? number(text.substr(0, sign)) : 0., imaginary = number(text.substr(sign));
  return real && imaginary ? std::optional<std::complex<double>>({*real, *imaginary}) : std::nullopt;
}

Tensor spelled(const Tensor& strings) {
  std::string texts;
  std::vector<int64_t> ends;
  for (int64_t i = 0; i < strings.size(); ++i) ends.push_back(std::ssize(texts += strings.text(i)));
  const size_t head = ends.size() * sizeof(int64_t);
  Tensor out(DType::u8, {static_cast<int64_t>(head + texts.size())});
  std::ranges::copy(std::as_bytes(std::span(ends)), out.mutable_bytes().begin());
  std::ranges::copy(std::as_bytes(std::span(texts)), out.mutable_bytes().begin() + std::ssize(ends) * 8);
  return out;
}

std::vector<Tensor> tensors_of(const Tensor& value) {
  if (!value.is_list()) return {value};
  std::vector<Tensor> all;
  for (const Tensor& item : value.items())
    for (Tensor& t : tensors_of(item)) all.push_back(std::move(t));
  return all;
}

bool operator==(const Tensor& a, const Tensor& b) {
  if (a.is_list() || b.is_list()) return a.is_list() && b.is_list() && a.items() == b.items();
  return a.dtype() == b.dtype() && a.dims() == b.dims() && std::ranges::equal(a.bytes(), b.bytes());
}

}  // namespace cameo
