// See string_codes.h.
#include "frontend/ir/string_codes.h"

#include <deque>
#include <mutex>
#include <string>
#include <unordered_map>

#include "frontend/ir/check.h"

namespace cameo {
namespace {

struct TextPool {
  std::mutex mutex;
  std::deque<std::string> texts{""};
  std::unordered_map<std::string_view, int64_t> codes{{"", 0}};
};
TextPool& text_pool() {
  static TextPool p;
  return p;
}

}  // namespace

int64_t code_of(std::string_view text) {
  TextPool& p = text_pool();
  const std::lock_guard lock(p.mutex);
  if (const auto it = p.codes.find(text); it != p.codes.end()) return it->second;
  const auto code = static_cast<int64_t>(p.texts.size());
  p.codes.emplace(p.texts.emplace_back(text), code);
  return code;
}

std::string_view text_of(int64_t code) {
  TextPool& p = text_pool();
  const std::lock_guard lock(p.mutex);
  CAMEO_CHECK(code >= 0 && code < static_cast<int64_t>(p.texts.size()), "the code of a string");
  return p.texts[static_cast<size_t>(code)];
}

}  // namespace cameo
