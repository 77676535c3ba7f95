// Code as the compiler packs it, read back by the runtime: of all lengths of literals and matches, and cut short.
#include "runtime/cuda/unpack.h"

#include <gtest/gtest.h>
#include <lz4hc.h>

#include <random>
#include <string>

namespace rt::cuda {
namespace {

std::string packed(const std::string& text) {
  std::string s(static_cast<size_t>(LZ4_compressBound(static_cast<int>(text.size()))), '\0');
  s.resize(static_cast<size_t>(LZ4_compress_HC(text.data(), s.data(), static_cast<int>(text.size()),
                                               static_cast<int>(s.size()), LZ4HC_CLEVEL_MAX)));
  return s;
}

std::string unpacked(const std::string& block, uint64_t bytes, uint64_t room) {
  std::string s(room + 16, '?');
  const uint64_t n = unpack({"ptx", block.data(), block.size(), bytes}, s.data(), room);
  EXPECT_EQ(s.substr(room), std::string(16, '?')) << "written behind its room";
  return s.substr(0, n);
}

/// Runs of noise and of what stood before, each up to `longest`.
std::string text_of(uint32_t seed, size_t longest, size_t pieces) {
  std::mt19937 random(seed);
  std::string s = ".version 7.0\n";
  for (size_t p = 0; p < pieces; ++p) {
    const size_t length = random() % longest + 1, back = random() % s.size() + 1;
    for (size_t i = 0; i < length; ++i) s += p % 2 ? s[s.size() - back] : static_cast<char>(random());
  }
  return s;
}

TEST(Unpack, GivesWhatWasPacked) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    const std::string text = text_of(seed, seed % 3 ? 40 : 2000, seed % 20);
    const std::string block = packed(text);
    ASSERT_EQ(unpacked(block, text.size(), text.size()), text) << seed;
    for (const uint64_t room : {uint64_t{0}, uint64_t{1}, text.size() / 2, text.size() - 1})
      ASSERT_EQ(unpacked(block, text.size(), room), text.substr(0, room)) << seed << " " << room;
  }
}

TEST(Unpack, TakesWhatIsNotPackedAsItIs) {
  EXPECT_EQ(unpacked("abcdef", 0, 6), "abcdef");
  EXPECT_EQ(unpacked("abcdef", 0, 4), "abcd");
  EXPECT_EQ(unpacked("abcdef", 0, 20), "abcdef");
}

}  // namespace
}  // namespace rt::cuda
