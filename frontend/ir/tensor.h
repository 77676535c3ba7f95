// Tensor: an immutable, shared, compact row-major array of one element type; its bytes are owned or mapped from the
// model. What a run computes may also be a list of such: a sequence, an optional or a map.
#pragma once
#include <complex>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/ir/check.h"
#include "frontend/ir/type.h"

namespace cameo {

/// IEEE binary16 and bfloat16 as stored; conversions round to nearest even.
float half_to_float(uint16_t bits);
uint16_t float_to_half(float value);
float bfloat_to_float(uint16_t bits);
uint16_t float_to_bfloat(float value);

class Tensor {
 public:
  Tensor() = default;
  /// Zeros. 4- and 2-bit types hold one element a byte.
  Tensor(DType dtype, std::vector<int64_t> dims);
  /// Bytes that live elsewhere (a mapped file); `owner` keeps them alive.
  Tensor(DType dtype, std::vector<int64_t> dims, std::span<const std::byte> bytes, std::shared_ptr<const void> owner);
  template <class T>
  static Tensor of(DType dtype, std::vector<int64_t> dims, std::span<const T> values) {
    Tensor t(dtype, std::move(dims));
    CAMEO_CHECK(values.size_bytes() == t.bytes().size(), "as many values as the dims say");
    if (!values.empty()) std::memcpy(t.mutable_bytes().data(), values.data(), values.size_bytes());
    return t;
  }
  static Tensor i64(std::vector<int64_t> dims, std::span<const int64_t> values) {
    return of(DType::i64, std::move(dims), values);
  }
  static Tensor scalar(DType dtype, double value);

  DType dtype() const { return dtype_; }
  const std::vector<int64_t>& dims() const { return dims_; }
  int rank() const { return static_cast<int>(dims_.size()); }
  int64_t size() const { return size_; }  // elements
  std::span<const std::byte> bytes() const { return bytes_; }
  template <class T>
  std::span<const T> as() const {
    CAMEO_CHECK(sizeof(T) == static_cast<size_t>(byte_size(dtype_)), "an element type of the tensor's size");
    return {reinterpret_cast<const T*>(bytes_.data()), static_cast<size_t>(size_)};
  }
  /// Only before the tensor is shared.
  std::span<std::byte> mutable_bytes();
  template <class T>
  std::span<T> mutable_as() {
    return {reinterpret_cast<T*>(mutable_bytes().data()), static_cast<size_t>(size_)};
  }

  double get(int64_t i) const;       // as a double; 64-bit integers lose what a double cannot hold
  int64_t get_int(int64_t i) const;  // of integer and bool tensors (and truncated floats)
  void set(int64_t i, double v);     // rounds floats to the type, saturates nothing: the caller has
  void set_int(int64_t i, int64_t v);
  Tensor reshaped(std::vector<int64_t> dims) const;  // shares the bytes
  /// Of complex numbers, the real and the imaginary parts along a last axis of 2; else itself. Shares the bytes.
  Tensor parts() const;
  /// Of strings, whose elements are codes.
  std::string_view text(int64_t i) const;
  std::vector<std::string> strings() const;
  static Tensor of_strings(std::vector<int64_t> dims, std::span<const std::string> values);
  /// A value that is no tensor: the elements of a sequence, what an optional has, the keys and the values of a map. It
  /// has no elements and no bytes of its own.
  static Tensor of_items(std::vector<Tensor> items);
  bool is_list() const { return items_ != nullptr; }
  const std::vector<Tensor>& items() const { return *items_; }

 private:
  DType dtype_ = DType::undefined;
  std::vector<int64_t> dims_;
  int64_t size_ = 0;
  std::span<const std::byte> bytes_;
  std::shared_ptr<const void> owner_;
  std::shared_ptr<const std::vector<Tensor>> items_;
};
/// The bytes of so many elements where 4- and 2-bit ones are packed, row-major and without gaps between rows.
constexpr size_t packed_bytes(DType t, int64_t count) {
  return static_cast<size_t>(count / 8 * row(t).bits + (count % 8 * row(t).bits + 7) / 8);
}
/// Of a packed type, from such bytes.
Tensor unpacked(DType t, std::vector<int64_t> dims, std::span<const std::byte> bytes);
/// A tensor that has such bytes: of a packed type a list of u8, else itself.
Tensor packed(const Tensor& t);
/// Strings as bytes that say all: where each text ends, as i64, and then the texts.
Tensor spelled(const Tensor& strings);
/// The tensors that a value is made of: of a list those of its items, in order.
std::vector<Tensor> tensors_of(const Tensor& value);
bool operator==(const Tensor& a, const Tensor& b);  // type, dims and bytes, or items
/// `1+2j`, `2j` or `1`, as Python writes complex numbers.
std::optional<std::complex<double>> parse_complex(std::string_view text);
/// The product of dims; nullopt when one is negative or the product overflows.
std::optional<int64_t> element_count(std::span<const int64_t> dims);

using Constant = std::shared_ptr<const Tensor>;

}  // namespace cameo
