// Element types. One row of kDTypes a type: everything else about a type is asked of its row.
#pragma once
#include <cstdint>
#include <string_view>

namespace cameo {

enum class DType : uint8_t {
  undefined,
  f32,
  u8,
  i8,
  u16,
  i16,
  i32,
  i64,
  str,
  b1,
  f16,
  f64,
  u32,
  u64,
  c64,
  c128,
  bf16,
  f8e4m3fn,
  f8e4m3fnuz,
  f8e5m2,
  f8e5m2fnuz,
  u4,
  i4,
  f4e2m1,
  f8e8m0,
  u2,
  i2,
};  // in the order, and with the numbers, of onnx.TensorProto.DataType

enum class DKind : uint8_t { None, Float, Int, UInt, Bool, Complex, String };

struct DTypeRow {
  std::string_view name;  // ours, and of the input grammar: f32
  std::string_view onnx;  // as models and their authors write it: float
  DKind kind;
  uint8_t bits;
};
// Kernels compute with floats of 16 bits and less through f32, with integers of less than 8 by casts; of strings, which
// are codes of 64 bits (frontend/ir/string_codes.h), they move and compare those; of complex numbers they see the parts
// (frontend/ir/by_parts.h).

inline constexpr DTypeRow kDTypes[] = {
    {"undefined", "undefined", DKind::None, 0},
    {"f32", "float", DKind::Float, 32},
    {"u8", "uint8", DKind::UInt, 8},
    {"i8", "int8", DKind::Int, 8},
    {"u16", "uint16", DKind::UInt, 16},
    {"i16", "int16", DKind::Int, 16},
    {"i32", "int32", DKind::Int, 32},
    {"i64", "int64", DKind::Int, 64},
    {"str", "string", DKind::String, 64},
    {"b1", "bool", DKind::Bool, 8},
    {"f16", "float16", DKind::Float, 16},
    {"f64", "double", DKind::Float, 64},
    {"u32", "uint32", DKind::UInt, 32},
    {"u64", "uint64", DKind::UInt, 64},
    {"c64", "complex64", DKind::Complex, 64},
    {"c128", "complex128", DKind::Complex, 128},
    {"bf16", "bfloat16", DKind::Float, 16},
    {"f8e4m3fn", "float8e4m3fn", DKind::Float, 8},
    {"f8e4m3fnuz", "float8e4m3fnuz", DKind::Float, 8},
    {"f8e5m2", "float8e5m2", DKind::Float, 8},
    {"f8e5m2fnuz", "float8e5m2fnuz", DKind::Float, 8},
    {"u4", "uint4", DKind::UInt, 4},
    {"i4", "int4", DKind::Int, 4},
    {"f4e2m1", "float4e2m1", DKind::Float, 4},
    {"f8e8m0", "float8e8m0", DKind::Float, 8},
    {"u2", "uint2", DKind::UInt, 2},
    {"i2", "int2", DKind::Int, 2},
};
inline constexpr int kDTypeCount = sizeof kDTypes / sizeof *kDTypes;

constexpr const DTypeRow& row(DType t) { return kDTypes[static_cast<int>(t)]; }
constexpr std::string_view name(DType t) { return row(t).name; }
constexpr bool is_float(DType t) { return row(t).kind == DKind::Float; }
constexpr bool is_half(DType t) { return t == DType::f16 || t == DType::bf16; }
constexpr bool is_signed(DType t) { return row(t).kind == DKind::Int || is_float(t); }
constexpr bool is_integer(DType t) { return row(t).kind == DKind::Int || row(t).kind == DKind::UInt; }
constexpr bool is_complex(DType t) { return row(t).kind == DKind::Complex; }
/// Of the real and the imaginary part of a complex number, which stand in this order; else the type itself.
constexpr DType type_of_parts(DType t) { return t == DType::c64 ? DType::f32 : t == DType::c128 ? DType::f64 : t; }
/// Bytes of one element in a tensor and in a kernel's memory, where one of 4 or 2 bits has a byte of its own; 0 for
/// types without a fixed size.
constexpr int byte_size(DType t) { return (row(t).bits + 7) / 8; }
constexpr bool is_8_bits(DType t) { return t == DType::i8 || t == DType::u8; }
/// Several elements share a byte in models, in files, in weights and in what callers give and get: the first one its
/// lowest bits.
constexpr bool is_packed(DType t) { return row(t).bits > 0 && row(t).bits < 8; }
constexpr int elements_a_byte(DType t) { return 8 / row(t).bits; }
/// Floats of so few values that each is a code: casts to them jump, and nothing else is computed in them.
constexpr bool is_minifloat(DType t) { return is_float(t) && row(t).bits <= 8; }

/// A set of element types, for signatures.
class DTypes {
 public:
  constexpr DTypes() = default;
  template <class... T>
  constexpr explicit DTypes(T... t) : bits_(((1u << static_cast<int>(t)) | ...)) {}
  constexpr bool contains(DType t) const { return bits_ >> static_cast<int>(t) & 1; }
  constexpr DTypes operator|(DTypes o) const { return from_bits(bits_ | o.bits_); }
  constexpr DTypes operator-(DTypes o) const { return from_bits(bits_ & ~o.bits_); }
  static constexpr DTypes from_bits(uint32_t b) {
    DTypes s;
    s.bits_ = b;
    return s;
  }

 private:
  uint32_t bits_ = 0;
};

inline constexpr DTypes kFloats{DType::f16, DType::bf16, DType::f32, DType::f64};
inline constexpr DTypes kSignedInts{DType::i8, DType::i16, DType::i32, DType::i64};
inline constexpr DTypes kUnsignedInts{DType::u8, DType::u16, DType::u32, DType::u64};
inline constexpr DTypes kIntegers = kSignedInts | kUnsignedInts;
inline constexpr DTypes kBool{DType::b1};
inline constexpr DTypes kSigned = kFloats | kSignedInts;
inline constexpr DTypes kNumbers = kFloats | kIntegers;
inline constexpr DTypes kTensors = DTypes::from_bits(~1u);  // every type that a tensor may have
inline constexpr DTypes kComplex{DType::c64, DType::c128};
inline constexpr DTypes kAllButComplex = kTensors - kComplex;
inline constexpr DTypes kStrings{DType::str};
inline constexpr DTypes kIndices{DType::i32, DType::i64};
inline constexpr DTypes kInt64{DType::i64};

/// How a sequence, an optional or a map stands in memory: as one number, which says where its items are.
inline constexpr DType kListInMemory = DType::u64;
/// What the keys of a map may be.
inline constexpr DTypes kMapKeys{DType::i64, DType::str};

}  // namespace cameo
