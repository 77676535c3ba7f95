// 128 bits that stand for bytes: equal bytes, equal text. For cache keys, not against an adversary.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace cameo {

std::string content_hash(std::span<const std::byte> bytes);  // 32 hexadecimal digits

}  // namespace cameo
