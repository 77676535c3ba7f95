// See choice.h.
#include "optimizer/choose/choice.h"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/ir/check.h"

namespace cameo {

int64_t Choice::operator[](std::string_view name) const {
  const auto it = std::ranges::find(numbers_, name, &Number::first);
  CAMEO_CHECK(it != numbers_.end(), "a number of the choice");
  return it->second;
}

int64_t Choice::get(std::string_view name, int64_t none) const {
  const auto it = std::ranges::find(numbers_, name, &Number::first);
  return it == numbers_.end() ? none : it->second;
}

std::string Choice::text() const {
  std::string s;
  for (const auto& [name, number] : numbers_) s += fmt::format("{}{}={}", s.empty() ? "" : " ", name, number);
  return s;
}

}  // namespace cameo
