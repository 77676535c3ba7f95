// A model with a state that grows, from C++: present[batch, past + 1] is `past` with x[batch, 1] behind it,
// total[batch] its sums.
#include <cameo/cameo.hpp>
#include <cstdio>
#include <string>
#include <vector>

#include "require.h"

namespace {

std::vector<float> step(cameo::Context& context, std::vector<float> x) {
  return context.run({{}, {x.data(), {static_cast<int64_t>(x.size()), 1}}}).at(1).to_vector<float>();
}

void check_bound(cameo::Context& context) {
  try {
    step(context, {1, 1});
  } catch (const cameo::Error& e) {
    return require(std::string(e.what()).find("input 0 `past` has 5 in dim 1 (past), which the model was built for") !=
                       std::string::npos,
                   "the bound of the state");
  }
  require(false, "a state at its bound is refused");
}

}  // namespace

int main(int argc, char** argv) try {
  require(argc == 2, "usage: growing MODEL.so");
  const cameo::Model model{std::string(argv[1])};
  cameo::Context context(model);
  context.bind_state("present", "past");
  for (float number : {1.f, 2.f, 3.f, 4.f, 5.f})
    require(step(context, {number, 10}) == std::vector<float>{number * (number + 1) / 2, number * 10}, "the sums");
  check_bound(context);
  check_bound(context);
  context.reset_state();
  require(step(context, {7}) == std::vector<float>{7}, "one row, after the reset");
  require(step(context, {8}) == std::vector<float>{15}, "a second step");
  std::vector<float> past = {20, 30}, x = {1};
  context.run({{past.data(), {1, 2}}, {x.data(), {1, 1}}});
  require(step(context, {2}) == std::vector<float>{53}, "begun with a tensor");
  return 0;
} catch (const std::exception& e) { return std::fprintf(stderr, "%s\n", e.what()), 1; }
