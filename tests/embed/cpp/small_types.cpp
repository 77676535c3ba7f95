// Elements of 8 and 4 bits from C++: codes = x / 0.5 as f8e4m3fn, nibbles = the same as i4, of which two share a byte,
// and y = w * 0.5 of an i4.
#include <cameo/cameo.hpp>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "require.h"

namespace {

using Bytes = std::vector<uint8_t>;

void check(const cameo::Model& model) {
  require(model.inputs()[1].type() == "i4[n=1..,5]", "the type of w");
  require(model.outputs()[0].type() == "f8e4m3fn[n=1..,7]", "the type of codes");
  cameo::Context context(model);
  const std::vector<float> x = {0, 0.5f, -1, 224, 0.25f, 3, -4};
  const Bytes w = {0x78, 0x1f, 0x00};  // -8, 7, -1, 1, 0
  const auto out = context.run({{x, {1, 7}}, {w.data(), {1, 5}, cameo::kInt4}});
  const cameo::Float8E4M3FN* codes = out.at(0).data<cameo::Float8E4M3FN>();
  const Bytes wanted = {0x00, 0x38, 0xc0, 0x7e, 0x30, 0x4c, 0xd0};
  for (size_t i = 0; i < wanted.size(); ++i) require(codes[i].bits == wanted[i], "a code");
  const Bytes nibbles(out.at(1).bytes(), out.at(1).bytes() + out.at(1).byte_count());
  require(nibbles == Bytes{0x10, 0x7e, 0x60, 0x08}, "nibbles");  // 0, 1, -2, 7, 0, 6, -8
  require(out.at(2).to_vector<float>() == std::vector<float>{-4, 3.5f, -0.5f, 0.5f, 0}, "y");

  Bytes place(4);
  context.run({{x, {1, 7}}, {w.data(), {1, 5}, cameo::kInt4}}, {{}, {place.data(), {1, 7}, cameo::kInt4}, {}});
  require(place == nibbles, "nibbles in place");
  try {
    context.run({{x, {1, 7}}, {w.data(), {1, 5}, cameo::kUint4}});
  } catch (const cameo::Error& e) { return require(e.code == CAMEO_INVALID_ARGUMENT, "why it is refused"); }
  require(false, "u4 is no i4");
}

}  // namespace

int main(int argc, char** argv) {
  try {
    require(argc == 2, "usage: small_types MODEL.so");
    check(cameo::Model(argv[1]));
    return 0;
  } catch (const std::exception& e) { return std::fprintf(stderr, "%s\n", e.what()), 1; }
}
