// Values written on the command line: `2x2xf32=[[1,2],[3,4]]`, `[1,2]`, `0.5`, `true`, `["a","b"]`, `[1+2j,3]`.
#include "runtime/numbers.h"
#include "runtime/program/dims.h"
#include "runtime/program/input.h"
#include "runtime/sizes.h"

namespace rt::program {
namespace {

struct Literal {
  Slice text;
  size_t at = 0;
  uint32_t dtype = kUndefined;
  char* data = nullptr;
  const ComplexTexts* complex = nullptr;
  int64_t count = 0;
  int32_t rank = 0;
  int32_t leaf = -1;  // the depth of the elements, once one was seen
  int64_t dims[kMaxRank] = {};

  void skip() {
    while (at < text.size && (text[at] == ' ' || text[at] == '\n' || text[at] == '\t')) ++at;
  }
  bool take(char c) {
    skip();
    if (at >= text.size || text[at] != c) return false;
    return ++at, true;
  }
  bool element();
  bool string();
  bool list(int32_t depth);
  bool any(int32_t depth);
};

// In quotes, where a backslash keeps what is behind it from ending them, or plain, up to what ends an element. The
// text of `data` is that of the literal, whose backslashes go.
bool Literal::string() {
  const bool quoted = at < text.size && text[at] == '"';
  char* const begin = const_cast<char*>(text.data) + at + quoted;
  char* end = begin;
  for (at += quoted; at < text.size && (quoted ? text[at] != '"' : text[at] != ',' && text[at] != ']'); ++at) {
    if (quoted && text[at] == '\\' && at + 1 < text.size) ++at;
    *end++ = text[at];
  }
  reinterpret_cast<Slice*>(data)[count++] = {begin, static_cast<size_t>(end - begin)};
  return !quoted || at++ < text.size;
}

// As Python writes it, without parentheses: `1+2j`, `2j` or `1`.
bool read_complex(Slice word, uint32_t dtype, char* data, int64_t index) {
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

// False: `word` is no number of the type.
bool put_integer(Slice word, uint32_t dtype, char* data, int64_t index) {
  int64_t integer = 0;  // of u64 its bits
  if (!(dtype == kU64 ? parse_digits(word, reinterpret_cast<uint64_t*>(&integer)) : parse_integer(word, &integer)))
    return false;
  set_integer(dtype, data, index, integer);
  return integer_at(dtype, data, index) == integer;
}

bool Literal::element() {
  skip();
  if (dtype == kString) return string();
  size_t end = at;
  while (end < text.size && text[end] != ',' && text[end] != ']' && text[end] != ' ') ++end;
  const Slice word = text.part(at, end);
  double number = 0;
  at = end;
  if (is_complex(dtype)) return complex->read(word, dtype, data, count++);
  if (word == "true" || word == "false")
    number = word == "true";
  else if (!is_float(dtype))
    return put_integer(word, dtype, data, count++);
  else if (!parse_number(word, &number))
    return false;
  set_number(dtype, data, count++, number);
  return true;
}

// Lists of one depth must have one length: the first one's.
bool Literal::list(int32_t depth) {
  int64_t length = 0;
  const bool is_first = depth == rank;
  if (depth == kMaxRank || (leaf >= 0 && depth >= leaf)) return false;
  if (is_first) dims[rank++] = -1;
  if (!take(']')) {
    do {
      if (!any(depth + 1)) return false;
      ++length;
    } while (take(','));
    if (!take(']')) return false;
  }
  if (dims[depth] < 0) dims[depth] = length;
  return dims[depth] == length;
}

bool Literal::any(int32_t depth) {
  if (take('[')) return list(depth);
  leaf = depth;
  return depth == rank && element();
}

bool parse_type(Slice text, Array* array) {  // 2x2xf32
  array->rank = 0;
  for (;;) {
    const size_t x = text.find('x');
    int64_t dim = 0;
    if (x == text.size || !parse_integer(text.upto(x), &dim)) return parse_dtype(text, &array->dtype);
    if (dim < 0 || array->rank == kMaxRank) return false;
    array->dims[array->rank++] = dim;
    text = text.from(x + 1);
  }
}

int64_t most_elements(Slice text) {
  int64_t count = 1;
  for (size_t i = 0; i < text.size; ++i) count += text[i] == ',';
  return count;
}

Slice copy_of(Tool& tool, Slice text) {
  char* copy = static_cast<char*>(tool.arena.take(text.size + 1));
  libc::memcpy(copy, text.data, text.size);
  return {copy, text.size};
}

bool same_dims(const Literal& literal, const Array& array) {
  bool same = literal.rank == array.rank;
  for (int32_t i = 0; same && i < array.rank; ++i) same = literal.dims[i] == array.dims[i];
  return same;
}

// Where dims are unknown: those of a list of all axes; of a flat one, the one that is missing.
bool complete(Tool& tool, const Io& io, const Literal& literal, Array* array) {
  if (literal.rank == array->rank)
    for (int32_t i = 0; i < array->rank; ++i) array->dims[i] = size_place(io, i) < 0 ? io.dims[i] : literal.dims[i];
  else if (literal.rank > 1 || !infer_dim(array, literal.count))
    return unknown_dims(tool, io, literal.text, literal.count, "elements");
  return take_dims(tool, io, *array, literal.text);
}

}  // namespace

const ComplexTexts complex_texts = {read_complex};

bool split_type(Slice* text, Array* array) {
  const size_t equals = text->find('=');
  if (equals == text->size || !parse_type(text->upto(equals), array)) return false;
  *text = text->from(equals + 1);
  return true;
}

bool read_literal(Tool& tool, const Io& io, Slice whole, Array* array) {
  const size_t equals = whole.find('=');
  Slice text = whole;
  Literal literal;
  const bool has_type = split_type(&text, array);
  if (has_type && !fits(tool, io, *array, whole)) return false;
  if (!has_type && io.dtype != kString && equals < whole.size)
    return tool.fail(kUsage, "`%.*s` is not a type like `2x2xf32`", width(whole.upto(equals)), whole.data);
  if (!has_type) *array = array_of(io);
  literal.text = text;
  literal.dtype = io.dtype;
  literal.complex = tool.program->complex;
  const uint64_t most = static_cast<uint64_t>(most_elements(text));
  literal.data = static_cast<char*>(tool.arena.take(
      io.dtype == kString ? most * sizeof(Slice) : static_cast<uint64_t>(bytes_of(io.dtype, most_elements(text)))));
  if (io.dtype == kString) literal.text = copy_of(tool, text);
  const bool parsed = literal.any(0);
  literal.skip();
  if (!parsed || literal.at < text.size)
    return tool.fail(kUsage, "%s: `%.*s` is not a list of %s values, near byte %zu", Quoted(io.name).text, width(text),
                     text.data, type_info(io.dtype).name, literal.at);
  if (!is_known(io) && !has_type && !complete(tool, io, literal, array)) return false;
  if (!same_dims(literal, *array) && !(literal.rank <= 1 && literal.count == array->count()))
    return tool.fail(kBadData, "%s: the model takes %s, the list is %s", Quoted(io.name).text, array->type().text,
                     TypeText(io.dtype, literal.rank, literal.dims).text);
  array->data = literal.data;
  return true;
}

}  // namespace rt::program
