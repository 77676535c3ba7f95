// Readers and writers against bytes that numpy 2.4, onnx 1.23 and zlib wrote.
#include "tests/runtime/program/fixture.h"

namespace rt::program {
namespace {

using Formats = ProgramTest<programs::kTypes>;

// np.asfortranarray(np.arange(6, dtype='>f4').reshape(2, 3)), version 2.0
const unsigned char kBig[] = {
    147, 78, 85,  77,  80,  89,  2,  0,  116, 0,   0,   0,   123, 39,  100, 101, 115, 99,  114, 39,  58,  32,
    39,  62, 102, 52,  39,  44,  32, 39, 102, 111, 114, 116, 114, 97,  110, 95,  111, 114, 100, 101, 114, 39,
    58,  32, 84,  114, 117, 101, 44, 32, 39,  115, 104, 97,  112, 101, 39,  58,  32,  40,  50,  44,  32,  51,
    41,  44, 32,  125, 32,  32,  32, 32, 32,  32,  32,  32,  32,  32,  32,  32,  32,  32,  32,  32,  32,  32,
    32,  32, 32,  32,  32,  32,  32, 32, 32,  32,  32,  32,  32,  32,  32,  32,  32,  32,  32,  32,  32,  32,
    32,  32, 32,  32,  32,  32,  32, 32, 32,  32,  32,  32,  32,  32,  32,  32,  32,  10,  0,   0,   0,   0,
    64,  64, 0,   0,   63,  128, 0,  0,  64,  128, 0,   0,   64,  0,   0,   0,   64,  160, 0,   0};
// np.savez_compressed(f, x=np.arange(200) % 7, **{'a/b:0': np.array(True)})
const unsigned char kDeflated[] = {
    80,  75,  3,   4,   45,  0,   0,   0,   8,   0,   0,   0,   33,  0,   87,  68,  43,  227, 255, 255, 255, 255, 255,
    255, 255, 255, 5,   0,   20,  0,   120, 46,  110, 112, 121, 1,   0,   16,  0,   192, 6,   0,   0,   0,   0,   0,
    0,   103, 0,   0,   0,   0,   0,   0,   0,   155, 236, 23,  234, 27,  16,  201, 200, 80,  198, 80,  173, 158, 146,
    90,  156, 92,  164, 110, 165, 160, 110, 147, 105, 161, 174, 163, 160, 158, 150, 95,  84,  82,  148, 152, 23,  159,
    95,  148, 146, 10,  18,  119, 75,  204, 41,  78,  5,   138, 23,  103, 36,  22,  164, 2,   249, 26,  70,  6,   6,
    58,  154, 58,  10,  181, 10,  100, 3,   46,  6,   40,  96,  132, 210, 76,  80,  154, 25,  74,  179, 64,  105, 86,
    40,  205, 198, 128, 10,  70,  245, 141, 234, 27,  213, 55,  170, 111, 84,  223, 200, 212, 7,   0,   80,  75,  3,
    4,   45,  0,   0,   0,   8,   0,   0,   0,   33,  0,   130, 45,  248, 211, 255, 255, 255, 255, 255, 255, 255, 255,
    9,   0,   20,  0,   97,  47,  98,  58,  48,  46,  110, 112, 121, 1,   0,   16,  0,   129, 0,   0,   0,   0,   0,
    0,   0,   67,  0,   0,   0,   0,   0,   0,   0,   155, 236, 23,  234, 27,  16,  201, 200, 80,  198, 80,  173, 158,
    146, 90,  156, 92,  164, 110, 165, 160, 94,  147, 100, 168, 174, 163, 160, 158, 150, 95,  84,  82,  148, 152, 23,
    159, 95,  148, 146, 10,  18,  119, 75,  204, 41,  78,  5,   138, 23,  103, 36,  22,  164, 2,   249, 26,  154, 58,
    10,  181, 10,  20,  1,   46,  70,  0,   80,  75,  1,   2,   45,  3,   45,  0,   0,   0,   8,   0,   0,   0,   33,
    0,   87,  68,  43,  227, 103, 0,   0,   0,   192, 6,   0,   0,   5,   0,   0,   0,   0,   0,   0,   0,   0,   0,
    0,   0,   128, 1,   0,   0,   0,   0,   120, 46,  110, 112, 121, 80,  75,  1,   2,   45,  3,   45,  0,   0,   0,
    8,   0,   0,   0,   33,  0,   130, 45,  248, 211, 67,  0,   0,   0,   129, 0,   0,   0,   9,   0,   0,   0,   0,
    0,   0,   0,   0,   0,   0,   0,   128, 1,   158, 0,   0,   0,   97,  47,  98,  58,  48,  46,  110, 112, 121, 80,
    75,  5,   6,   0,   0,   0,   0,   2,   0,   2,   0,   106, 0,   0,   0,   28,  1,   0,   0,   0,   0};
// helper.make_tensor and numpy_helper.from_array
const unsigned char kHalfs[] = {8, 3, 16, 10, 42, 8, 128, 124, 128, 128, 3, 255, 247, 1, 66, 1, 120};
const unsigned char kInt64[] = {8,   2,   8,   1, 16,  7,   58,  16,  253, 255, 255, 255, 255, 255,
                                255, 255, 255, 1, 128, 128, 128, 128, 128, 32,  66,  1,   117};
const unsigned char kStrings[] = {8, 1, 16, 8, 50, 2, 104, 105, 66, 1, 115};
const unsigned char kRaw[] = {8, 2, 8, 1,   16, 11, 66, 1, 100, 74, 16, 0, 0, 0,
                              0, 0, 0, 248, 63, 0,  0,  0, 0,   0,  0,  4, 64};
const unsigned char kBools[] = {8, 2, 16, 9, 42, 2, 1, 0, 66, 1, 98};
// 2x2, red green / blue white
const unsigned char kPng[] = {137, 80,  78, 71,  13,  10,  26,  10,  0,   0,   0,   13,  73,  72,  68,  82, 0,  0,  0,
                              2,   0,   0,  0,   2,   8,   2,   0,   0,   0,   253, 212, 154, 115, 0,   0,  0,  18, 73,
                              68,  65,  84, 120, 156, 99,  248, 207, 192, 192, 0,   194, 12,  255, 129, 0,  0,  31, 238,
                              5,   251, 11, 217, 104, 139, 0,   0,   0,   0,   73,  69,  78,  68,  174, 66, 96, 130};

std::string npy_of(const std::string& shape, const char* fortran, const std::string& data = "",
                   const char* descr = "<f4") {
  std::string head =
      std::string("{'descr': '") + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }";
  head += std::string((64 - (head.size() + 11) % 64) % 64, ' ') + '\n';
  const char length[] = {static_cast<char>(head.size() & 255), static_cast<char>(head.size() >> 8)};
  return std::string("\x93NUMPY\x01\x00", 8) + std::string(length, 2) + head + data;
}

TEST_F(Formats, NpyTurnsByteOrderAndFortranOrder) {
  Array array;
  const std::string file = bytes_of(kBig);
  ASSERT_TRUE(load_npy(tool, slice_of(file), "big.npy", &array)) << tool.message;
  EXPECT_STREQ(array.type().text, "f32[2,3]");
  EXPECT_EQ(numbers(array), (std::vector<double>{0, 1, 2, 3, 4, 5}));
}

TEST_F(Formats, NpyIsRefusedWhereverItIsCut) {
  const std::string file = bytes_of(kBig);
  for (size_t size = 0; size < file.size(); ++size) {
    Array array;
    Tool fresh;
    const std::string cut = file.substr(0, size);
    EXPECT_FALSE(load_npy(fresh, slice_of(cut), "big.npy", &array)) << size;
    EXPECT_EQ(fresh.code, kBadData);
  }
}

TEST_F(Formats, NpyWritesWhatItReads) {
  for (const auto& [dtype, descr] : std::vector<std::pair<uint32_t, std::string>>{
           {kF32, "<f4"}, {kF64, "<f8"}, {kF16, "<f2"}, {kBool, "|b1"}, {kI8, "|i1"}, {kU16, "<u2"}, {kI64, "<i8"}}) {
    Array array, again;
    Text text(tool.arena);
    array.dtype = dtype;
    array.rank = 1;
    array.dims[0] = 2;
    ASSERT_TRUE(allocate(tool, &array, "x"));
    for (int i = 0; i < 2; ++i) set_number(dtype, array.data, i, i);
    ASSERT_TRUE(write_npy(tool, array, &text));
    EXPECT_EQ(text.slice().size % 64, array.bytes());
    EXPECT_NE(string_of(text.slice()).find("'descr': '" + descr + "', 'fortran_order': False, 'shape': (2,), }"),
              std::string::npos);
    ASSERT_TRUE(load_npy(tool, text.slice(), "x", &again)) << tool.message;
    EXPECT_EQ(again.dtype, dtype);
    EXPECT_EQ(numbers(again), (std::vector<double>{0, 1}));
  }
}

TEST_F(Formats, ComplexNumbersAreTwo) {
  for (const auto& [dtype, descr] : std::vector<std::pair<uint32_t, std::string>>{{kC64, "<c8"}, {kC128, "<c16"}}) {
    Array array;
    array.dtype = dtype;
    array.rank = 1;
    array.dims[0] = 2;
    ASSERT_TRUE(allocate(tool, &array, "x"));
    const double parts[] = {1, -2.5, -0.0, __builtin_nan("")};
    for (int64_t i = 0; i < array.numbers(); ++i) set_number(dtype, array.data, i, parts[i]);
    const auto is_same = [&](const Array& again) {
      return again.dtype == dtype && again.bytes() == array.bytes() &&
             !std::memcmp(again.data, array.data, array.bytes());
    };
    Array of_npy, of_pb, of_swapped;
    Text npy(tool.arena), pb(tool.arena), shown(tool.arena);
    ASSERT_TRUE(write_npy(tool, array, &npy));
    std::string file = string_of(npy.slice());
    EXPECT_NE(file.find("'descr': '" + descr + "'"), std::string::npos);
    ASSERT_TRUE(load_npy(tool, npy.slice(), "x", &of_npy)) << tool.message;
    EXPECT_TRUE(is_same(of_npy));
    file.replace(file.find(descr), 1, ">");
    const size_t bytes = static_cast<size_t>(element_bytes(dtype)) / 2, begin = file.size() - 4 * bytes;
    for (size_t at = begin; at < file.size(); at += bytes) std::reverse(&file[at], &file[at] + bytes);
    ASSERT_TRUE(load_npy(tool, slice_of(file), "x", &of_swapped)) << tool.message;
    EXPECT_TRUE(is_same(of_swapped));
    write_pb(array, &pb);
    ASSERT_TRUE(declare_pb(tool, pb.slice(), "x", &of_pb) && read_pb(tool, pb.slice(), "x", &of_pb)) << tool.message;
    EXPECT_TRUE(is_same(of_pb));
    print_element(&shown, array, 0), shown.add(' '), print_element(&shown, array, 1);
    EXPECT_EQ(string_of(shown.slice()), "1-2.5j -0+nanj");
  }
}

TEST_F(Formats, ComplexNumbersInProtobufFieldsArePairs) {
  Array array;
  const float parts[] = {1, 2, 3, -4};
  std::string file{0x08, 0x02, 0x10, 14, 0x22, 16};  // dims 2, complex64, float_data
  file.append(reinterpret_cast<const char*>(parts), sizeof parts);
  ASSERT_TRUE(declare_pb(tool, slice_of(file), "x", &array) && read_pb(tool, slice_of(file), "x", &array))
      << tool.message;
  EXPECT_EQ(std::memcmp(array.data, parts, sizeof parts), 0);
  file[5] = 12, file.resize(file.size() - 4);
  ASSERT_TRUE(declare_pb(tool, slice_of(file), "x", &array));
  EXPECT_FALSE(read_pb(tool, slice_of(file), "x", &array));
}

TEST_F(Formats, NpyHasAByteForEachElementOfSmallTypes) {
  for (const auto& [dtype, values] : std::vector<std::pair<uint32_t, std::vector<double>>>{{kI4, {-8, 7, -1}},
                                                                                           {kU4, {0, 15, 3}},
                                                                                           {kI2, {-2, 1, -1}},
                                                                                           {kU2, {3, 0, 2}},
                                                                                           {kF4E2M1, {-6, 0.5, 3}},
                                                                                           {kF8E4M3FN, {448, -0.5, 17}},
                                                                                           {kF8E5M2, {57344, -3, 0}},
                                                                                           {kF8E8M0, {0.5, 1, 4}}}) {
    Array array, again;
    Text text(tool.arena);
    array.dtype = dtype;
    array.rank = 1;
    array.dims[0] = 3;
    ASSERT_TRUE(allocate(tool, &array, "x"));
    for (int64_t i = 0; i < 3; ++i) set_number(dtype, array.data, i, values[static_cast<size_t>(i)]);
    ASSERT_TRUE(write_npy(tool, array, &text));
    EXPECT_EQ(text.slice().size % 64, 3u);
    ASSERT_TRUE(declare_npy(tool, text.slice(), "x", &again));
    take_type(dtype, &again);
    ASSERT_EQ(again.dtype, dtype);
    ASSERT_TRUE(read_npy(tool, text.slice(), "x", &again)) << tool.message;
    EXPECT_EQ(numbers(again), dtype == kF8E4M3FN ? (std::vector<double>{448, -0.5, 16}) : values);
  }
}

TEST_F(Formats, NpyRefusesNumbersThatATypeDoesNotHold) {
  Array array;
  Text text(tool.arena);
  array.dtype = kI8;
  array.rank = 1;
  array.dims[0] = 2;
  ASSERT_TRUE(allocate(tool, &array, "x"));
  set_number(kI8, array.data, 0, 1);
  set_number(kI8, array.data, 1, -9);
  ASSERT_TRUE(write_npy(tool, array, &text));
  ASSERT_TRUE(declare_npy(tool, text.slice(), "x", &array));
  take_type(kI4, &array);
  EXPECT_FALSE(read_npy(tool, text.slice(), "x", &array));
  EXPECT_EQ(std::string(tool.message), "x holds numbers that i4 does not");
}

TEST_F(Formats, NpyOfMlDtypesAloneLeavesTheSignOut) {
  for (const auto& [descr, numbers_of_nine] :
       std::vector<std::pair<const char*, std::vector<double>>>{{"|V1", {-7}}, {"|i1", {}}}) {
    Tool fresh;
    Array array;
    const std::string file = npy_of("(1,)", "False", "\x09", descr);
    ASSERT_TRUE(declare_npy(fresh, slice_of(file), "x", &array)) << fresh.message;
    take_type(kI4, &array);
    EXPECT_EQ(read_npy(fresh, slice_of(file), "x", &array), !numbers_of_nine.empty()) << descr;
    if (!numbers_of_nine.empty()) { EXPECT_EQ(numbers(array), numbers_of_nine); }
  }
}

TEST_F(Formats, NpyRefusesStringsOfAWidthThatOverflows) {
  for (const char* descr : {"<U4611686018427387904", "<U4294967296", "|S4294967296", "<U-1"}) {
    Tool fresh;
    Array array;
    const std::string file = npy_of("(2,)", "False", std::string(64, 'x'), descr);
    EXPECT_FALSE(load_npy(fresh, slice_of(file), "x", &array)) << descr;
    EXPECT_EQ(fresh.code, kBadData);
    EXPECT_EQ(std::string(fresh.message),
              std::string("x holds elements of a type that is not read here: '") + descr + "'");
  }
}

TEST_F(Formats, NpyOfPython2HasLongDims) {
  Array array;
  ASSERT_TRUE(load_npy(tool, slice_of(npy_of("(2L, 1L)", "False", std::string(8, '\0'))), "x", &array)) << tool.message;
  EXPECT_STREQ(array.type().text, "f32[2,1]");
  EXPECT_FALSE(load_npy(tool, slice_of(npy_of("(L2, 1)", "False", std::string(8, '\0'))), "x", &array));
}

TEST_F(Formats, NpyScalarsAndEmptyOnes) {
  for (int32_t rank : {0, 2}) {
    Array array, again;
    Text text(tool.arena);
    array.dtype = kF32;
    array.rank = rank;
    array.dims[1] = 5;
    ASSERT_TRUE(allocate(tool, &array, "x"));
    set_number(kF32, array.data, 0, 0);
    ASSERT_TRUE(write_npy(tool, array, &text));
    ASSERT_TRUE(load_npy(tool, text.slice(), "x", &again)) << tool.message;
    EXPECT_STREQ(again.type().text, rank ? "f32[0,5]" : "f32[]");
  }
}

TEST_F(Formats, NpyRefusesSizesThatOverflow) {
  std::string file = bytes_of(kBig);
  file.replace(file.find("(2, 3), }"), 40, "(4294967296, 4294967296, 4294967296), }  ");
  Array array;
  EXPECT_FALSE(load_npy(tool, slice_of(file), "big.npy", &array));
  EXPECT_EQ(tool.code, kBadData);
}

TEST_F(Formats, NpzInflates) {
  Arrays arrays;
  const std::string file = bytes_of(kDeflated);
  ASSERT_TRUE(load_npz(tool, slice_of(file), "all.npz", &arrays)) << tool.message;
  ASSERT_EQ(arrays.count, 2u);
  EXPECT_EQ(string_of(arrays.items[0].name), "x");
  EXPECT_EQ(arrays.items[0].count(), 200);
  for (int64_t i = 0; i < 200; ++i) ASSERT_EQ(integer_at(kI64, arrays.items[0].data, i), i % 7);
  EXPECT_EQ(string_of(arrays.items[1].name), "a/b:0");
  EXPECT_STREQ(arrays.items[1].type().text, "bool[]");
}

TEST_F(Formats, NpzNeverTrustsABrokenFile) {
  const std::string file = bytes_of(kDeflated);
  for (size_t i = 0; i < file.size(); ++i) {  // cut anywhere, or with any byte changed: a refusal, or the right arrays
    for (const std::string& broken :
         {file.substr(0, i), file.substr(0, i) + char(file[i] ^ 0x55) + file.substr(i + 1)}) {
      Tool fresh;
      Arrays arrays;
      const bool ok = load_npz(fresh, slice_of(broken), "all.npz", &arrays);
      EXPECT_EQ(fresh.code, ok ? kOk : kBadData) << i;
    }
  }
}

TEST_F(Formats, NpzRoundTrip) {
  Arrays arrays = {tool.arena.array<Array>(2), 2}, again;
  Text text(tool.arena);
  for (int i = 0; i < 2; ++i) {
    arrays.items[i].name = i ? "second/output:0" : "first";
    arrays.items[i].dtype = kI32;
    arrays.items[i].rank = 1;
    arrays.items[i].dims[0] = 3;
    ASSERT_TRUE(allocate(tool, &arrays.items[i], "x"));
    for (int k = 0; k < 3; ++k) set_integer(kI32, arrays.items[i].data, k, 10 * i + k);
  }
  ASSERT_TRUE(write_npz(tool, arrays, &text));
  ASSERT_TRUE(load_npz(tool, text.slice(), "all.npz", &again)) << tool.message;
  ASSERT_EQ(again.count, 2u);
  EXPECT_EQ(string_of(again.items[1].name), "second/output:0");
  EXPECT_EQ(numbers(again.items[1]), (std::vector<double>{10, 11, 12}));
  EXPECT_EQ(crc32("123456789"), 0xcbf43926u);
}

TEST_F(Formats, TensorProtos) {
  struct Case {
    std::string file;
    const char *type, *name;
    std::vector<double> values;
  };
  const std::vector<Case> cases = {{bytes_of(kHalfs), "f16[3]", "x", {1.5, -2, 65504}},
                                   {bytes_of(kInt64), "i64[2,1]", "u", {-3, 1099511627776.0}},
                                   {bytes_of(kRaw), "f64[2,1]", "d", {1.5, 2.5}},
                                   {bytes_of(kBools), "bool[2]", "b", {1, 0}}};
  for (const Case& c : cases) {
    Array array, again;
    Text text(tool.arena);
    ASSERT_TRUE(load_pb(tool, slice_of(c.file), "input_0.pb", &array)) << tool.message;
    EXPECT_STREQ(array.type().text, c.type);
    EXPECT_EQ(string_of(array.name), c.name);
    EXPECT_EQ(numbers(array), c.values);
    write_pb(array, &text);
    ASSERT_TRUE(load_pb(tool, text.slice(), "again.pb", &again)) << tool.message;
    EXPECT_STREQ(again.type().text, c.type);
    EXPECT_EQ(numbers(again), c.values);
    for (size_t size = 0; size < c.file.size(); ++size) {
      Tool fresh;
      const std::string cut = c.file.substr(0, size);
      const bool ok = load_pb(fresh, slice_of(cut), "cut.pb", &again);
      EXPECT_EQ(fresh.code, ok ? kOk : kBadData);
      if (ok) { EXPECT_EQ(numbers(again), c.values) << "only the name may be missing"; }
    }
  }
}

TEST_F(Formats, StringsComeBackFromEach) {
  Array array, from_pb, from_npy;
  const std::string file = bytes_of(kStrings);
  ASSERT_TRUE(load_pb(tool, slice_of(file), "s.pb", &array)) << tool.message;
  EXPECT_STREQ(array.type().text, "str[1]");
  EXPECT_EQ(string_of(array.texts()[0]), "hi");
  Slice texts[] = {"", "a", "\xc3\xa4\xf0\x9f\x98\x80 long"};
  array.data = reinterpret_cast<char*>(texts);
  array.dims[0] = 3;
  Text pb(tool.arena), npy(tool.arena);
  write_pb(array, &pb);
  ASSERT_TRUE(write_npy(tool, array, &npy));
  EXPECT_NE(string_of(npy.slice()).find("'descr': '<U7'"), std::string::npos);
  ASSERT_TRUE(load_pb(tool, pb.slice(), "s.pb", &from_pb)) << tool.message;
  ASSERT_TRUE(load_npy(tool, npy.slice(), "s.npy", &from_npy)) << tool.message;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(string_of(from_pb.texts()[i]), string_of(texts[i]));
    EXPECT_EQ(string_of(from_npy.texts()[i]), string_of(texts[i]));
  }
}

