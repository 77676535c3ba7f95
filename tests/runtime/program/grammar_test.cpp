// The input and output grammars, and what is said when something does not fit.
#include "tests/runtime/program/fixture.h"

namespace rt::program {
namespace {

using Grammar = ProgramTest<programs::kTypes>;
using testing::internal::CaptureStderr;

std::vector<double> v(std::initializer_list<double> values) { return values; }

TEST_F(Grammar, NamesMayHoldEqualsAndColons) {
  EXPECT_EQ(numbers(input("a=b:c=[[7],[8]]", 1)), v({7, 8})) << tool.message;
  EXPECT_EQ(numbers(input("1=[[7],[8]]", 1)), v({7, 8}));
  EXPECT_EQ(numbers(input("a=2.5", 5)), v({2.5}));
  EXPECT_EQ(refusal("8=zeros"), "there is no input 8; the model has 8, counted from 0");
  EXPECT_NE(refusal("imgae=zeros").find("there is no input `imgae`; did you mean `image`?"), std::string::npos);
}

std::string fmt_of(const std::vector<double>& numbers) {
  std::string text;
  for (double number : numbers) {
    char word[32];
    std::snprintf(word, sizeof word, "%s%g", text.empty() ? "" : " ", number);
    text += word;
  }
  return text;
}

TEST_F(Grammar, ComplexNumbersAreWrittenAsPythonDoes) {
  const int64_t dims[] = {2};
  const Io io = {.name = "z", .dtype = kC128, .rank = 1, .dims = dims};
  const auto parts = [&](const char* text) {
    Array array;
    std::vector<double> numbers;
    if (!read_literal(tool, io, text, &array)) return std::string(tool.message);
    for (int64_t i = 0; i < array.numbers(); ++i) numbers.push_back(number_at(kC128, array.data, i));
    return fmt_of(numbers);
  };
  EXPECT_EQ(parts("[1+2j, -3]"), "1 2 -3 0");
  EXPECT_EQ(parts("[2.5j,-4j]"), "0 2.5 0 -4");
  EXPECT_EQ(parts("[1e-3-2E+2j,1e5j]"), "0.001 -200 0 100000");
  EXPECT_EQ(parts("[inf+nanj,-0-infj]"), "inf nan -0 -inf");
  for (const char* bad : {"[1+j,1]", "[j,1]", "[1+2,1]", "[1j+2,1]", "[1+2i,1]", "[1 + 2j,1]", "[,1]"})
    EXPECT_NE(parts(bad).find("is not a list of c128 values"), std::string::npos) << bad;
}

TEST_F(Grammar, Literals) {
  EXPECT_EQ(numbers(input("halfs=3xf16=[1, -2.5, 1e4]", 2)), v({1, -2.5, 1e4}));
  EXPECT_EQ(numbers(input("flags=[true,false]", 3)), v({1, 0}));
  EXPECT_EQ(numbers(input("flags=[0,1]", 3)), v({0, 1}));
  EXPECT_EQ(numbers(input("a=f32=-3", 5)), v({-3}));
  EXPECT_EQ(numbers(input("gray=[1,2,3,4]", 6)), v({1, 2, 3, 4})) << "flat, in row-major order";
  EXPECT_EQ(numbers(input("a=b:c=2x1xi64=[[9007199254740993],[-1]]", 1)).size(), 2u);
  EXPECT_EQ(integer_at(kI64, input("a=b:c=[[9007199254740993],[-1]]", 1).data, 0), 9007199254740993);
  EXPECT_EQ(refusal("gray=[[1,2],[3]]"), "`gray`: `[[1,2],[3]]` is not a list of f32 values, near byte 10");
  for (const char* bad : {"gray=[1,[2]]", "gray=[[1],2]", "gray=[1,2", "gray=[1,,2]", "gray=[1,2]]", "a=b:c=[1.5,2]",
                          "gray=[]x", "bytes=[300]", "gray=[true,maybe]"})
    EXPECT_NE(refusal(bad).find("is not a list of"), std::string::npos) << bad << ": " << tool.message;
  EXPECT_EQ(refusal("gray=[1,2,3]"), "`gray`: the model takes f32[2,2], the list is f32[3]");
  EXPECT_NE(refusal("gray=4xf32=[1,2,3,4]").find("the model takes f32[2,2]"), std::string::npos);
  EXPECT_NE(refusal("gray=2x2xf64=[1,2,3,4]").find("holds f64[2,2]"), std::string::npos);
  EXPECT_EQ(refusal("gray=2x2xf33=[1,2,3,4]"), "`2x2xf33` is not a type like `2x2xf32`");
}

TEST_F(Grammar, IntegersOfEachType) {
  const auto read = [&](uint32_t dtype, const char* text) {
    const Io io = {.name = "x", .dtype = dtype, .rank = 0};
    Tool fresh;
    Array array;
    fresh.program = tool.program;
    return read_literal(fresh, io, text, &array) ? std::to_string(integer_at(dtype, array.data, 0)) : "refused";
  };
  EXPECT_EQ(read(kU64, "18446744073709551615"), "-1") << "its bits";
  EXPECT_EQ(read(kU64, "9223372036854775808"), std::to_string(INT64_MIN));
  EXPECT_EQ(read(kU64, "7"), "7");
  for (const char* wrong : {"-1", "18446744073709551616", "", "1.5"}) EXPECT_EQ(read(kU64, wrong), "refused") << wrong;
  EXPECT_EQ(read(kI64, "-9223372036854775808"), std::to_string(INT64_MIN));
  EXPECT_EQ(read(kI64, "9223372036854775808"), "refused");
  EXPECT_EQ(read(kBool, "1"), "1");
  for (const char* wrong : {"7", "-1", "256"}) EXPECT_EQ(read(kBool, wrong), "refused") << wrong;
}

TEST_F(Grammar, StringsMayHoldEquals) {
  const int64_t two[] = {2};
  const Io io = {.name = "s", .kind = CAMEO_KIND_STRINGS, .dtype = kString, .rank = 1, .dims = two};
  const auto texts = [&](const char* text) {
    Array array;
    tool.code = 0, tool.message = "";
    if (!read_literal(tool, io, text, &array)) return std::string(tool.message);
    return string_of(array.texts()[0]) + "|" + string_of(array.texts()[1]);
  };
  EXPECT_EQ(texts("[\"a=b\",\"=\"]"), "a=b|=");
  EXPECT_EQ(texts("[a=b,c]"), "a=b|c");
  EXPECT_EQ(texts("2xstr=[a=b,2xf32=]"), "a=b|2xf32=");
  EXPECT_EQ(texts("2xf32=[a,b]"), "`s`: the model takes str[2], `2xf32=[a,b]` holds f32[2]");
}

TEST_F(Grammar, Generators) {
  EXPECT_EQ(numbers(input("gray=zeros", 6)), v({0, 0, 0, 0}));
  EXPECT_EQ(numbers(input("halfs=ones", 2)), v({1, 1, 1}));
  EXPECT_EQ(numbers(input("gray=iota", 6)), v({0, 1, 2, 3}));
  const std::vector<double> random = numbers(input("gray=rand:5", 6));
  EXPECT_EQ(random, numbers(input("gray=rand:5", 6)));
  EXPECT_NE(random, numbers(input("gray=rand:6", 6)));
  for (double value : random) EXPECT_TRUE(value >= 0 && value < 1);
  for (double value : numbers(input("gray=rand:5:-3:-2", 6))) EXPECT_TRUE(value >= -3 && value < -2);
  bool seen[4] = {};
  for (int seed = 0; seed < 40; ++seed)
    for (double value : numbers(input("a=b:c=rand:" + std::to_string(seed) + ":0:3", 1)))
      seen[static_cast<int>(value)] = true;
  for (bool value : seen) EXPECT_TRUE(value);
  EXPECT_EQ(refusal("gray=rand:x"), "`rand:x` is not `rand`, `rand:SEED` or `rand:SEED:LO:HI`");
  EXPECT_NE(refusal("gray=rond").find("`rond` is no value for `gray`; values are `@file.npy`"), std::string::npos);
}

TEST_F(Grammar, Files) {
  const std::string raw = file("f.bin", std::string("\0\0\x80\x3f\0\0\0\x40\0\0\x40\x40\0\0\x80\x40", 16));
  EXPECT_EQ(numbers(input("gray=raw:" + raw, 6)), v({1, 2, 3, 4}));
  EXPECT_NE(refusal("halfs=raw:" + raw).find("the model takes f16[3], 6 bytes; `" + raw + "` has 16"),
            std::string::npos);
  EXPECT_EQ(refusal("gray=@" + path("none.npy")), "cannot open `" + path("none.npy") + "`: No such file or directory");
  EXPECT_EQ(tool.code, kBadData);
  EXPECT_NE(refusal("gray=@" + file("x.txt", "1 2")).find("ends in none of .npy"), std::string::npos);
  EXPECT_NE(refusal("@" + path("x.npy")).find("say which of the 8 inputs"), std::string::npos);
  EXPECT_NE(refusal("gray=@" + path(".")).find("Is a directory"), std::string::npos);
}

TEST_F(Grammar, AFileOfAnotherTypeSaysBoth) {
  Array array;
  Text text(tool.arena);
  array.dtype = kF64;
  array.rank = 2;
  array.dims[0] = array.dims[1] = 2;
  ASSERT_TRUE(allocate(tool, &array, "x"));
  std::memset(array.data, 0, 32);
  ASSERT_TRUE(write_npy(tool, array, &text));
  const std::string npy = file("x.npy", string_of(text.slice()));
  EXPECT_EQ(refusal("gray=@" + npy), "`gray`: the model takes f32[2,2], `" + npy + "` holds f64[2,2]");
  const std::string comma = file("a,b.npy", string_of(text.slice()));
  EXPECT_NE(refusal("gray=@" + comma).find("holds f64"), std::string::npos) << "a path may hold commas";
  EXPECT_NE(refusal("gray=@" + npy + ",mean=1").find("options after `,` are for pictures only"), std::string::npos);
}

TEST_F(Grammar, AnArchiveGivesInputsByName) {
  Arrays arrays = {tool.arena.array<Array>(2), 2};
  const auto add = [&](int i, Slice name, double value) {
    arrays.items[i] = array_of(programs::kTypesInputs[i ? 5 : 6]);
    arrays.items[i].name = name;
    ASSERT_TRUE(allocate(tool, &arrays.items[i], "x"));
    for (int64_t k = 0; k < arrays.items[i].count(); ++k) set_number(kF32, arrays.items[i].data, k, value);
  };
  add(0, "gray", 3);
  add(1, "a", 4);
  Text text(tool.arena), other(tool.arena);
  ASSERT_TRUE(write_npz(tool, arrays, &text));
  const std::string npz = "@" + file("all.npz", string_of(text.slice()));
  EXPECT_EQ(numbers(input(npz, 6)), v({3, 3, 3, 3}));
  EXPECT_EQ(numbers(input(npz, 5)), v({4}));
  EXPECT_EQ(numbers(input("a=" + npz, 5)), v({4}));
  EXPECT_NE(refusal("halfs=" + npz).find("holds no array `halfs`, but `gray`, `a`"), std::string::npos);
  arrays.items[1].name = "b";
  ASSERT_TRUE(write_npz(tool, arrays, &other));
  EXPECT_NE(refusal("@" + file("b.npz", string_of(other.slice()))).find("there is no input `b`"), std::string::npos);
}

TEST_F(Grammar, AFolderOfTestDataGivesInputs) {
  Array array = array_of(programs::kTypesInputs[6]);
  ASSERT_TRUE(allocate(tool, &array, "x"));
  for (int i = 0; i < 4; ++i) set_number(kF32, array.data, i, i);
  Text by_name(tool.arena), by_number(tool.arena);
  write_pb(array, &by_name);
  array.name = "unknown";
  write_pb(array, &by_number);
  file("set/input_0.pb", string_of(by_name.slice()));
  EXPECT_EQ(numbers(input("@" + path("set"), 6)), v({0, 1, 2, 3})) << tool.message;
  file("other/input_6.pb", string_of(by_number.slice()));
  EXPECT_EQ(numbers(input("@" + path("other"), 6)), v({0, 1, 2, 3})) << tool.message;
  file("wrong/input_2.pb", string_of(by_number.slice()));
  EXPECT_NE(refusal("@" + path("wrong")).find("`halfs`: the model takes f16[3]"), std::string::npos);
  file("empty/readme.txt", "");
  EXPECT_EQ(refusal("@" + path("empty")), "no input_N.pb in `" + path("empty") + "`: there is readme.txt");
}

}  // namespace
}  // namespace rt::program
