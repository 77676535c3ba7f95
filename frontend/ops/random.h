// Random numbers, the same on every target and in every run: the n-th number is a function of n and a key (Widynski,
// Squares: A Fast Counter-Based RNG, 2022), and elements are numbered row-major. The key comes from the attribute
// `seed`; nodes without one have a `stream` each, a number that the importer gives.
#pragma once
#include <bit>

#include "frontend/ops/flat.h"
#include "frontend/ops/operands.h"

namespace cameo::ops {

/// Of a seed: bits without a pattern, and odd.
inline uint64_t random_key(const NodeView& n) {
  uint64_t x =
      n.has_attr("seed") ? std::bit_cast<uint64_t>(n.attr_float("seed")) : static_cast<uint64_t>(n.attr_int("stream"));
  x += 0x9E3779B97F4A7C15u;  // splitmix64
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
  x = (x ^ x >> 27) * 0x94D049BB133111EBu;
  return (x ^ x >> 31) | 1;
}

/// 64 random bits, u64.
inline Expr random_bits(uint64_t key, Expr number) {
  const auto u64 = [](uint64_t v) { return integer(static_cast<int64_t>(v), DType::u64); };
  const auto turned = [&](Expr v) {
    return apply(Op::BitOr, {apply(Op::Shr, {v, u64(32)}), apply(Op::Shl, {v, u64(32)})});
  };
  const Expr y = cast(number, DType::u64) * u64(key), z = y + u64(key);
  Expr x = turned(y * y + y);
  x = turned(x * x + z);
  x = turned(x * x + y);
  const Expr t = x * x + z;
  x = turned(t);
  return apply(Op::BitXor, {t, apply(Op::Shr, {x * x + y, u64(32)})});
}

/// The number of that number in [0, 1): of 24 bits in f32, of 53 in f64.
inline Expr random_unit(uint64_t key, Expr number, DType t) {
  const int digits = t == DType::f64 ? 53 : 24;
  const Expr bits = apply(Op::Shr, {random_bits(key, number), integer(64 - digits, DType::u64)});
  return cast(cast(bits, DType::i64), t) * (t == DType::f64 ? 0x1p-53 : 0x1p-24);
}

/// A normal one, of two.
inline Expr random_normal(uint64_t key, Expr number, DType t) {
  constexpr double kTurn = 6.283185307179586;
  const Expr first = random_unit(key, number * integer(2), t),
             second = random_unit(key, number * integer(2) + integer(1), t);
  return sqrt(log(1 - first) * -2) * cos(second * kTurn);
}

/// A type by the attribute `dtype`, else the given one.
inline DType random_type(const NodeView& n, DType otherwise, DTypes types = kFloats) {
  const int64_t t = n.has_attr("dtype") ? n.attr_int("dtype") : static_cast<int64_t>(otherwise);
  if (t <= 0 || t >= kDTypeCount || !types.contains(static_cast<DType>(t)))
    n.fail(Code::E0204, "`dtype` is " + std::to_string(t) + ", which is no type that `" +
                            std::string(n.node().op->name) + "` gives");
  return static_cast<DType>(t);
}

/// RandomNormal and RandomUniform: the shape is an attribute.
inline void infer_random(Infer& n) {
  Shape shape;
  for (int64_t d : n.attr_ints("shape")) {
    if (d < 0 || d > kMaxExtent) n.fail(Code::E0304, "a dim of " + std::to_string(d) + " in `shape`");
    shape.push_back(d);
  }
  n.output(0, random_type(n, DType::f32), shape);
}
/// RandomNormalLike and RandomUniformLike: it is the input's, and so is the type.
inline void infer_random_like(Infer& n) { n.output(0, random_type(n, n.dtype()), n.shape()); }

/// Each element a function of a number of its own.
template <class F>
Meaning random_meaning(const MeaningView& n, F of_number) {
  const std::vector<Expr> index = n.index();
  const DType t = accumulator(n.out_dtype());
  return Compute{{{index, cast(of_number(random_key(n), flatten(index, n.out_shape()), t), n.out_dtype())}}};
}
inline Meaning uniform_meaning(const MeaningView& n) {
  const double low = n.attr_float("low"), high = n.attr_float("high");
  return random_meaning(n, [=](uint64_t key, Expr i, DType t) { return random_unit(key, i, t) * (high - low) + low; });
}
inline Meaning normal_meaning(const MeaningView& n) {
  const double mean = n.attr_float("mean"), scale = n.attr_float("scale");
  return random_meaning(n, [=](uint64_t key, Expr i, DType t) { return random_normal(key, i, t) * scale + mean; });
}

inline std::vector<AttrSpec> random_attributes(std::vector<AttrSpec> own) {
  own.insert(own.end(), {{"dtype", AttrKind::Int}, {"seed", AttrKind::Float}, {"stream", 0}});
  return own;
}

}  // namespace cameo::ops
