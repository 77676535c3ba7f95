// Outputs whose size the run computes, from C++: rows = where x[3, 5] is not zero, kept = its elements where c says so.
// They are written into memory that has room for them.
#include <cameo/cameo.hpp>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "require.h"

namespace {

using Shape = std::vector<int64_t>;

void check(cameo::Context& context) {
  std::vector<int64_t> rows(2 * 9);
  std::vector<float> kept(9);
  for (const size_t count : {size_t{4}, size_t{9}, size_t{0}, size_t{10}, size_t{2}}) {
    std::vector<float> x(15);
    bool c[15] = {};
    for (size_t i = 0; i < count; ++i) x[i] = static_cast<float>(i + 1), c[i] = true;
    const auto n = static_cast<int64_t>(count);
    try {
      context.run({x, {c, 15}}, {{rows.data(), {9, 2}}, kept});
    } catch (const cameo::Error& e) {
      require(count == 10 && e.code == CAMEO_TOO_SMALL && e.arg == 0, "what is refused");
      require(context.output(0).shape() == Shape{n, 2}, "what there must be room for");
      continue;
    }
    require(count < 10, "ten do not fit");
    require(context.output(0).shape() == Shape{n, 2} && context.output(1).shape() == Shape{n}, "the shapes");
    require(context.output(1).data<float>() == kept.data(), "the memory");
    for (size_t i = 0; i < count; ++i)
      require(kept[i] == x[i] && rows[2 * i] * 5 + rows[2 * i + 1] == static_cast<int64_t>(i), "the elements");
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    require(argc == 2, "usage: found MODEL.so");
    cameo::Context context{cameo::Model(argv[1])};
    check(context);
    return 0;
  } catch (const std::exception& e) { return std::fprintf(stderr, "%s\n", e.what()), 1; }
}