TEST_F(Formats, TensorProtosThatLie) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {std::string("\x08\x02\x10\x08\x32\x02hi", 8), "needs 2 strings"},
      {std::string("\x08\x7f\x10\x08\x32\x02hi", 8), "cut short"},
      {"", "no tensor of numbers"},
      {std::string("\x08\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x10\x01\x22\x00", 14),
       "sequences and maps are not read here"},
      {std::string("\x08\xff\xff\xff\xff\x07\x10\x01\x22\x00", 10), "cut short"},
      {std::string("\x08\x02\x10\x01\x4a\x04\x00\x00\x00\x00", 10), "needs 8 bytes, its raw data has 4"},
      {std::string("\x08\x01\x10\x01\x70\x01", 6), "another file"},
      {std::string("\x0a\x02\x01\x81\x10\x01\x4a\x04\x00\x00\x00\x00", 12), "cut short"},  // in packed dims
      {"version https://git-lfs.github.com/spec/v1", "is not a TensorProto"}};
  for (const auto& [file, message] : cases) {
    Tool fresh;
    Array array;
    EXPECT_FALSE(load_pb(fresh, slice_of(file), "x.pb", &array));
    EXPECT_NE(std::string(fresh.message).find(message), std::string::npos) << fresh.message;
  }
}

