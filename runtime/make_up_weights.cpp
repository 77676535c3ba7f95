// Weights of a benchmark that travels without them: large tensors are made up when a model is created, alike on every
// machine, of the mean and the deviation that the real ones have; what is small is in the file.
// The numbers are SplitMix64's (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", 2014).
#include "runtime/libc.h"
#include "runtime/model.h"
#include "runtime/numbers.h"

namespace rt {
namespace {

uint64_t mixed(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

void make_up(const MadeUp& tensor, uint64_t seed, char* to) {
  constexpr float kRoot3 = 1.7320508f;  // a uniform number in [-1, 1] deviates by 1 / sqrt(3)
  for (uint64_t i = 0; i < tensor.count; ++i) {
    const int64_t number = static_cast<int64_t>(mixed(seed ^ mixed(tensor.offset + i)) >> 40);  // 24 bits
    const float unit = static_cast<float>(number - (1 << 23)) / (1 << 23);
    set_number(tensor.dtype, to, static_cast<int64_t>(i), tensor.mean + tensor.deviation * kRoot3 * unit);
  }
}

}  // namespace

void make_up_weights(const Program& program, char* to) {
  const char* from = static_cast<const char*>(program.weights);
  uint64_t at = 0;
  auto copy_until = [&](uint64_t end) {
    if (end > at) libc::memcpy(to + at, from, end - at);
    from += end - at;
  };
  for (uint32_t i = 0; i < program.made_up_count; ++i) {
    const MadeUp& tensor = program.made_up[i];
    copy_until(tensor.offset);
    make_up(tensor, program.made_up_seed, to + tensor.offset);
    at = tensor.offset + tensor.count * static_cast<uint64_t>(element_bytes(tensor.dtype));
  }
  copy_until(program.weights_bytes);
}

}  // namespace rt
