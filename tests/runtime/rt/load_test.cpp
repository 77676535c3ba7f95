// Loads and stores by every kind of index and element, and that nothing is read where the condition does not hold: the
// buffers end at a page that faults.
#include "runtime/rt/load.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

namespace rt_test {
namespace {

constexpr int W = 8;

template <class T>
class Guarded {  // `count` elements; the byte after the last, and the one before the page, fault
 public:
  explicit Guarded(size_t count) : count_(count) {
    base_ = static_cast<char*>(mmap(nullptr, 3 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    EXPECT_EQ(mprotect(base_ + kPage, kPage, PROT_READ | PROT_WRITE), 0);
  }
  ~Guarded() { munmap(base_, 3 * kPage); }
  Guarded(const Guarded&) = delete;
  T* data() { return reinterpret_cast<T*>(base_ + 2 * kPage) - count_; }

 private:
  static constexpr size_t kPage = 4096;
  size_t count_;
  char* base_;
};

template <class T>
class LoadStore : public testing::Test {};
using Elements = testing::Types<float, double, int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t,
                                rt::half, rt::bfloat, rt::f8e5m2, rt::f8e4m3fn, bool>;
TYPED_TEST_SUITE(LoadStore, Elements);

template <class T>
auto plain(const T& x) {
  if constexpr (rt::kIsCode<T>) {
    return rt::to_float(x);
  } else {
    return x;
  }
}

TYPED_TEST(LoadStore, EveryIndexForm) {
  using T = TypeParam;
  Guarded<T> buffer(100);
  T* p = buffer.data();
  for (int64_t i = 0; i < 100; ++i) rt::store(p, i, i % 3 == 0 ? 1 : static_cast<int>(i));
  const auto expect = [&](auto v, auto index) {
    for (int i = 0; i < W; ++i) ASSERT_EQ(rt::lane(v, i), plain(p[rt::lane(index, i)])) << i;
  };
  const rt::Lanes<W> l{92};
  EXPECT_EQ(rt::load(p, 99), plain(p[99]));
  EXPECT_EQ(rt::load(p, rt::u8(5)), plain(p[5]));
  expect(rt::load(p, l), l);
  expect(rt::load(p, l - 89), l - 89);
  expect(rt::load(p, 99 - (l - 92) * 14), 99 - (l - 92) * 14);
  const auto general = (l * 7) % 100;
  expect(rt::load(p, general), general);
  expect(rt::load(p, rt::cast<rt::i32>(general)), general);

  Guarded<T> other(100);
  T* q = other.data();
  rt::store(q, l, rt::load(p, l));
  expect(rt::load(q, l), l);
  rt::store(q, (l - 92) * 14, rt::load(p, (l - 92) * 14));
  for (int64_t i = 0; i < 99; i += 14) EXPECT_EQ(rt::load(q, i), plain(p[i]));
  rt::store(q, l, 1);
  for (int64_t i = 92; i < 100; ++i) EXPECT_EQ(rt::cast<int>(rt::load(q, i)), 1);
}

TYPED_TEST(LoadStore, NothingIsReadOutside) {
  using T = TypeParam;
  Guarded<T> buffer(20);
  T* p = buffer.data();
  for (int64_t i = 0; i < 20; ++i) rt::store(p, i, 1);
  const auto outside = rt::cast<rt::detail::value_in<T>>(0);
  for (int64_t base = -10000; base<10000; base += base> - 12 && base < 30 ? 1 : 997) {
    const rt::Lanes<W> l{base};
    const auto inside = rt::logical_and(rt::ge(l, 0), rt::lt(l, 20));
    const auto v = rt::load_or(p, l, inside, outside);
    const auto g = rt::load_or(p, rt::general(l), inside, outside);
    const auto s = rt::load_or(p, l * 3, rt::logical_and(rt::ge(l * 3, 0), rt::lt(l * 3, 20)), outside);
    for (int i = 0; i < W; ++i) {
      const int64_t at = base + i;
      const bool in = at >= 0 && at < 20, in3 = at >= 0 && at * 3 < 20;
      ASSERT_EQ(rt::cast<int>(rt::lane(v, i)), in) << at;
      ASSERT_EQ(rt::cast<int>(rt::lane(g, i)), in) << at;
      ASSERT_EQ(rt::cast<int>(rt::lane(s, i)), in3) << at;
      ASSERT_EQ(rt::cast<int>(rt::load_or(p, at, in, outside)), in) << at;
    }
    ASSERT_EQ(rt::cast<int>(rt::lane(rt::load_or(p, l + 100000, false, outside), 0)), 0);
  }
  // a scalar index under a vector condition
  const auto never = rt::lt(rt::Lanes<W>{5}, 0), some = rt::lt(rt::Lanes<W>{0}, 3);
  EXPECT_EQ(rt::cast<int>(rt::lane(rt::load_or(p, 5000, never, outside), 2)), 0);
  EXPECT_EQ(rt::cast<int>(rt::lane(rt::load_or(p, 19, some, outside), 2)), 1);
  EXPECT_EQ(rt::cast<int>(rt::lane(rt::load_or(p, 19, some, outside), 3)), 0);
}

template <class T, int Lanes = 16>
void expect_lookups() {
  Guarded<T> buffer(256);
  for (int i = 0; i < 256; ++i) rt::store(buffer.data(), i, i * 7 - 900 + i / 5);
  const auto table = rt::byte_table(buffer.data());
  for (int first = 0; first < 256; first += Lanes) {
    rt::vec<rt::u8, Lanes> index{};
    for (int i = 0; i < Lanes; ++i) index[i] = rt::u8((first + i) * 37);
    const auto found = rt::look_up(table, rt::cast<rt::i64>(rt::cast<rt::i32>(index)));
    for (int i = 0; i < Lanes; ++i) {
      ASSERT_EQ(rt::lane(found, i), plain(buffer.data()[index[i]])) << int{index[i]};
      ASSERT_EQ(rt::look_up(table, rt::i64(index[i])), plain(buffer.data()[index[i]]));
    }
  }
  const rt::Lanes<16> last{240};
  EXPECT_EQ(rt::lane(rt::look_up(table, last), 15), plain(buffer.data()[255]));
}
TEST(LookUp, EveryByteOfATable) {
  expect_lookups<uint8_t>();
  expect_lookups<int8_t>();
  expect_lookups<bool>();
  expect_lookups<uint8_t, 32>();
  expect_lookups<int8_t, 32>();
}

TEST(Store, CastsToThePointee) {
  int8_t i8[W];
  rt::store(i8, rt::Lanes<W>{0}, rt::splat<rt::vec<float, W>>(300));
  EXPECT_EQ(i8[5], 127);
  rt::store(i8, 0, 300);
  EXPECT_EQ(i8[0], 44);
  bool b[W];
  rt::store(b, rt::Lanes<W>{0}, rt::lt(rt::Lanes<W>{0}, 3));
  for (int i = 0; i < W; ++i) EXPECT_EQ(b[i], i < 3);
  rt::store(b, rt::Lanes<W>{0}, rt::iota<rt::vec<float, W>>());
  for (int i = 0; i < W; ++i) EXPECT_EQ(b[i], i != 0);
  rt::store(b, 0, 0.5);
  EXPECT_TRUE(b[0]);
  int64_t wide[W];
  rt::store(wide, rt::Lanes<W>{0}, rt::Lanes<W>{40} * 2);
  EXPECT_EQ(wide[3], 86);
  const uint8_t bytes[W] = {0, 1, 2, 255, 0, 128, 0, 0};  // any byte but 0 is true
  const auto m = rt::load(reinterpret_cast<const bool*>(bytes), rt::Lanes<W>{0});
  for (int i = 0; i < W; ++i) EXPECT_EQ(rt::lane(m, i), bytes[i] != 0);
}

}  // namespace
}  // namespace rt_test