TEST_F(Formats, PicturesByLayout) {
  const std::string png = file("p.png", bytes_of(kPng)), at = "@" + png;
  EXPECT_EQ(numbers(input("image=" + at, 0)), (std::vector<double>{1, 0, 0, 1, 0, 1, 0, 1, 0, 0, 1, 1}))
      << tool.message;
  EXPECT_EQ(numbers(input("bytes=" + at, 4)), (std::vector<double>{255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255}));
  EXPECT_EQ(numbers(input("image=" + at + ",order=bgr,scale=1", 0)),
            (std::vector<double>{0, 0, 255, 255, 0, 255, 0, 255, 255, 0, 0, 255}));
  const std::vector<double> normal = numbers(input("image=" + at + ",mean=0.5:0:1,std=2:1:0.5", 0));
  EXPECT_EQ(normal, (std::vector<double>{0.25, -0.25, -0.25, 0.25, 0, 1, 0, 1, -2, -2, 0, 0}));
  EXPECT_EQ(input("gray=" + at, 6).count(), 4);
  EXPECT_EQ(refusal("image=" + at + ",resize=3"),
            "`image` takes pictures of 2x2, `" + png + "` is 3x3; add `,resize=2x2`");
  EXPECT_NE(refusal("image=" + at + ",sacle=3").find("`sacle=3` is no option of a picture"), std::string::npos);
  for (const char* option :
       {"scale=-1", "scale=inf", "scale=nan", "mean=1:inf:2", "mean=1:2:3:4:5", "std=0", "std=1:-1:1"})
    EXPECT_TRUE(has(refusal("image=" + at + "," + option), "`" + std::string(option) + "` is no option of a picture"))
        << tool.message;
  EXPECT_EQ(refusal("image=" + at + ",mean=1:2"), "mean and std take one number, or one a channel (3)");
  EXPECT_EQ(refusal("image=" + at + ",std=1:2:3:4"), "mean and std take one number, or one a channel (3)");
  EXPECT_EQ(refusal("gray=" + at + ",std=1:2:3"), "mean and std take one number, or one a channel (1)");
  EXPECT_NE(refusal("halfs=" + at).find("does not hold one picture"), std::string::npos);
  const std::string fake = file("fake.png", "not a picture");
  EXPECT_NE(refusal("image=@" + fake).find("is not a PNG, JPEG or PPM picture"), std::string::npos);
}

