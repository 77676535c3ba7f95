// Text and memory of the artifact's program: a bump arena that is freed at the end, slices, a growing text, numbers,
// JSON.
#pragma once

#include "runtime/libc.h"

namespace rt::program {

class Arena {  // what does not fit ends the program with exit code 9
 public:
  Arena() = default;
  Arena(const Arena&) = delete;
  ~Arena();
  void* take(uint64_t bytes, uint64_t alignment = 64);
  template <class T>
  T* array(uint64_t count) {
    T* items = static_cast<T*>(take(count * sizeof(T)));
    for (uint64_t i = 0; i < count; ++i) items[i] = T{};
    return items;
  }

 private:
  struct Block {
    Block* next;
  };
  Block* blocks_ = nullptr;
  char* at_ = nullptr;
  uint64_t left_ = 0;
};

struct Slice {
  const char* data = "";
  size_t size = 0;
  Slice() = default;
  Slice(const char* text) : data(text), size(text ? libc::strlen(text) : 0) {}  // NOLINT: like a literal
  Slice(const char* text, size_t bytes) : data(text), size(bytes) {}
  char operator[](size_t i) const { return data[i]; }
  Slice from(size_t begin) const { return {data + begin, size - begin}; }
  Slice upto(size_t end) const { return {data, end}; }
  Slice part(size_t begin, size_t end) const { return {data + begin, end - begin}; }
  bool starts_with(Slice prefix) const;
  bool ends_with(Slice suffix) const;
  size_t find(char c, size_t begin = 0) const;  // size where there is none
  bool empty() const { return size == 0; }
};
bool operator==(Slice a, Slice b);
inline int width(Slice s) { return s.size < 100000 ? static_cast<int>(s.size) : 100000; }  // for "%.*s"

class Text {
 public:
  explicit Text(Arena& arena) : arena_(&arena) {}
  void add(Slice text);
  void add(const char* text);  // shorter to call
  void add(char c) { add(Slice(&c, 1)); }
  void format(const char* format, ...) __attribute__((format(printf, 2, 3)));
  void vformat(const char* format, __builtin_va_list args);
  void json(Slice text);     // in quotes, escaped; bytes that are not UTF-8 become U+FFFD
  void json(double number);  // null where it is not finite
  void plain(Slice text);    // as printable.h has it
  Slice slice() const { return {data_, size_}; }
  const char* c_str();
  void clear() { size_ = 0; }

 private:
  void reserve(size_t more);
  Arena* arena_;
  char* data_ = nullptr;
  size_t size_ = 0, capacity_ = 0;
};

bool is_printable(Slice text);                   // all of it, as it stands
bool parse_digits(Slice text, uint64_t* value);  // and nothing else
bool parse_integer(Slice text, int64_t* value);
bool parse_number(Slice text, double* value);  // decimal, `inf`, `nan`, with a sign
int distance(Slice a, Slice b);                // letters changed, left out, added, or swapped with the next one
int natural_order(Slice a, Slice b);           // like strcmp, but `x_2` before `x_10`

// Which of many names was meant by a word that is none of them: the nearest one, if at most a third of the word's
// letters are wrong.
class Nearest {
 public:
  explicit Nearest(Slice word);
  bool takes(Slice name);  // it is nearer than all before

 private:
  Slice word_;
  int least_;  // so many edits are too many
};

}  // namespace rt::program
