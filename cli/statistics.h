// What times of rounds say.
#pragma once
#include <cmath>
#include <string>
#include <vector>

namespace cameo {

/// The geometric mean of the ratios of rounds, and where it lies with a confidence of 95% (Student's t of their
/// logarithms). Of one round there is no interval.
struct RatioInterval {
  double mean = 1, low = 0, high = HUGE_VAL;
};
RatioInterval interval_of(const std::vector<double>& ratios);

/// Of an even number of values the mean of the two in the middle; of none there is none.
double median(std::vector<double> values);
std::string time_text(double ns);

}  // namespace cameo
