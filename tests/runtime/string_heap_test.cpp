// The strings of a context: codes of constants, of what runs take in and make, and that a run forgets the one before.
// And letters, whose cases are those of the C library.
#include "runtime/string_heap.h"

#include <gtest/gtest.h>
#include <locale.h>
#include <wctype.h>

#include <string>
#include <vector>

#include "runtime/kernels/case_mapping.h"
#include "runtime/kernels/utf8.h"

namespace {

const char kConstants[] = "oneconstant";
const uint64_t kEnds[] = {3, 11};
const rt::StringTable kTable = {kConstants, kEnds, 2, &rt::string_functions};

struct OpenHeap {
  OpenHeap() {
    program.strings = &kTable;
    program.output_count = 1;
    model.program = &program;
    model.options = rt::default_options();
    heap = kTable.functions->open(model);
    kTable.functions->begin_run(*heap);
  }
  OpenHeap(const OpenHeap&) = delete;
  ~OpenHeap() { kTable.functions->close(model, heap); }

  int64_t code(const std::string& text) { return heap->code_of(*heap, {text.data(), std::ssize(text)}); }
  std::string text(int64_t code) const {
    const rt::Text text = heap->text_of(*heap, code);
    return {text.data, static_cast<size_t>(text.bytes)};
  }

  rt::Program program;
  cameo_model model = {};
  rt::StringHeap* heap = nullptr;
};

TEST(StringHeap, CountsConstantsFirst) {
  OpenHeap h;
  EXPECT_EQ(h.code(""), 0);
  EXPECT_EQ(h.code("one"), 1);
  EXPECT_EQ(h.code("constant"), 2);
  EXPECT_EQ(h.code("new"), 3);
  EXPECT_EQ(h.text(2), "constant");
  EXPECT_EQ(h.text(3), "new");
}

TEST(StringHeap, FindsEachOfManyAndBeginsAnew) {
  OpenHeap h;
  for (int run = 0; run < 3; ++run) {
    for (int i = 0; i < 5000; ++i) EXPECT_EQ(h.code("text " + std::to_string(i + run)), 3 + i);
    for (int i = 0; i < 5000; ++i) EXPECT_EQ(h.text(3 + i), "text " + std::to_string(i + run));
    EXPECT_EQ(h.code("constant"), 2);
    kTable.functions->begin_run(*h.heap);
  }
  EXPECT_EQ(h.code("text 1"), 3);
}

TEST(StringHeap, TakesInPartsOfWhatItHolds) {
  OpenHeap h;
  int64_t code = h.code(std::string(1000, 'a') + "b");
  for (int64_t length = 1000; length > 0; --length) {
    const rt::Text whole = h.heap->text_of(*h.heap, code);
    code = h.heap->code_of(*h.heap, {whole.data + 1, whole.bytes - 1});
    EXPECT_EQ(h.text(code), std::string(static_cast<size_t>(length - 1), 'a') + "b");
  }
}

TEST(StringHeap, RefusesWhatIsNoString) {
  OpenHeap h;
  cameo_error error = {sizeof error, 0, 0, 0, {}};
  cameo_value value = {};
  int64_t code = 0;
  EXPECT_EQ(kTable.functions->take(*h.heap, value, 0, 1, &code, &error), CAMEO_INVALID_ARGUMENT);
  const char* text = nullptr;
  int64_t length = 1;
  value.strings = &text, value.lengths = &length;
  EXPECT_EQ(kTable.functions->take(*h.heap, value, 0, 1, &code, &error), CAMEO_INVALID_ARGUMENT);
  EXPECT_STREQ(error.message, "input 0: string 0 has 1 bytes at a null pointer");
  const std::string own = "new";
  value.strings = &text, text = own.data(), length = 3;
  ASSERT_EQ(kTable.functions->take(*h.heap, value, 0, 1, &code, &error), CAMEO_OK);
  text = h.heap->text_of(*h.heap, code).data;
  kTable.functions->begin_run(*h.heap);
  EXPECT_EQ(kTable.functions->take(*h.heap, value, 0, 1, &code, &error), CAMEO_INVALID_ARGUMENT);
  EXPECT_STREQ(error.message, "input 0: string 0 is one that the run before handed out; copy it");
  text = nullptr, length = 0;
  EXPECT_EQ(kTable.functions->take(*h.heap, value, 0, 1, &code, &error), CAMEO_OK);
  EXPECT_EQ(code, 0);
}

TEST(CodePoints, HaveTheCasesOfTheCLibrary) {
  const locale_t everywhere = newlocale(LC_ALL_MASK, "C.UTF-8", nullptr);
  ASSERT_TRUE(everywhere);
  for (uint32_t c = 0; c <= 0x10ffff; ++c) {
    EXPECT_EQ(rt::to_upper(c), towupper_l(c, everywhere)) << std::hex << c;
    EXPECT_EQ(rt::to_lower(c), towlower_l(c, everywhere)) << std::hex << c;
  }
  freelocale(everywhere);
}

TEST(CodePoints, AreReadAsTheyAreWritten) {
  for (uint32_t c = 0; c <= 0x10ffff; ++c) {
    if (c >= 0xd800 && c < 0xe000) continue;
    char bytes[4];
    const int64_t count = rt::put_code_point(bytes, c) - bytes;
    const rt::CodePoint read = rt::code_point_at({bytes, count}, 0);
    ASSERT_EQ(read.value, static_cast<int32_t>(c));
    ASSERT_EQ(read.bytes, count);
    if (count > 1) { ASSERT_EQ(rt::code_point_at({bytes, count - 1}, 0).value, -1); }
  }
  for (const char* text : {"\xc0\x80", "\xed\xa0\x80", "\xf5\x80\x80\x80", "\xe0\x80\x80", "\x80", "\xff"})
    EXPECT_EQ(rt::code_point_at({text, static_cast<int64_t>(std::string(text).size())}, 0).value, -1);
}

}  // namespace
