// A model whose weights are in a file, from C++: found beside the library, named by its path, and not there.
#include <cameo/cameo.hpp>
#include <cstdio>
#include <string>

#include "require.h"

namespace {

bool passes(const cameo::Model& model, const cameo::Options& options) {
  bool all = true;
  for (const cameo::Check& check : model.selftest(options)) all = all && check.passed;
  return all;
}

}  // namespace

int main(int argc, char** argv) try {
  require(argc == 3, "usage: weights MODEL.so FILE.weights");
  const std::string library = argv[1];
  require(passes(cameo::Model(library), cameo::Options()), "found beside the library");
  const cameo::Options named = cameo::Options(1).weights(argv[2]);
  require(passes(cameo::Model(library, named), named), "named by its path");
  try {
    const cameo::Model model(library, cameo::Options().weights("moved.weights"));
    require(false, "it is not there");
  } catch (const cameo::Error& e) {
    require(e.code == CAMEO_DATA_LOSS && std::string(e.what()).find("`moved.weights`") != std::string::npos, e.what());
  }
  return 0;
} catch (const std::exception& e) { return std::fprintf(stderr, "%s\n", e.what()), 1; }