TEST_F(Formats, PpmAndResize) {
  const std::string ppm = file("p.pgm", "P5 4 2 255\n" + std::string("\x00\x10\x20\x30\x00\x10\x20\x30", 8));
  const Array halved = input("gray=@" + ppm + ",resize=2x2,scale=1", 6);
  ASSERT_EQ(halved.count(), 4) << tool.message;
  const std::vector<double> v = numbers(halved);  // Pillow's bilinear filter: weights 3 3 1 (of 7) at the border
  EXPECT_NEAR(v[0], (0 * 3 + 16 * 3 + 32) / 7.0, 1e-4);
  EXPECT_NEAR(v[1], (16 + 32 * 3 + 48 * 3) / 7.0, 1e-4);
  EXPECT_EQ(numbers(input("gray=@" + ppm + ",crop=2,scale=1", 6)), (std::vector<double>{16, 32, 16, 32}));
  EXPECT_EQ(refusal("gray=@" + ppm + ",crop=3"),
            "`gray` takes pictures of 3x3, `" + ppm + "` is 4x2; add `,resize=3x3`");
  unsigned char one[] = {7};
  const float* grown = resize(tool, {1, 1, 1, one}, 3, 2);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(grown[i], 7);
}

TEST_F(Formats, PngRoundTrip) {
  for (int channels : {1, 3, 4}) {
    const int w = 300, h = 100;  // rows that need more than one block of stored data
    Picture picture, again;
    Text text(tool.arena);
    picture = {w, h, channels, static_cast<unsigned char*>(tool.arena.take(w * h * channels))};
    for (int i = 0; i < w * h * channels; ++i) picture.pixels[i] = static_cast<unsigned char>(i * 31 % 251);
    write_png(tool, picture, &text);
    ASSERT_TRUE(declare_picture(tool, text.slice(), "p.png", channels, &again)) << tool.message;
    EXPECT_EQ(again.pixels, nullptr);
    ASSERT_TRUE(read_picture(tool, text.slice(), "p.png", &again)) << tool.message;
    EXPECT_EQ(again.width, w);
    EXPECT_EQ(again.height, h);
    EXPECT_EQ(std::memcmp(again.pixels, picture.pixels, w * h * channels), 0);
  }
}

