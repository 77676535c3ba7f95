// Transposes of all element types, and of shapes that leave parts of tiles at the right and below. What is written has
// one column more than what is read, so that an element stored in a wrong place shows; each is stored on top of what is
// there, so that one stored twice or never does too.
#include "tests/runtime/kernels/transpose_cases.h"

#include "runtime/kernels/transpose.h"
#include "tests/runtime/kernels/cases.h"

namespace transpose_cases {
namespace {

template <class T>
T element(i64 at) {
  return static_cast<T>(at * 37 % 113);
}
template <>
bool element<bool>(i64 at) {
  return at * 37 % 113 % 3 == 0;
}

// [batch][cols][rows] to [batch][rows][cols].
template <class T, class M, class N>
__attribute__((noinline)) std::string check(i64 batch, M m, N n) {
  using Sum = std::conditional_t<std::is_same_v<T, bool>, rt::i8, T>;
  const i64 rows = m, cols = n, pitch = cols + 1;
  std::vector<rt::u8> bytes(batch * rows * cols * sizeof(T));
  T* const filled = reinterpret_cast<T*>(bytes.data());
  for (i64 i = 0; i < batch * rows * cols; ++i) filled[i] = element<T>(i);
  const Guarded<rt::u8> guarded(bytes);
  const T* const x = reinterpret_cast<const T*>(guarded.data());
  for (int chunks : {1, 3}) {
    std::vector<Sum> got(batch * rows * pitch, Sum{5});
    in_chunks(chunks, nullptr, [&](const rt::Call& call) {
      rt::transpose<sizeof(T) == 8 ? 8 : 16>(
          call, rt::extents(batch), m, n,
          [&](i64 i0, auto row, auto col)
              __attribute__((always_inline)) { return rt::load(x, rt::add((i0 * cols + col) * rows, row)); },
          [&](auto acc, i64 i0, i64 row, auto col) __attribute__((always_inline)) {
            const auto at = rt::add((i0 * rows + row) * pitch, col);
            rt::store(got.data(), at, rt::add(rt::load(got.data(), at), rt::cast<Sum>(acc)));
          });
    });
    for (i64 i = 0; i < batch * rows * pitch; ++i) {
      const i64 b = i / pitch / rows, row = i / pitch % rows, col = i % pitch;
      const Sum want = Sum(5 + (col < cols ? Sum(element<T>((b * cols + col) * rows + row)) : Sum{}));
      if (got[i] != want)
        return std::to_string(sizeof(T)) + " bytes, " + std::to_string(rows) + " x " + std::to_string(cols) + ", row " +
               std::to_string(row) + ", column " + std::to_string(col);
    }
  }
  return "";
}

std::string types() {
  return first_of({check<float>(2, i64{37}, i64{45}), check<double>(2, i64{37}, i64{45}),
                   check<rt::u8>(2, i64{37}, i64{45}), check<rt::i16>(2, i64{37}, i64{45}),
                   check<rt::i32>(2, i64{37}, i64{45}), check<i64>(2, i64{37}, i64{45}),
                   check<bool>(2, i64{37}, i64{45})});
}
std::string shapes() {  // whole tiles, parts of them, and more than a block of rows and of columns
  return first_of({check<float>(1, rt::c<16>, rt::c<32>), check<float>(3, rt::c<24>, rt::c<44>),
                   check<float>(1, rt::c<8>, rt::c<9>), check<float>(2, rt::c<1>, rt::c<3>),
                   check<float>(1, rt::c<131>, rt::c<517>), check<float>(1, i64{64}, i64{300}),
                   check<float>(2, i64{0}, i64{16})});
}

}  // namespace

extern const Cases CASES_NAME{CASES_TARGET, runs_here, types, shapes};

}  // namespace transpose_cases
