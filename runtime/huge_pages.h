// Pages of 2 MB: 512 times fewer translations of addresses, and faults at the first run, than pages of 4 kB.
#pragma once

namespace rt {

inline constexpr unsigned long kHugePage = 2 << 20;

}  // namespace rt