// ---- files that claim more than the model takes ----

std::string big_endian(uint32_t value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16), static_cast<char>(value >> 8),
          static_cast<char>(value)};
}

std::string chunk(const std::string& kind, const std::string& data) {
  return big_endian(static_cast<uint32_t>(data.size())) + kind + data +
         big_endian(crc32(slice_of(std::string(kind + data))));
}

// Declares a size; `stored` zeros stand in its data, not compressed.
std::string png_of(uint32_t width, uint32_t height, size_t stored) {
  std::string data("\x78\x01", 2);
  for (size_t left = stored;; left -= 65535) {
    const size_t n = left < 65535 ? left : 65535;
    data += {static_cast<char>(left == n), static_cast<char>(n & 255), static_cast<char>(n >> 8),
             static_cast<char>(~n & 255), static_cast<char>(~n >> 8 & 255)};
    data += std::string(n, '\0');
    if (left == n) break;
  }
  return std::string("\x89PNG\r\n\x1a\n", 8) +
         chunk("IHDR", big_endian(width) + big_endian(height) + std::string("\x08\x02\0\0\0", 5)) +
         chunk("IDAT", data + big_endian(1)) + chunk("IEND", "");
}

TEST_F(Formats, TypesAreComparedBeforeAnythingIsRead) {
  const std::string walked = file("f.npy", npy_of("(1099511627776, 0)", "True"));
  EXPECT_EQ(refusal("image=@" + walked),
            "`image`: the model takes f32[1,3,2,2], `" + walked + "` holds f32[1099511627776,0]");
  const std::string huge = file("h.npy", npy_of("(1, 3, 2, 200000000000)", "False"));
  EXPECT_TRUE(has(refusal("image=@" + huge), "holds f32[1,3,2,200000000000]")) << tool.message;
  const std::string proto = file("p.pb", std::string("\x08\xff\xff\xff\xff\x07\x10\x01\x22\x04\0\0\0\0", 14));
  EXPECT_TRUE(has(refusal("image=@" + proto), "holds f32[2147483647]")) << tool.message;
  const std::string picture = file("p.png", png_of(6000, 6000, 0));
  EXPECT_TRUE(has(refusal("image=@" + picture), "takes pictures of 2x2, `" + picture + "` is 6000x6000"))
      << tool.message;
  EXPECT_TRUE(has(refusal("image=@" + picture + ",resize=2"), "6000x6000 pixels in a file of")) << tool.message;
  EXPECT_TRUE(has(refusal("image=@" + file("p.ppm", "P6 30000 30000 255\n")), "is 30000x30000")) << tool.message;
  EXPECT_TRUE(has(refusal("image=@" + picture + ",resize=30000,crop=2"), "no option of a picture")) << tool.message;
}

