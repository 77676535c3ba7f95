// Numbers in and out, JSON, orders and distances.
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>

#include "tests/runtime/program/fixture.h"

namespace rt::program {
namespace {

double parsed(const std::string& text) {
  double value = -12345;
  return parse_number(slice_of(text), &value) ? value : -12345;
}

TEST(Text, NumbersAreReadAsTheCompilerReadsThem) {
  for (const char* text :
       {"0", "-0.0", "1", "3.25", "1e10", "1e22", "1e23", "0.1", "123456789012345678", "1.7976931348623157e308",
        "2.2250738585072014e-308", "6.02214076e23", ".5", "5.", "1E-5", "+7", "9007199254740993"})
    EXPECT_EQ(parsed(text), std::strtod(text, nullptr)) << text;
  EXPECT_TRUE(std::isinf(parsed("inf")));
  EXPECT_LT(parsed("-Infinity"), 0);
  EXPECT_TRUE(std::isnan(parsed("nan")));
  EXPECT_TRUE(std::isinf(parsed("1e400")));
  EXPECT_EQ(parsed("1e-400"), 0);
  for (const char* text : {"", ".", "e5", "1e", "1x", "--1", "1.2.3", "0x10", "1e5.0"})
    EXPECT_EQ(parsed(text), -12345) << text;
}

TEST(Text, WhatIsPrintedComesBack) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20000; ++i) {
    const double scale = std::pow(10.0, static_cast<int>(random() % 60) - 30);
    const double value = (static_cast<double>(random() >> 11) * 0x1p-53 - 0.5) * scale;
    char text[40];
    std::snprintf(text, sizeof text, "%.17g", value);
    ASSERT_EQ(parsed(text), value) << text;
    std::snprintf(text, sizeof text, "%.9g", static_cast<float>(value));
    ASSERT_EQ(static_cast<float>(parsed(text)), static_cast<float>(value)) << text;
  }
}

TEST(Text, Integers) {
  int64_t value = 0;
  EXPECT_TRUE(parse_integer("-9223372036854775808", &value));
  EXPECT_EQ(value, std::numeric_limits<int64_t>::min());
  for (const char* text : {"9223372036854775808", "-9223372036854775809", "", "-", "1.0", "99999999999999999999"})
    EXPECT_FALSE(parse_integer(text, &value)) << text;
}

TEST(Text, WhatReachesATerminalIsPrintable) {
  Arena arena;
  Text text(arena);
  text.plain(Slice("a\x1b[31m\n\x7f\xc3\xa9\xc2\x9b\xff\xe2\x82\xac\xe2\x82", 18));
  EXPECT_EQ(string_of(text.slice()), "a\\x1b[31m\\x0a\\x7f\xc3\xa9\\xc2\\x9b\\xff\xe2\x82\xac\\xe2\\x82");
  EXPECT_STREQ(Quoted("\x1b[5mY").text, "`\\x1b[5mY`");
  const Quoted cut(std::string(119, 'x').append("\xc3\xa9yz").c_str());
  EXPECT_STREQ(cut.text, ("`" + std::string(119, 'x') + "...`").c_str()) << "whole characters";
  Tool tool;
  tool.fail(kUsage, "`%s`", "\x1b]0;title\a");
  EXPECT_STREQ(tool.message, "`\\x1b]0;title\\x07`");
}

TEST(Text, JsonIsAlwaysJson) {
  Arena arena;
  Text text(arena);
  text.json(Slice("a\"b\\c\n\x01\xc3\xa9\xff\xe0\x80z", 13));
  EXPECT_EQ(string_of(text.slice()), R"("a\"b\\c\u000a\u0001)"
                                     "\xc3\xa9"
                                     R"(\ufffd\ufffd\ufffdz")");
  text.clear();
  text.json(0.1);
  text.add(' ');
  text.json(std::nan(""));
  EXPECT_EQ(string_of(text.slice()), "0.10000000000000001 null");
}

TEST(Text, OrderAndDistance) {
  EXPECT_LT(natural_order("x_2.pb", "x_10.pb"), 0);
  EXPECT_GT(natural_order("x_10", "x_9"), 0);
  EXPECT_EQ(natural_order("a1", "a1"), 0);
  EXPECT_LT(natural_order("a", "a1"), 0);
  EXPECT_EQ(distance("rnu", "run"), 1);
  EXPECT_EQ(distance("", "abc"), 3);
  EXPECT_EQ(distance("abc", "abc"), 0);
  EXPECT_EQ(distance("runs", "taps"), 3);
  EXPECT_EQ(distance("thread", "threads"), 1);
  EXPECT_EQ(distance("aiueo", "iaeuo"), 2);
}

TEST(Text, AThirdOfAWordMayBeWrong) {
  const auto near = [](const char* word, const char* name) { return Nearest(word).takes(name); };
  for (auto [word, name] : {std::pair("rnu", "run"),
                            {"--thread", "--threads"},
                            {"--dmi", "--dim"},
                            {"iamge", "image"},
                            {"--otuptus", "--outputs"},
                            {"biuld", "build"},
                            {"-ii", "-i"}})
    EXPECT_TRUE(near(word, name)) << word;
  for (auto [word, name] : {std::pair("--runs", "--taps"),
                            {"--run", "--dim"},
                            {"-x", "-i"},
                            {"x", "y"},
                            {"", "run"},
                            {"--zzzzzz", "--json"},
                            {"rand", "run"},
                            {"text", "test_data"}})
    EXPECT_FALSE(near(word, name)) << word;
  Nearest nearest("--output");
  EXPECT_TRUE(nearest.takes("--outputs"));
  EXPECT_FALSE(nearest.takes("--inputs")) << "not as near as the one before";
  EXPECT_TRUE(nearest.takes("--output"));
}

TEST(Numbers, HalfsAreExactAndRoundToEven) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const uint16_t half = static_cast<uint16_t>(bits);
    const float value = half_to_float(half);
    const uint16_t back = float_to_half(value);
    ASSERT_TRUE(value == value ? back == half : std::isnan(half_to_float(back))) << bits;
    const float wide = bfloat_to_float(half);
    ASSERT_TRUE(wide != wide || !(bits & 0x7f80) || float_to_bfloat(wide) == half) << bits;
  }
  EXPECT_EQ(half_to_float(float_to_half(1 + 0x1p-11)), 1.0f);
  EXPECT_EQ(half_to_float(float_to_half(1 + 3 * 0x1p-11)), 1 + 0x1p-9f);
  EXPECT_EQ(float_to_half(65519.99), 0x7bff);
  EXPECT_EQ(float_to_half(65520), 0x7c00);
  EXPECT_EQ(float_to_half(0x1p-25), 0);
  EXPECT_EQ(float_to_half(0x1.8p-25), 1);
  EXPECT_EQ(float_to_half(-1e9), 0xfc00);
}

TEST(Numbers, IntegersClamp) {
  int8_t small = 0;
  set_number(kI8, &small, 0, 1000);
  EXPECT_EQ(small, 127);
  set_number(kI8, &small, 0, -1000);
  EXPECT_EQ(small, -128);
  uint64_t wide = 1;
  set_number(kU64, &wide, 0, 1e30);
  EXPECT_EQ(wide, ~uint64_t{0});
  int64_t large = 0;
  set_number(kI64, &large, 0, -1e30);
  EXPECT_EQ(large, std::numeric_limits<int64_t>::min());
  set_number(kI64, &large, 0, std::nan(""));
  EXPECT_EQ(large, 0);
}

}  // namespace
}  // namespace rt::program
