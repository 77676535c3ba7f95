// Nests visit every point once: rows of constant lengths, of lengths that only the run knows, and of such that a number
// divides, by whole vectors, parts of them and elements, in chunks that share rows and pieces of them.
#include "tests/runtime/kernels/nest_cases.h"

#include <utility>

#include "runtime/kernels/nest.h"
#include "tests/runtime/kernels/cases.h"

namespace nest_cases {
namespace {

// Each point adds 1 where it stands.
template <class F>
std::string visits(i64 rows, i64 length, const std::string& what, F run) {
  for (int chunks : {1, 3, 7}) {
    Floats got(rows * length, 0);
    const auto visit = [&](auto at) __attribute__((always_inline)) {
      rt::store(got.data(), at, rt::add(rt::load(got.data(), at), 1.0f));
    };
    in_chunks(chunks, nullptr, [&](const rt::Call& call) { run(call, visit); });
    const std::string text = std::to_string(rows) + " rows of " + std::to_string(length) + what;
    if (auto d = difference(Floats(rows * length, 1), got, text); !d.empty()) return d;
  }
  return "";
}

template <bool WholeRows, class N>
__attribute__((noinline)) std::string row_by_row(i64 rows, N length, const std::string& what) {
  return visits(rows, length, what, [&](const rt::Call& call, auto visit) {
    rt::nest<16, 1, WholeRows>(call, length, rt::extents(rows), [&](i64 row) {
      return [=](auto at) __attribute__((always_inline)) { visit(rt::add(row * i64{length}, at)); };
    });
  });
}
template <class N, class M>
__attribute__((noinline)) std::string by_lanes(M rows, N length) {
  return visits(rows, length, " in lanes", [&](const rt::Call& call, auto visit) {
    rt::nest_of_rows<16, 16>(call, length, rows, rt::extents(), [&](auto row) {
      return [=](auto at) __attribute__((always_inline)) { visit(rt::add(rt::mul(row, i64{length}), at)); };
    });
  });
}

struct First {  // difference
  std::string text;
  void take(const std::string& difference) {
    if (text.empty()) text = difference;
  }
};

template <i64... Length>
std::string constants(std::integer_sequence<i64, Length...>) {
  First first;
  (..., first.take(row_by_row<false>(2, rt::c<Length>, "")));
  (..., first.take(row_by_row<true>(2, rt::c<Length>, ", whole")));
  return first.text;
}

std::string rows() {
  First first{constants(std::integer_sequence<i64, 1, 3, 4, 7, 12, 15, 16, 20, 28, 31, 32, 44, 49, 56, 100>())};
  for (i64 length = 0; length < 70; ++length) first.take(row_by_row<false>(2, length, ", a number"));
  for (i64 times = 0; times < 12; ++times) {
    first.take(row_by_row<false>(2, rt::multiple_of<4>(4 * times), ", a multiple of 4"));
    first.take(row_by_row<false>(2, rt::multiple_of<12>(12 * times), ", a multiple of 12"));
    first.take(row_by_row<false>(2, rt::multiple_of<8>(8 * times), ", a multiple of 8"));
    first.take(row_by_row<false>(2, rt::multiple_of<16>(16 * times), ", a multiple of 16"));
  }
  return first.text;
}
std::string lanes_of_rows() {
  First first;
  first.take(by_lanes(rt::c<16>, rt::c<7>));
  first.take(by_lanes(rt::c<35>, rt::c<20>));
  for (i64 count : {1, 15, 16, 33}) first.take(by_lanes(count, rt::multiple_of<12>(36)));
  for (i64 count : {1, 15, 16, 33}) first.take(by_lanes(count, i64{21}));
  return first.text;
}

}  // namespace

extern const Cases CASES_NAME{CASES_TARGET, runs_here, rows, lanes_of_rows};

}  // namespace nest_cases
