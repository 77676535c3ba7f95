// Choice: what a kernel family decided of a kernel, as named numbers: `rows=8 vectors=3 lanes=16`. The text is what the
// printed plan shows, what equal kernels are merged by and what a lock of choices stores.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cameo {

class Choice {
 public:
  using Number = std::pair<std::string, int64_t>;
  Choice() = default;
  Choice(std::initializer_list<Number> numbers) : numbers_(numbers) {}

  /// A number that the family always gives; another name is an internal error.
  int64_t operator[](std::string_view name) const;
  /// Or `none`, where not every family gives it.
  int64_t get(std::string_view name, int64_t none) const;
  /// The same, with this number in place of the one of that name, or behind all others; without it.
  Choice with(std::string_view name, int64_t number) const;
  Choice without(std::string_view name) const;
  std::string text() const;
  bool operator==(const Choice&) const = default;

 private:
  std::vector<Number> numbers_;
};

}  // namespace cameo
