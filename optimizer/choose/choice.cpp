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

Choice Choice::with(std::string_view name, int64_t number) const {
  Choice c = *this;
  const auto it = std::ranges::find(c.numbers_, name, &Number::first);
  if (it != c.numbers_.end())
    it->second = number;
  else
    c.numbers_.emplace_back(name, number);
  return c;
}

Choice Choice::without(std::string_view name) const {
  Choice c = *this;
  std::erase_if(c.numbers_, [&](const Number& n) { return n.first == name; });
  return c;
}

std::string Choice::text() const {
  std::string s;
  for (const auto& [name, number] : numbers_) s += fmt::format("{}{}={}", s.empty() ? "" : " ", name, number);
  return s;
}

}  // namespace cameo
