// Sequences, optionals and maps from C++: joined = the elements of the sequence s, one after the other, same = s; row =
// the values of the map m for 5 and 7, maps = [{1: .., 2: ..}] of that; has and kept: of the optional o.
#include <cameo/cameo.hpp>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using Floats = std::vector<float>;

void require(bool condition, const char* what) {
  if (!condition) throw std::runtime_error(std::string("not so: ") + what);
}

void check(const cameo::Model& model) {
  require(model.inputs()[0].type() == "sequence(f32[?])", "the type of s");
  require(model.inputs()[1].type() == "map(i64, f32[?])", "the type of m");
  require(model.outputs()[3].type() == "sequence(map(i64, f32[2]))", "the type of maps");
  cameo::Context context(model);
  const Floats a = {1, 2}, b = {3}, values = {0.5f, 9}, pair = {8, 9};
  const std::vector<int64_t> keys = {7, 3};
  const cameo::Input s = cameo::Input::list({a, b}), m = cameo::Input::list({keys, values});
  for (const bool given : {true, false}) {
    const cameo::Input o = given ? cameo::Input::list({pair}) : cameo::Input::list({});
    const auto out = context.run({s, m, o});
    require(out.at(0).to_vector<float>() == Floats{1, 2, 3}, "joined");
    require(out.at(1).items().size() == 2 && out[1].items()[0].to_vector<float>() == a, "same");
    require(out.at(2).to_vector<float>() == Floats{0, 0.5f}, "row");
    const cameo::Tensor& map = out.at(3).items().at(0);
    require(map.items().at(0).to_vector<int64_t>() == std::vector<int64_t>{1, 2}, "keys");
    require(map.items().at(1).to_vector<float>() == Floats{0, 0.5f}, "values");
    require(out.at(4).data<bool>()[0] == given, "has");
    require(out.at(5).items().size() == (given ? 1u : 0u), "kept");
  }
  try {
    context.run({a, m, s});
  } catch (const cameo::Error& e) { return require(e.code == CAMEO_INVALID_ARGUMENT, "why it is refused"); }
  require(false, "a tensor is no sequence");
}

}  // namespace

int main(int argc, char** argv) {
  try {
    require(argc == 2, "usage: lists MODEL.so");
    check(cameo::Model(argv[1]));
    return 0;
  } catch (const std::exception& e) { return std::fprintf(stderr, "%s\n", e.what()), 1; }
}
