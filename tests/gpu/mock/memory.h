// The mock device's memory: pages that only the driver's calls can touch, NaN bytes when fresh, a hole behind each
// allocation. Pinned memory of the host is kept apart from it.
#pragma once
#include <cstddef>
#include <map>

namespace cameo::test {

class Memory {
 public:
  enum class Kind { Device, Pinned };

  void* take(Kind kind, size_t bytes);
  bool give_back(Kind kind, void* memory, size_t* bytes);
  /// Whether all of it lies in one live allocation.
  bool holds(Kind kind, const void* memory, size_t bytes) const;
  void open() const { protect(true); }
  void close() const { protect(false); }

 private:
  struct Block {
    Kind kind;
    size_t bytes;
    char* pages;  // of a device's: what mmap gave
    size_t page_bytes;
  };
  void protect(bool accessible) const;

  std::map<char*, Block> blocks_;
};

}  // namespace cameo::test
