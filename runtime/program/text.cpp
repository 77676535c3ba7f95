// See text.h. Numbers are read in double-double arithmetic, so that what is printed with 17 digits comes back.
#include "runtime/program/text.h"

#include "runtime/printable.h"
#include "runtime/program/last_words.h"

namespace rt::program {
namespace {

constexpr uint64_t kBlock = 1 << 20;

[[noreturn]] void out_of_memory() {
  const Slice message = "error: out of memory\n";
  give_last_words(9, "out of memory");
  (void)!libc::write(2, message.data, message.size);
  libc::exit(9);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

struct Wide {  // high + low
  double high, low;
};

Wide product(double a, double b) {  // Dekker: exact
  const double ca = 134217729.0 * a, cb = 134217729.0 * b;
  const double ah = ca - (ca - a), bh = cb - (cb - b), al = a - ah, bl = b - bh;
  const double p = a * b;
  return {p, ((ah * bh - p) + ah * bl + al * bh) + al * bl};
}

Wide normal(double high, double low) {
  const double sum = high + low;
  return {sum, low - (sum - high)};
}

Wide times(Wide x, double power) {
  const Wide p = product(x.high, power);
  return normal(p.high, p.low + x.low * power);
}

Wide over(Wide x, double power) {
  const double q = x.high / power;
  const Wide p = product(q, power);
  return normal(q, ((x.high - p.high) - p.low + x.low) / power);
}

double scale(uint64_t mantissa, int64_t exponent) {
  static constexpr double kPowers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                       1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  const double high = static_cast<double>(mantissa >> 32) * 4294967296.0,
               low = static_cast<double>(mantissa & 0xffffffff);
  const double bias = exponent > 200 ? 0x1p-300 : exponent < -200 ? 0x1p300 : 1;  // exact, away from both ends
  Wide x = normal(high * bias, low * bias);
  if (exponent > 330) return mantissa ? __builtin_inf() : 0;
  if (exponent < -400) return 0;
  for (; exponent > 0; exponent -= exponent > 22 ? 22 : exponent) x = times(x, kPowers[exponent > 22 ? 22 : exponent]);
  for (; exponent < 0; exponent += exponent < -22 ? 22 : -exponent)
    x = over(x, kPowers[exponent < -22 ? 22 : -exponent]);
  return (x.high + x.low) * (1 / bias);
}

bool word(Slice text, Slice lower) {
  if (text.size != lower.size) return false;
  for (size_t i = 0; i < text.size; ++i)
    if ((text[i] | 32) != lower[i]) return false;
  return true;
}

}  // namespace

Arena::~Arena() {
  while (blocks_) {
    Block* next = blocks_->next;
    libc::free(blocks_);
    blocks_ = next;
  }
}

void* Arena::take(uint64_t bytes, uint64_t alignment) {
  const uint64_t skip = (alignment - reinterpret_cast<uint64_t>(at_) % alignment) % alignment;
  if (!at_ || skip + bytes > left_) {
    const uint64_t size = sizeof(Block) + alignment + (bytes > kBlock ? bytes : kBlock);
    Block* block = size < bytes ? nullptr : static_cast<Block*>(libc::malloc(size));
    if (!block) out_of_memory();
    block->next = blocks_;
    blocks_ = block;
    at_ = reinterpret_cast<char*>(block + 1);
    left_ = size - sizeof(Block);
    return take(bytes, alignment);
  }
  void* memory = at_ + skip;
  at_ += skip + bytes;
  left_ -= skip + bytes;
  return memory;
}

bool operator==(Slice a, Slice b) { return a.size == b.size && libc::memcmp(a.data, b.data, a.size) == 0; }
bool Slice::starts_with(Slice prefix) const { return size >= prefix.size && upto(prefix.size) == prefix; }
bool Slice::ends_with(Slice suffix) const { return size >= suffix.size && from(size - suffix.size) == suffix; }

size_t Slice::find(char c, size_t begin) const {
  while (begin < size && data[begin] != c) ++begin;
  return begin < size ? begin : size;
}

void Text::reserve(size_t more) {
  if (size_ + more <= capacity_) return;
  capacity_ = 2 * capacity_ + more + 64;
  char* data = static_cast<char*>(arena_->take(capacity_, 1));
  if (size_) libc::memcpy(data, data_, size_);
  data_ = data;
}

void Text::add(Slice text) {
  if (text.empty()) return;
  reserve(text.size + 1);
  libc::memcpy(data_ + size_, text.data, text.size);
  size_ += text.size;
}

const char* Text::c_str() {
  reserve(1);
  data_[size_] = 0;
  return data_;
}

void Text::vformat(const char* format, __builtin_va_list args) {
  __builtin_va_list again;
  __builtin_va_copy(again, args);
  const int length = libc::vsnprintf(nullptr, 0, format, args);
  if (length > 0) {
    reserve(static_cast<size_t>(length) + 1);
    libc::vsnprintf(data_ + size_, static_cast<size_t>(length) + 1, format, again);
    size_ += static_cast<size_t>(length);
  }
  __builtin_va_end(again);
}

void Text::format(const char* format, ...) {
  __builtin_va_list args;
  __builtin_va_start(args, format);
  vformat(format, args);
  __builtin_va_end(args);
}

void Text::json(Slice text) {
  add('"');
  while (!text.empty()) {
    const size_t length = utf8_length(text.data, text.size);
    if (length == 0)
      add("\\ufffd");
    else if (!printable_length(text.data, text.size))  // a control character; of two bytes the second one is its number
      format("\\u%04x", static_cast<unsigned char>(text[length - 1]));
    else if (text[0] == '"' || text[0] == '\\')
      format("\\%c", text[0]);
    else
      add(text.upto(length));
    text = text.from(length ? length : 1);
  }
  add('"');
}

void Text::add(const char* text) { add(Slice(text)); }

void Text::json(double number) {
  if (number - number == 0)
    format("%.17g", number);
  else
    add("null");
}

void Text::plain(Slice text) {
  reserve(4 * text.size + 1);
  size_ += printable(text.data, text.size, data_ + size_, 4 * text.size);
}

bool is_printable(Slice text) {
  while (!text.empty()) {
    const size_t length = printable_length(text.data, text.size);
    if (!length) return false;
    text = text.from(length);
  }
  return true;
}

bool parse_digits(Slice text, uint64_t* value) {
  uint64_t sum = 0;
  for (size_t i = 0; i < text.size; ++i) {
    if (!is_digit(text[i])) return false;
    if (__builtin_mul_overflow(sum, uint64_t{10}, &sum) || __builtin_add_overflow(sum, uint64_t(text[i] - '0'), &sum))
      return false;
  }
  *value = sum;
  return !text.empty();
}

bool parse_integer(Slice text, int64_t* value) {
  const bool negative = text.starts_with("-");
  if (negative || text.starts_with("+")) text = text.from(1);
  uint64_t sum = 0;
  if (!parse_digits(text, &sum) || sum > (~uint64_t{0} >> 1) + negative) return false;
  *value = static_cast<int64_t>(negative ? ~sum + 1 : sum);
  return true;
}

bool parse_number(Slice text, double* value) {
  const bool negative = text.starts_with("-");
  if (negative || text.starts_with("+")) text = text.from(1);
  if (word(text, "inf") || word(text, "infinity") || word(text, "nan")) {
    const double magnitude = (text[0] | 32) == 'i' ? __builtin_inf() : __builtin_nan("");
    *value = negative ? -magnitude : magnitude;
    return true;
  }
  uint64_t mantissa = 0;
  int64_t exponent = 0, digits = 0, point = -1;
  size_t i = 0;
  for (; i < text.size && (is_digit(text[i]) || (text[i] == '.' && point < 0)); ++i) {
    if (text[i] == '.') {
      point = 0;
      continue;
    }
    ++digits;
    if (mantissa < 1000000000000000000u)
      mantissa = mantissa * 10 + static_cast<uint64_t>(text[i] - '0'), exponent -= point >= 0;
    else
      exponent += point < 0;
  }
  if (!digits) return false;
  if (i < text.size) {
    int64_t written = 0;
    if ((text[i] | 32) != 'e' || !parse_integer(text.from(i + 1), &written)) return false;
    exponent += written > 100000 ? 100000 : written < -100000 ? -100000 : written;
  }
  const double magnitude = scale(mantissa, exponent);
  *value = negative ? -magnitude : magnitude;
  return true;
}

int distance(Slice a, Slice b) {
  constexpr size_t kMost = 63;
  int rows[3][kMost + 1];  // of the last letters of `a`
  if (a.size > kMost || b.size > kMost) return 1000;
  for (size_t j = 0; j <= b.size; ++j) rows[0][j] = static_cast<int>(j);
  for (size_t i = 1; i <= a.size; ++i) {
    const int *above = rows[(i - 1) % 3], *before = rows[(i + 1) % 3];
    int* row = rows[i % 3];
    row[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b.size; ++j) {
      const int change = above[j - 1] + (a[i - 1] != b[j - 1]),
                gap = (above[j] < row[j - 1] ? above[j] : row[j - 1]) + 1;
      row[j] = change < gap ? change : gap;
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && before[j - 2] + 1 < row[j])
        row[j] = before[j - 2] + 1;
    }
  }
  return rows[a.size % 3][b.size];
}

namespace {
Slice letters(Slice flag) {
  size_t dashes = 0;
  while (dashes < flag.size && flag[dashes] == '-') ++dashes;
  return flag.from(dashes);
}
}  // namespace

Nearest::Nearest(Slice word) : word_(letters(word)), least_(static_cast<int>((word_.size + 1) / 3) + 1) {}

bool Nearest::takes(Slice name) {
  const int edits = distance(word_, letters(name));
  if (edits >= least_) return false;
  least_ = edits;
  return true;
}

int natural_order(Slice a, Slice b) {
  size_t i = 0, j = 0;
  while (i < a.size && j < b.size) {
    if (is_digit(a[i]) && is_digit(b[j])) {
      uint64_t x = 0, y = 0;
      for (; i < a.size && is_digit(a[i]); ++i) x = x * 10 + static_cast<uint64_t>(a[i] - '0');
      for (; j < b.size && is_digit(b[j]); ++j) y = y * 10 + static_cast<uint64_t>(b[j] - '0');
      if (x != y) return x < y ? -1 : 1;
    } else if (a[i] != b[j]) {
      return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[j]) ? -1 : 1;
    } else {
      ++i, ++j;
    }
  }
  return static_cast<int>(a.size - i > 0) - static_cast<int>(b.size - j > 0);
}

}  // namespace rt::program