TEST_F(Formats, APictureGetsNoMoreMemoryThanItsSizeNeeds) {
  EXPECT_EQ(input("image=@" + file("a.png", png_of(2, 2, 14)), 0).count(), 12) << tool.message;
  EXPECT_TRUE(has(refusal("image=@" + file("b.png", png_of(2, 2, 16 << 20))), "outofmem")) << tool.message;
}

TEST_F(Formats, JpegTablesHaveNoMoreSymbolsThanThereAre) {
  std::string tables(1, '\0');
  tables += std::string(16, '\x11');                                            // 272 symbols
  const std::string start("\xff\xd8\xff\xe0\0\x04\xff\xc4\xff\xc4\0\x13", 12);  // what an APP segment holds is no table
  EXPECT_TRUE(has(refusal("gray=@" + file("a.jpg", start + tables)), "more than 256 symbols")) << tool.message;
  EXPECT_FALSE(has(refusal("gray=@" + file("b.jpg", start)), "more than 256 symbols")) << tool.message;
  EXPECT_EQ(tool.code, kBadData);
}

TEST_F(Formats, PgmThatWouldBeReadWrong) {
  const std::string deep = file("deep.pgm", "P5 2 2 65535\n" + std::string(8, '\0'));
  EXPECT_TRUE(has(refusal("gray=@" + deep), "of 16 bits; those of 8 are read")) << tool.message;
  for (const char* head : {"P5 6999999990 2 255\n", "P5 2 # 5\n 99999999999 255\n", "P5 x"})
    EXPECT_TRUE(has(refusal("gray=@" + file("long.pgm", head)), "a size is no number")) << tool.message;
  const std::string commented = file("c.pgm", "P5 # a comment\n#\n2 2 255\n" + std::string(4, '\x10'));
  EXPECT_EQ(numbers(input("gray=@" + commented + ",scale=1", 6)), (std::vector<double>{16, 16, 16, 16}))
      << tool.message;
}

