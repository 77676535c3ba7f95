// Strings from C++: joined = each of s with a `!` behind it, is_b = whether it is `b`, both = the sequence of s and
// joined; row = what the map m has for `a` and `b`.
#include <cameo/cameo.hpp>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "require.h"

namespace {

using Strings = std::vector<std::string>;

void check(const cameo::Model& model) {
  require(model.inputs()[0].type() == "str[n=1..]", "the type of s");
  cameo::Context context(model);
  require(model.inputs()[1].type() == "map(str, f32[?])", "the type of m");
  const Strings s = {"a", "b", std::string("b\0c", 3)}, keys = {"b", "c"};
  const std::vector<float> values = {2.5f, 1};
  const cameo::Input m = cameo::Input::list({keys, values});
  for (int run = 0; run < 3; ++run) {
    const auto& out = context.run({s, m});
    require(out.at(0).strings() == Strings{"a!", "b!", std::string("b\0c!", 4)}, "joined");
    require(out.at(2).to_vector<float>() == std::vector<float>{0, 2.5f}, "row");
    require(out.at(3).items().at(0).strings() == s, "the first of both");
    require(out.at(3).items().at(1).strings() == out.at(0).strings(), "the second of both");
    const bool* is_b = out.at(1).data<bool>();
    require(!is_b[0] && is_b[1] && !is_b[2], "is_b");
    require(out.at(1).to_vector<bool>() == std::vector<bool>{false, true, false}, "a vector of bools");
  }
  require(context.run({{s, {3}}, m}).at(0).shape() == std::vector<int64_t>{3}, "the shape of joined");
  try {
    context.run({std::vector<float>{1, 2}, m});
  } catch (const cameo::Error& e) { return require(e.code == CAMEO_INVALID_ARGUMENT, "why it is refused"); }
  require(false, "numbers are no strings");
}

}  // namespace

int main(int, char** arguments) {
  try {
    check(cameo::Model(arguments[1]));
  } catch (const std::exception& e) { return std::fprintf(stderr, "%s\n", e.what()), 1; }
  return 0;
}
