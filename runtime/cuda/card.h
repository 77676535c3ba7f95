// One GPU, and which of an image's codes runs on it.
#pragma once

#include "runtime/cuda/driver.h"
#include "runtime/program.h"

namespace rt::cuda {

// A driver whose device has this name runs x86-64 libraries (architecture `host`): kernels on fibers, for tests.
inline constexpr char kEmulator[] = "cameo emulator";

struct Card {
  int32_t count = 0;  // of the machine's
  int32_t ordinal = 0, device = 0;
  int32_t capability = 0;  // 90: compute capability 9.0
  bool emulator = false;
  char name[64] = {};
};

cameo_status find_card(const Driver& driver, int32_t ordinal, Card* card, cameo_error* error);

// sm_90a: only cards of 9.0. sm_80: those of 8.x with x >= 0, the highest that fits. Then PTX, for the architecture it
// names and all later ones. Null: none fits. `refused`: what the driver did not take; the best that fits less than it.
const DeviceCode* choose_code(const Device& device, const Card& card, const DeviceCode* refused = nullptr);
cameo_status no_code(const Device& device, const Card& card, cameo_error* error);

}  // namespace rt::cuda