TEST_F(Formats, NpzUnpacksWhatIsAskedForAlone) {
  Arrays arrays = {tool.arena.array<Array>(2), 2};
  Text text(tool.arena);
  for (int i = 0; i < 2; ++i) {
    arrays.items[i] = array_of(programs::kTypesInputs[i ? 0 : 6]);
    arrays.items[i].name = i ? "image" : "gray";
    ASSERT_TRUE(allocate(tool, &arrays.items[i], "x"));
    std::memset(arrays.items[i].data, 0, arrays.items[i].bytes());
  }
  ASSERT_TRUE(write_npz(tool, arrays, &text));
  std::string zip = string_of(text.slice());
  zip[zip.find("NUMPY") + 100] ^= 1;  // the first entry, `gray`
  const std::string at = "@" + file("two.npz", zip);
  EXPECT_EQ(input("image=" + at, 0).count(), 12) << tool.message;
  EXPECT_TRUE(has(refusal("gray=" + at), "is damaged")) << tool.message;
  EXPECT_TRUE(has(refusal("a=" + at), "holds no array `a`")) << tool.message;
  std::string twice = string_of(text.slice());
  for (size_t i; (i = twice.find("gray.npy")) != std::string::npos;) twice.replace(i, 8, "imag.npy");
  EXPECT_TRUE(has(refusal("@" + file("names.npz", twice)), "there is no input `imag`")) << tool.message;
}

