// A model that leaves sizes to its runs, from C++: y[batch, n] = x * x + b[n], and the same without its axes. Each run
// has the sizes of its inputs.
#include <cameo/cameo.hpp>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "require.h"

namespace {

using Shape = std::vector<int64_t>;

void check_declaration(const cameo::Model& model) {
  const cameo::Io& x = model.inputs()[0];
  require(x.dims == Shape{-1, -1} && x.dim_min == Shape{1, 1} && x.dim_max == Shape{4, 5}, "the bounds of x");
  require(x.dim_names == std::vector<std::string>{"batch", "n"}, "the names of x's dims");
  require(x.type() == "f32[batch=1..4,n=1..5]", "the type of x");
  require(!x.is_fixed() && model.outputs()[1].dim_max == Shape{20}, "the bound of what is computed");
}

void check_runs(cameo::Context& context) {
  std::vector<float> x = {1, 2, 3, 4, 5, 6}, b = {0, 1, 2}, flat(6);
  const cameo::Tensor y = context.run({{x, {2, 3}}, b}).at(0);
  require(y.shape() == Shape{2, 3} && y.to_vector<float>() == std::vector<float>{1, 5, 11, 16, 26, 38},
          "two rows of 3");
  context.run({{x.data(), {3, 2}}, {b.data(), 2}}, {{}, flat});
  require(flat == std::vector<float>{1, 5, 9, 17, 25, 37}, "three rows of 2, into the caller's memory");
  context.run({{x.data(), {3, 2}}, {b.data(), 2}}, {{flat.data(), {3, 2}}, {}});
  require(flat[5] == 37, "with a shape");
  require(context.output(0).shape() == Shape{3, 2} && context.output(0).to_vector<float>() == flat, "what came there");
  cameo::Context moved(std::move(context));
  require(moved.output(0).shape() == Shape{3, 2}, "and stays in the context");
  context = std::move(moved);
  require(context.output_shapes({{x.data(), {3, 1}}, {b.data(), 1}}) == std::vector<Shape>{{3, 1}, {3}},
          "without a run");
  using Runs = std::vector<std::pair<std::string, uint64_t>>;
  require(context.runs_of_plans() == Runs{{"", 2}, {"batch=2, n=3", 1}}, "a plan of its own for two rows of 3");
}

void check_refusals(cameo::Context& context) {
  std::vector<float> x(40), b(5), wrong(7);
  require_refused("input 0 `x` is f32[batch=1..4,n=1..5], which 40 elements do not make; give a shape",
                  [&] { context.run({x, b}); });
  require_refused("has 8 in dim 0 (batch), which the model was built for 1 to 4",
                  [&] { context.run({{x, {8, 5}}, b}); });
  require_refused("input 1 `b` has 5 in dim 0 (n), but input 0 `x` has 4",
                  [&] { context.run({{x.data(), {2, 4}}, b}); });
  require_refused("output 0 `y` overlaps input 0 `x`; give it a copy, or bind a state",
                  [&] { context.run({context.run({{x.data(), {4, 5}}, b}).at(0).raw(), b}); });
  require_refused("output 1 `flat` has 7 in dim 0, which is 10 in this run",
                  [&] { context.run({{x.data(), {2, 5}}, b}, {{}, wrong}); });
}

}  // namespace

int main(int argc, char** argv) try {
  require(argc == 2, "usage: sized MODEL.so");
  const cameo::Model model{std::string(argv[1])};
  cameo::Context context(model);
  check_declaration(model);
  check_runs(context);
  check_refusals(context);
  return 0;
} catch (const std::exception& e) { return std::fprintf(stderr, "%s\n", e.what()), 1; }
