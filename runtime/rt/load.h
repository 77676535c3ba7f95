// Reading and writing tensors by index: load, load_or (reads only where a condition holds) and store. The index decides
// the instruction: a scalar one element, Lanes one unaligned vector, Strided and general indices a lane at a time.
// Floats of 16 bits and less arrive as float, bool tensors (a byte an element, 0 or not) as conditions; a store casts
// to the pointee's type.
#pragma once
#include "scalar.h"

namespace rt {
namespace detail {

template <class T>
struct Stored {
  using value = T;
  using memory = T;
};  // the type an element has in arithmetic, and as plain bytes
template <>
struct Stored<half> {
  using value = f32;
  using memory = u16;
};
template <>
struct Stored<bfloat> {
  using value = f32;
  using memory = u16;
};
template <class T>
  requires kIsMinifloat<T>
struct Stored<T> {
  using value = f32;
  using memory = u8;
};
template <>
struct Stored<bool> {
  using value = bool;
  using memory = u8;
};
template <class T>
using value_in = typename Stored<T>::value;
template <class T>
using memory_in = typename Stored<T>::memory;

template <class V>
struct __attribute__((packed, may_alias, aligned(sizeof(element_of<V>)))) Unaligned {
  V value;
};

template <class T, class M>
RT_FN auto decode(M m) {  // M: memory_in<T> or a vector of it
  if constexpr (kIsCode<T>) {
    return from_code<T>(m);
  } else if constexpr (kSame<T, bool>) {
    return condition(m != M{});
  } else {
    return m;
  }
}
template <class T, class X>
RT_FN like<memory_in<T>, X> encode(X x) {
  if constexpr (kIsCode<T>) {
    const auto f = [&]() RT_INLINE {
      if constexpr (kSame<element_of<X>, f32>) {
        return x;
      } else {
        return cast<T>(x);  // its own rounding, exact from there on
      }
    }();
    return to_code<T>(f);
  } else if constexpr (kSame<T, bool>) {
    return cast<u8>(cast<bool>(x));
  } else {
    return cast<T>(x);
  }
}

template <class T>
RT_FN memory_in<T> peek(const T* p, i64 at) {
  if constexpr (kIsCode<T>) {
    return p[at].bits;
  } else {
    return reinterpret_cast<const memory_in<T>*>(p)[at];
  }
}
template <class T>
RT_FN void poke(T* p, i64 at, memory_in<T> m) {
  if constexpr (kIsCode<T>) {
    p[at].bits = m;
  } else {
    reinterpret_cast<memory_in<T>*>(p)[at] = m;
  }
}

template <class T, int W>
RT_FN value_of<value_in<T>, W> load_next(const T* p) {  // W elements from p on
  return decode<T>(reinterpret_cast<const Unaligned<vec<memory_in<T>, W>>*>(p)->value);
}
template <class T, int W, class I>
RT_FN value_of<value_in<T>, W> load_each(const T* p, I index) {
  vec<memory_in<T>, W> m{};
  for (int i = 0; i < W; ++i) m[i] = peek(p, lane(index, i));
  return decode<T>(m);
}
// Lanes outside `where` keep `m`. At the ends of what is read in order, so it stays a loop.
template <class T, int W, class I>
RT_FN vec<memory_in<T>, W> load_some(const T* p, I index, mask<W> where) {
  vec<memory_in<T>, W> m{};
  RT_ROLLED
  for (int i = 0; i < W; ++i) {
    if (where.lanes[i]) m[i] = peek(p, lane(index, i));
  }
  return m;
}

}  // namespace detail

template <class T, class I>
RT_FN auto load(const T* p, I index) {
  constexpr int W = kLanes<I>;
  if constexpr (W == 0) {
    return detail::decode<T>(detail::peek(p, i64(index)));
  } else if constexpr (kIsLanes<I>) {
    return detail::load_next<T, W>(p + index.base);
  } else if constexpr (kIsStrided<I>) {
    return detail::load_each<T, W>(p, index);
  } else {
    const auto first = lane(index, 0);
    if (all(eq(index, first + iota<I>()))) return detail::load_next<T, W>(p + first);
    return detail::load_each<T, W>(p, index);
  }
}

// p[index] where the condition holds, else `outside`; nothing is read there, so the index may be anything.
template <class T, class I, class C, class O>
RT_FN auto load_or(const T* p, I index, C where, O outside) {
  using V = detail::value_in<T>;
  constexpr int W = kLanes<I> ? kLanes<I> : kLanes<C>;
  using R = value_of<V, W>;
  const auto m = condition(where);
  if constexpr (W == 0) {
    return m ? detail::decode<T>(detail::peek(p, i64(index))) : widen<R>(outside);
  } else if constexpr (kLanes<C> == 0) {
    return m ? widen<R>(load(p, index)) : widen<R>(outside);
  } else if constexpr (kLanes<I> == 0) {
    return any(m) ? select(m, widen<R>(load(p, index)), widen<R>(outside)) : widen<R>(outside);
  } else {
    if (all(m)) return load(p, index);
    if (!any(m)) return widen<R>(outside);
    if constexpr (kIsIndex<I>) {
      return select(m, detail::decode<T>(detail::load_some<T, W>(p, index, m)), widen<R>(outside));
    } else {  // of data; where a lane reads something, there is a first element for those that read nothing
      const auto inside = select(m, index, I{});
      return select(m, detail::load_each<T, W>(p, inside), widen<R>(outside));
    }
  }
}

#if defined(__clang__) && defined(__AVX512BW__)
namespace detail {

// The first lanes of twice and of four times as many.
template <class T>
RT_FN vec<T, 32> twice(vec<T, 16> x) {
  return __builtin_shufflevector(x, x, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, -1, -1, -1, -1, -1, -1, -1,
                                 -1, -1, -1, -1, -1, -1, -1, -1, -1);
}
template <class T>
RT_FN vec<T, 16> half_of(vec<T, 32> x) {
  return __builtin_shufflevector(x, x, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}

}  // namespace detail
#endif

// A table of 256 bytes as it is looked up in: where a register of 64 bytes is permuted by its bytes, four hold it,
// where by its words, eight. One is made before a kernel's loops.
template <class T>
struct ByteTable {
  static_assert(sizeof(T) == 1);
  const T* elements;
#if defined(__clang__) && defined(__AVX512VBMI__)
  typedef char Part __attribute__((vector_size(64)));
  Part parts[4];
  RT_FN explicit ByteTable(const T* table) : elements(table) {
    for (int i = 0; i < 4; ++i) parts[i] = (Part)detail::load_next<u8, 64>(reinterpret_cast<const u8*>(table) + 64 * i);
  }
  RT_FN vec<u8, 32> at(vec<u8, 32> index) const {
    const auto bytes = (vec<u8, 64>)__builtin_shufflevector(
        index, index, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26,
        27, 28, 29, 30, 31, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
        -1, -1, -1, -1, -1, -1, -1, -1, -1);
    const auto of_128 = [&](int part) RT_INLINE {
      return (vec<u8, 64>)__builtin_ia32_vpermi2varqi512(parts[part], (Part)bytes, parts[part + 1]);
    };
    const vec<u8, 64> low = of_128(0), high = of_128(2), found = bytes & 128 ? high : low;
    return __builtin_shufflevector(found, found, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19,
                                   20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31);
  }
#elif defined(__clang__) && defined(__AVX512BW__)
  typedef vec<i16, 32> Part;
  Part parts[8];
  RT_FN explicit ByteTable(const T* table) : elements(table) {
    for (int i = 0; i < 8; ++i)
      parts[i] = (Part)convert<u16>(detail::load_next<u8, 32>(reinterpret_cast<const u8*>(table) + 32 * i));
  }
  RT_FN vec<u8, 32> at(vec<u8, 32> index) const {
    using Words = vec<u16, 32>;
    const Words words = convert<u16>(index);
    const auto of_64 = [&](int part) RT_INLINE {
      return (Words)__builtin_ia32_vpermi2varhi512(parts[part], (Part)words, parts[part + 1]);
    };
    Part sign = (Part)(words << 9);  // a test of the bit itself takes 64 bytes from memory, in each kernel its own
    asm("" : "+v"(sign));
    const auto has_64 = sign < 0;
    const Words low = has_64 ? of_64(2) : of_64(0), high = has_64 ? of_64(6) : of_64(4);
    return convert<u8>(Words(words & 128 ? high : low));
  }
#else
  RT_FN explicit ByteTable(const T* table) : elements(table) {}
#endif
};
template <class T>
RT_FN ByteTable<T> byte_table(const T* table) {
  return ByteTable<T>(table);
}

// The table's elements, each index from 0 to 255.
template <class T, class I>
RT_FN auto look_up(const ByteTable<T>& table, I index) {
#if defined(__clang__) && defined(__AVX512BW__)
  constexpr int W = kLanes<I>;
  if constexpr ((W == 16 || W == 32) && !kIsIndex<I>) {
    const vec<u8, W> at = convert<u8>(index);
    vec<u8, W> bytes;
    if constexpr (W == 16) {
      bytes = detail::half_of<u8>(table.at(detail::twice<u8>(at)));
    } else {
      bytes = table.at(at);
    }
    return detail::decode<T>(bits<vec<detail::memory_in<T>, W>>(bytes));
  }
#endif
  return load(table.elements, index);
}

// p[index] = value, cast to T; of equal indices in one vector the last lane's stays.
template <class T, class I, class X>
RT_FN void store(T* p, I index, X value) {
  constexpr int W = kLanes<I>;
  if constexpr (W == 0) {
    static_assert(kLanes<X> == 0, "a vector stored at a scalar index");
    detail::poke(p, i64(index), detail::encode<T>(value));
  } else {
    const auto m = widen<vec<detail::memory_in<T>, W>>(detail::encode<T>(value));
    if constexpr (kIsLanes<I>) {
      reinterpret_cast<detail::Unaligned<bare<decltype(m)>>*>(p + index.base)->value = m;
    } else {
      RT_UNROLLED
      for (int i = 0; i < W; ++i) detail::poke(p, lane(index, i), m[i]);
    }
  }
}

namespace detail {

// A whole vector to where it is aligned, past the caches: the line is not read first, and takes no place in them.
template <class T, class V>
RT_FN void stream(T* p, V value) {
#if defined(__clang__)
  __builtin_nontemporal_store(value, reinterpret_cast<V*>(p));
#else
  *reinterpret_cast<V*>(p) = value;
#endif
}
// Other threads see what was streamed so far before anything that comes after.
RT_FN void end_streams() {
#if defined(__SSE__)
  __builtin_ia32_sfence();
#endif
}

}  // namespace detail

}  // namespace rt
