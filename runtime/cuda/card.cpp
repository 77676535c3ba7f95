// A code's fitness is a number: 0 where it does not run, and the larger the better.
#include "runtime/cuda/card.h"

#include "runtime/cuda/unpack.h"
#include "runtime/libc.h"

namespace rt::cuda {
namespace {

bool begins(const char* text, const char* prefix) {
  while (*prefix)
    if (*text++ != *prefix++) return false;
  return true;
}

int32_t number_after(const char*& text, const char* prefix) {  // -1: it does not begin so
  if (!begins(text, prefix)) return -1;
  int32_t value = 0;
  for (text += libc::strlen(prefix); *text >= '0' && *text <= '9'; ++text) value = value * 10 + (*text - '0');
  return value;
}

int32_t ptx_target(const DeviceCode& code) {  // of `.target sm_80`, which stands at its beginning
  char head[256] = {};
  unpack(code, head, sizeof head - 1);
  for (const char* text = head; *text; ++text)
    if (*text == '.')
      if (const int32_t target = number_after(text, ".target sm_"); target >= 0) return target;
  return 0;
}

int32_t fitness(const DeviceCode& code, const Card& card) {
  const char* rest = code.architecture;
  if (begins(rest, "host") || card.emulator) return begins(rest, "host") && card.emulator;
  if (begins(rest, "ptx")) return ptx_target(code) <= card.capability;
  const int32_t architecture = number_after(rest, "sm_");
  const bool same_major = architecture / 10 == card.capability / 10;
  if (*rest) return architecture == card.capability ? 2 * architecture + 1 : 0;
  return same_major && architecture <= card.capability ? 2 * architecture : 0;
}

}  // namespace

cameo_status find_card(const Driver& driver, int32_t ordinal, Card* card, cameo_error* error) {
  int32_t major = 0, minor = 0;
  Calls calls(driver, error);
  calls(driver.cuDeviceGetCount, &card->count);
  if (!calls.status() && (ordinal < 0 || ordinal >= card->count))
    return fail(error, CAMEO_UNAVAILABLE, -1, -1, "there is no GPU %d; this machine has %d, counted from 0", ordinal,
                card->count);
  card->ordinal = ordinal;
  calls(driver.cuDeviceGet, &card->device, ordinal);
  calls(driver.cuDeviceGetName, card->name, static_cast<int32_t>(sizeof card->name), card->device);
  calls(driver.cuDeviceGetAttribute, &major, kComputeMajor, card->device);
  calls(driver.cuDeviceGetAttribute, &minor, kComputeMinor, card->device);
  card->capability = major * 10 + minor;
  card->emulator = libc::memcmp(card->name, kEmulator, sizeof kEmulator) == 0;
  return calls.status();
}

const DeviceCode* choose_code(const Device& device, const Card& card, const DeviceCode* refused) {
  const DeviceCode* best = nullptr;
  const int32_t limit = refused ? fitness(*refused, card) : __INT32_MAX__;
  int32_t most = 0;
  for (const DeviceCode* code = device.codes; code < device.codes + device.code_count; ++code)
    if (const int32_t fit = fitness(*code, card); fit > most && fit < limit) most = fit, best = code;
  return best;
}

cameo_status no_code(const Device& device, const Card& card, cameo_error* error) {
  char list[160] = "none";
  size_t n = 0;
  for (uint32_t i = 0; i < device.code_count && n + 24 < sizeof list; ++i) {
    const DeviceCode& code = device.codes[i];
    const int32_t target = begins(code.architecture, "ptx") ? ptx_target(code) : 0;
    n += static_cast<size_t>(libc::snprintf(list + n, sizeof list - n, i ? ", %.16s" : "%.16s", code.architecture));
    if (target) n += static_cast<size_t>(libc::snprintf(list + n, sizeof list - n, " (from sm_%d on)", target));
  }
  return fail(error, CAMEO_UNAVAILABLE, -1, -1,
              "GPU %d (%s) has compute capability %d.%d, and the library's code is for: %s", card.ordinal, card.name,
              card.capability / 10, card.capability % 10, list);
}

}  // namespace rt::cuda