TEST_F(Formats, RawStopsAtTheSizeItWants) {
  EXPECT_EQ(numbers(input("gray=raw:/dev/zero", 6)), (std::vector<double>{0, 0, 0, 0})) << tool.message;
  EXPECT_TRUE(has(refusal("gray=raw:" + file("long", std::string(17, 'x'))), "16 bytes; `")) << tool.message;
  EXPECT_TRUE(has(refusal("gray=raw:" + file("short", std::string(15, 'x'))), "has 15")) << tool.message;
  EXPECT_TRUE(has(refusal("gray=raw:/dev/null"), "has 0")) << tool.message;
  std::filesystem::create_symlink("/dev/zero", path("zero.npz"));
  EXPECT_TRUE(has(refusal("gray=@" + path("zero.npz")), "goes on after 33554432 bytes")) << tool.message;
  std::filesystem::create_symlink("/dev/zero", path("zero.npy"));
  EXPECT_TRUE(has(refusal("gray=@" + path("zero.npy")), "is not an npy file")) << tool.message;
  std::filesystem::create_symlink("/dev/zero", path("zero.pb"));
  EXPECT_TRUE(has(refusal("gray=@" + path("zero.pb")), "larger than any tensor")) << tool.message;
}

TEST_F(Formats, RandomIntegersOfAnyRange) {
  for (const char* range : {"0:-1e300:1e300", "1:nan:nan", "2:inf:-inf", "3:-128:127"})
    EXPECT_EQ(input(std::string("bytes=rand:") + range, 4).count(), 12) << tool.message;
}

}  // namespace
}  // namespace rt::program
