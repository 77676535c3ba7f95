// See statistics.h.
#include "cli/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace cameo {

RatioInterval interval_of(const std::vector<double>& ratios) {
  constexpr double kQuantiles[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228};
  const double count = static_cast<double>(ratios.size());
  double sum = 0, squares = 0;
  for (double r : ratios) sum += std::log(r);
  const double mean = sum / count;
  for (double r : ratios) squares += (std::log(r) - mean) * (std::log(r) - mean);
  if (ratios.size() < 2) return {std::exp(mean)};
  const size_t freedom = ratios.size() - 1;
  const double t =
      freedom <= std::size(kQuantiles) ? kQuantiles[freedom - 1] : 1.96 + 2.6 / static_cast<double>(freedom);
  const double half = t * std::sqrt(squares / (count - 1) / count);
  return {std::exp(mean), std::exp(mean - half), std::exp(mean + half)};
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  if (values.size() % 2) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

std::string time_text(double ns) {
  return ns < 1e4   ? fmt::format("{:.0f} ns", ns)
         : ns < 1e7 ? fmt::format("{:.2f} us", ns / 1e3)
                    : fmt::format("{:.2f} ms", ns / 1e6);
}

}  // namespace cameo
