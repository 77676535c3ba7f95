// Our own mistakes: an assertion that stays in release builds, says that it is our bug, and names what was expected.
#pragma once
#include <string>

namespace cameo {
[[noreturn]] void internal_error(const std::string& what);
[[noreturn]] void internal_error(const char* file, int line, const char* condition, const char* expected);
}  // namespace cameo
#define CAMEO_CHECK(condition, expected) \
  ((condition) ? void() : ::cameo::internal_error(__FILE__, __LINE__, #condition, expected))
