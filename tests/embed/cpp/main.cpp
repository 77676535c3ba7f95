// A model from C++: the one that is linked in and the one that is loaded answer alike, into memory of the caller's and
// of the context's, and what does not fit is an exception with a sentence.
#include <algorithm>
#include <array>
#include <cameo/cameo.hpp>
#include <cstdio>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "digits.h"
#include "require.h"

extern "C" unsigned long allocations(void);  // count_malloc.c

namespace {

std::vector<float> read_picture(const char* path) {
  std::ifstream file(path);
  std::string magic;
  int width = 0, height = 0, most = 1, grey;
  file >> magic >> width >> height >> most;
  std::vector<float> pixels;
  while (file >> grey) pixels.push_back(static_cast<float>(grey) / static_cast<float>(most));
  return pixels;
}

void check_refusals(cameo::Context& context, std::vector<float> pixels) {
  const std::vector<double> doubles(pixels.begin(), pixels.end());
  require_refused(CAMEO_INVALID_ARGUMENT, "f64", [&] { context.run({doubles}); });
  require_refused(CAMEO_INVALID_ARGUMENT, "2 inputs given", [&] { context.run({pixels, pixels}); });
  require_refused(CAMEO_INVALID_ARGUMENT, "rank 2", [&] { context.run({{pixels, {1, 64}}}); });
  require_refused(CAMEO_INVALID_ARGUMENT, "overlaps", [&] { context.run({pixels}, {{pixels.data(), 10}}); });
  require_refused(CAMEO_NOT_FOUND, "`image`", [&] { context.model().input_index("picture"); });
  require_refused(CAMEO_NOT_FOUND, "cannot load", [] { cameo::Model("no_such_model.so"); });
  require_refused(CAMEO_INVALID_ARGUMENT, "read as i32", [&] { context.run({pixels}).at(0).data<int32_t>(); });
  pixels.pop_back();
  require_refused(CAMEO_INVALID_ARGUMENT, "63 elements", [&] { context.run({pixels}); });
}

void check_allocations(cameo::Context& context, const std::vector<float>& pixels) {
  std::array<float, 10> mine{};
  context.run({pixels});  // a first one, which makes room for the results
  const unsigned long before = allocations();
  for (int i = 0; i < 100; ++i) {
    context.run({pixels}, {mine});
    context.run({{pixels.data(), {1, 1, 8, 8}}}, {{mine.data(), mine.size()}});
    context.run({pixels});
  }
  require(allocations() == before, "runs allocate nothing");
}

void check_moved(cameo::Model model, const std::vector<float>& pixels) {
  std::array<float, 10> mine{};
  cameo::Context context(model);
  cameo::Context other(std::move(context)), third(model);
  third = std::move(other);
  third.run({pixels}, {mine});
  for (cameo::Context* empty : {&context, &other}) {  // NOLINT: what they do is the point
    require_refused(CAMEO_FAILED_PRECONDITION, "the context was moved from", [&] { empty->run({pixels}, {mine}); });
    require_refused(CAMEO_FAILED_PRECONDITION, "the context was moved from", [&] { empty->run({pixels}); });
    require_refused(CAMEO_FAILED_PRECONDITION, "the context was moved from", [&] { empty->prepare({pixels}); });
    require_refused(CAMEO_FAILED_PRECONDITION, "the context was moved from", [&] { empty->bind_state("a", "b"); });
    require(empty->run(nullptr, 0, nullptr, 0, nullptr) == CAMEO_FAILED_PRECONDITION, "a status, too");
    empty->cancel();
  }
  const cameo::Model taken(std::move(model));
  require_refused(CAMEO_FAILED_PRECONDITION, "the model was moved from", [&] { model.inputs(); });
  require_refused(CAMEO_FAILED_PRECONDITION, "the model was moved from", [&] { cameo::Context{model}; });
  require_refused(CAMEO_INVALID_ARGUMENT, "is null", [] { cameo::Model(cameo_get_api(nullptr)); });
}

}  // namespace

int main(int argc, char** argv) try {
  require(argc == 3, "usage: main PICTURE.pgm MODEL.so");
  const std::vector<float> pixels = read_picture(argv[1]);

  cameo::Model linked(digits_api);
  cameo::Context context(linked);
  const std::vector<float> scores = context.run({pixels}).at(0).to_vector<float>();
  const auto digit = std::max_element(scores.begin(), scores.end()) - scores.begin();
  std::printf("%s -> %s: the digit is a %d\n", linked.inputs()[0].type().c_str(), linked.outputs()[0].type().c_str(),
              static_cast<int>(digit));

  std::array<float, 10> again{};
  cameo::Context moved = std::move(context);
  {
    const cameo::Model loaded(std::string(argv[2]), cameo::Options(2));
    moved = cameo::Context(loaded);  // keeps the library loaded
  }
  moved.run({{pixels.data(), {1, 1, 8, 8}}}, {again});
  require(std::equal(scores.begin(), scores.end(), again.begin()), "linked and loaded answer alike");

  std::thread other([&] { cameo::Context(linked).run({pixels}, {again}); });
  other.join();
  require(std::equal(scores.begin(), scores.end(), again.begin()), "another thread has a context of its own");

  for (const cameo::Check& check : moved.model().selftest()) require(check.passed, "golden cases pass");
  require(moved.run({pixels}).at(0).shape() == std::vector<int64_t>{1, 10}, "the shape of the output");
  check_refusals(moved, pixels);
  check_allocations(moved, pixels);
  check_moved(linked, pixels);
  return digit == 3 ? 0 : 1;
} catch (const std::exception& e) { return std::fprintf(stderr, "%s\n", e.what()), 1; }
