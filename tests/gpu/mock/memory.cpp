// A device's block stands at the end of its pages, 256-byte aligned as the driver's are; the page behind stays closed.
#include "tests/gpu/mock/memory.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

namespace cameo::test {
namespace {

constexpr size_t kPage = 4096, kAlignment = 256;

size_t round_up(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }

}  // namespace

void* Memory::take(Kind kind, size_t bytes) {
  const size_t aligned = round_up(bytes, kAlignment), inner = round_up(aligned, kPage);
  if (kind == Kind::Pinned) {
    char* block = static_cast<char*>(std::aligned_alloc(kAlignment, aligned));
    std::memset(block, 0xff, aligned);
    blocks_[block] = {kind, bytes, nullptr, 0};
    return block;
  }
  void* pages = mmap(nullptr, inner + kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return nullptr;
  char* block = static_cast<char*>(pages) + inner - aligned;
  blocks_[block] = {kind, bytes, static_cast<char*>(pages), inner};
  mprotect(pages, inner, PROT_READ | PROT_WRITE);
  std::memset(block, 0xff, aligned);
  return block;
}

bool Memory::give_back(Kind kind, void* memory, size_t* bytes) {
  const auto it = blocks_.find(static_cast<char*>(memory));
  if (it == blocks_.end() || it->second.kind != kind) return false;
  *bytes = it->second.bytes;
  if (kind == Kind::Pinned)
    std::free(memory);
  else
    munmap(it->second.pages, it->second.page_bytes + kPage);
  blocks_.erase(it);
  return true;
}

bool Memory::holds(Kind kind, const void* memory, size_t bytes) const {
  const char* begin = static_cast<const char*>(memory);
  auto it = blocks_.upper_bound(const_cast<char*>(begin));
  if (it == blocks_.begin()) return false;
  --it;
  // the padding up to the alignment is there too
  return it->second.kind == kind && begin + bytes <= it->first + round_up(it->second.bytes, kAlignment);
}

void Memory::protect(bool accessible) const {
  for (const auto& [block, b] : blocks_)
    if (b.kind == Kind::Device) mprotect(b.pages, b.page_bytes, accessible ? PROT_READ | PROT_WRITE : PROT_NONE);
}

}  // namespace cameo::test
