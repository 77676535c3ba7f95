// What this machine's processor calls itself.
#pragma once
#include <string>

namespace cameo {
std::string processor_name();
}  // namespace cameo
