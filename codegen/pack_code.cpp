// See pack_code.h. The block format alone: the table says how long the code is.
#include "codegen/pack_code.h"

#include <lz4hc.h>

#include "frontend/ir/check.h"

namespace cameo {

std::string pack_code(std::string_view bytes) {
  CAMEO_CHECK(!bytes.empty() && bytes.size() <= LZ4_MAX_INPUT_SIZE, "code that LZ4 takes");
  std::string packed(static_cast<size_t>(LZ4_compressBound(static_cast<int>(bytes.size()))), '\0');
  const int size = LZ4_compress_HC(bytes.data(), packed.data(), static_cast<int>(bytes.size()),
                                   static_cast<int>(packed.size()), LZ4HC_CLEVEL_MAX);
  CAMEO_CHECK(size > 0, "LZ4 packs into the room that it asks for");
  packed.resize(static_cast<size_t>(size));
  return packed;
}

}  // namespace cameo
