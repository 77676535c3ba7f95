// Sequences, optionals and maps from C++: joined = the elements of the sequence s, one after the other, same = s; row =
// the values of the map m for 5 and 7, maps = [{1: .., 2: ..}] of that; has and kept: of the optional o.
#include <cameo/cameo.hpp>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "require.h"

namespace {

using Floats = std::vector<float>;

// Elements whose size is more than a number of 64 bits holds.
void check_sizes(cameo::Context& context, const cameo::Input& m) {
  float one = 1;
  for (const int64_t dim : {int64_t{1} << 62, int64_t{1} << 40, INT64_MAX})
    require_refused("larger than any tensor",
                    [&] { context.run({cameo::Input::list({cameo::Input(&one, {dim})}), m, cameo::Input::list({})}); });
}

// What a run hands out is the context's, which the next run fills anew.
void check_own_memory(cameo::Context& context, const Floats& a, const cameo::Input& m) {
  const cameo::Input s = cameo::Input::list({a, a}), none = cameo::Input::list({});
  const auto first = [&] { return cameo::Input(context.run({s, m, none}).at(1).items().at(0).raw()); };
  require_refused("input 0 `s`: what the run before handed out; copy it",
                  [&] { context.run({cameo::Input::list({a, first()}), m, none}); });
  require_refused("input 2 `o`: what the run before handed out; copy it",
                  [&] { context.run({s, m, cameo::Input::list({first()})}); });
  const cameo::Tensor joined = context.run({s, m, none}).at(0);  // lists are copied before anything is written
  const Floats before = joined.to_vector<float>();
  const auto& out = context.run({cameo::Input::list({joined.raw(), a}), m, none});
  require(out.at(1).items().at(0).to_vector<float>() == before, "a tensor of the run before in a list");
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
  require_refused("the model declares sequence(f32[?])", [&] { context.run({a, m, s}); });
  require_refused("input 0 has a list where the model declares f32[?]",
                  [&] { context.run({cameo::Input::list({cameo::Input::list({a})}), m, s}); });
  require_refused("input 1 has a list where the model declares i64[?]",
                  [&] { context.run({s, cameo::Input::list({cameo::Input::list({keys}), values}), s}); });
  check_sizes(context, m);
  check_own_memory(context, a, m);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    require(argc == 2, "usage: lists MODEL.so");
    check(cameo::Model(argv[1]));
    return 0;
  } catch (const std::exception& e) { return std::fprintf(stderr, "%s\n", e.what()), 1; }
}
