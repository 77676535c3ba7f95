// Element types by their ONNX number, and what each is called here and in DLPack. One row a type.
#pragma once

#include "runtime/call.h"
#include "runtime/cameo.h"

namespace rt {

enum DataType : uint32_t {  // TensorProto.DataType
  kUndefined = 0,
  kF32 = 1,
  kU8 = 2,
  kI8 = 3,
  kU16 = 4,
  kI16 = 5,
  kI32 = 6,
  kI64 = 7,
  kString = 8,
  kBool = 9,
  kF16 = 10,
  kF64 = 11,
  kU32 = 12,
  kU64 = 13,
  kC64 = 14,
  kC128 = 15,
  kBf16 = 16,
  kF8E4M3FN = 17,
  kF8E4M3FNUZ = 18,
  kF8E5M2 = 19,
  kF8E5M2FNUZ = 20,
  kU4 = 21,
  kI4 = 22,
  kF4E2M1 = 23,
  kF8E8M0 = 24,
  kU2 = 25,
  kI2 = 26,
};

inline constexpr int64_t kNoIndex =
    INT64_MIN;                           // what a kernel loads at that cannot be computed at the dims it was built for
inline constexpr int32_t kMaxRank = 32;  // the most axes of a tensor: compilers refuse more, and readers of data
inline constexpr int64_t kMaxBytes = int64_t{1} << 40;  // of a tensor: no machine holds more; also of one of its dims

struct TypeInfo {
  char name[11];  // here, as those of other tables: a pointer takes 32 bytes, with what relocates it
  uint8_t code, bits;
};

inline constexpr TypeInfo kTypes[] = {
    {"undefined", 0, 0},   {"f32", 2, 32},  {"u8", 1, 8},        {"i8", 0, 8},          {"u16", 1, 16},
    {"i16", 0, 16},        {"i32", 0, 32},  {"i64", 0, 64},      {"str", 3, 64},        {"bool", 6, 8},
    {"f16", 2, 16},        {"f64", 2, 64},  {"u32", 1, 32},      {"u64", 1, 64},        {"c64", 5, 64},
    {"c128", 5, 128},      {"bf16", 4, 16}, {"f8e4m3fn", 10, 8}, {"f8e4m3fnuz", 11, 8}, {"f8e5m2", 12, 8},
    {"f8e5m2fnuz", 13, 8}, {"u4", 1, 4},    {"i4", 0, 4},        {"f4e2m1", 17, 4},     {"f8e8m0", 14, 8},
    {"u2", 1, 2},          {"i2", 0, 2},
};
inline constexpr uint32_t kTypeCount = sizeof kTypes / sizeof kTypes[0];

inline const TypeInfo& type_info(uint32_t dtype) { return kTypes[dtype < kTypeCount ? dtype : 0]; }
/// Of one element by itself; of strings that of their codes, which kernels see.
inline int64_t element_bytes(uint32_t dtype) { return (type_info(dtype).bits + 7) / 8; }
/// Elements of 4 and 2 bits share bytes, the first one in the lowest bits.
inline bool is_packed(uint32_t dtype) { return type_info(dtype).bits && type_info(dtype).bits < 8; }
/// Of so many elements: less than kMaxBytes are asked for.
inline int64_t bytes_of(uint32_t dtype, int64_t count) {
  return is_packed(dtype) ? (count * type_info(dtype).bits + 7) / 8 : count * element_bytes(dtype);
}
/// Floats of 8 bits and less, whose values are compared like those of integers.
inline bool is_minifloat(uint32_t dtype) { return type_info(dtype).code >= 10; }
inline bool is_complex(uint32_t dtype) { return dtype == kC64 || dtype == kC128; }
/// Of the real and the imaginary part of a complex number, which stand in this order; else the type itself.
inline uint32_t type_of_parts(uint32_t dtype) { return dtype == kC64 ? kF32 : dtype == kC128 ? kF64 : dtype; }
inline int64_t parts_of_one(uint32_t dtype) { return is_complex(dtype) ? 2 : 1; }
/// Or a complex number, which is two.
inline bool is_float(uint32_t dtype) {
  return dtype == kF32 || dtype == kF64 || dtype == kF16 || dtype == kBf16 || is_complex(dtype) || is_minifloat(dtype);
}
inline bool is_number(uint32_t dtype) {
  return is_float(dtype) || dtype == kBool || (type_info(dtype).bits && type_info(dtype).code <= 1);
}
inline cameo_dtype to_dlpack(uint32_t dtype) { return {type_info(dtype).code, type_info(dtype).bits, 1}; }

inline uint32_t from_dlpack(cameo_dtype type) {
  for (uint32_t i = 1; i < kTypeCount; ++i)
    if (kTypes[i].code == type.code && kTypes[i].bits == type.bits && type.lanes == 1 && type.bits) return i;
  return kUndefined;
}

}  // namespace rt
