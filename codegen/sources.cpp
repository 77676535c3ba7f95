// Names may hold any bytes; here they become harmless text.
#include "codegen/sources.h"

#include <fmt/format.h>

namespace cameo {

std::string comment_safe(std::string_view name) {
  std::string s;
  for (unsigned char c : name) {
    bool safe = c >= 0x20 && c < 0x7f && c != '\\' && c != '?' && !(c == '/' && !s.empty() && s.back() == '*') &&
                !(c == '*' && !s.empty() && s.back() == '/');
    s += safe ? std::string(1, static_cast<char>(c)) : fmt::format("<{:02x}>", c);
  }
  return s;
}

std::string string_literal(std::string_view bytes) {
  std::string s = "\"";
  for (unsigned char c : bytes) {
    bool plain = c >= 0x20 && c < 0x7f && c != '"' && c != '\\' && c != '?';
    s += plain ? std::string(1, static_cast<char>(c)) : fmt::format("\\{:03o}", c);
  }
  return s + "\"";
}

}  // namespace cameo
