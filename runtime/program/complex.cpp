// Complex numbers as Python writes them, without parentheses: `1+2j`, `2j` or `1`.
#include "runtime/numbers.h"
#include "runtime/program/array.h"

namespace rt::program {
namespace {

bool read(Slice word, uint32_t dtype, char* data, int64_t index) {
  size_t sign = 0;  // of the imaginary part, not of an exponent
  double part[2] = {};
  const bool is_whole = word.ends_with("j");
  for (size_t i = 1; is_whole && i < word.size; ++i)
    if ((word[i] == '+' || word[i] == '-') && (word[i - 1] | 32) != 'e') sign = i;
  if (is_whole && !parse_number(word.part(sign, word.size - 1), &part[1])) return false;
  if ((!is_whole || sign) && !parse_number(is_whole ? word.upto(sign) : word, &part[0])) return false;
  for (int64_t i = 0; i < 2; ++i) set_number(dtype, data, 2 * index + i, part[i]);
  return true;
}

}  // namespace

const ComplexTexts complex_texts = {read};

}  // namespace rt::program
