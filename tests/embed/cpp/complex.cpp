// Complex numbers from C++: y = x transposed, of std::complex<float>, and w = z twice, of std::complex<double>.
#include <cameo/cameo.hpp>
#include <complex>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "require.h"

namespace {

using Narrow = std::vector<std::complex<float>>;
using Wide = std::vector<std::complex<double>>;

void check(const cameo::Model& model) {
  require(model.inputs()[0].type() == "c64[n=1..,3]", "the type of x");
  require(model.outputs()[1].type() == "c128[4]", "the type of w");
  cameo::Context context(model);
  const Narrow x = {{1, 2}, {3, -4}, {0, 5}, {-1, 0}, {2, 2}, {7, 8}};
  const Wide z = {{0.1, -1e300}, {1, 0}};
  const auto out = context.run({{x, {2, 3}}, z});
  require(out.at(0).to_vector<std::complex<float>>() == Narrow{x[0], x[3], x[1], x[4], x[2], x[5]}, "y");
  require(out.at(1).to_vector<std::complex<double>>() == Wide{z[0], z[1], z[0], z[1]}, "w");
  Wide place(4);
  context.run({{x, {2, 3}}, z}, {{}, place});
  require(place == Wide{z[0], z[1], z[0], z[1]}, "w in place");
  try {
    context.run({{std::vector<double>(6), {2, 3}}, z});
  } catch (const cameo::Error& e) { return require(e.code == CAMEO_INVALID_ARGUMENT, "why it is refused"); }
  require(false, "f64 is no c64");
}

}  // namespace

int main(int argc, char** argv) {
  try {
    require(argc == 2, "usage: complex MODEL.so");
    check(cameo::Model(argv[1]));
    return 0;
  } catch (const std::exception& e) { return std::fprintf(stderr, "%s\n", e.what()), 1; }
}
