// See content_hash.h.
#include "codegen/build/content_hash.h"

#include <fmt/format.h>
#include <llvm/Support/xxhash.h>

namespace cameo {

std::string content_hash(std::span<const std::byte> bytes) {
  const llvm::XXH128_hash_t hash =
      llvm::xxh3_128bits(llvm::ArrayRef(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()));
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace cameo
