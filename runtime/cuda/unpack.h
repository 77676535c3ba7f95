// Code for GPUs stands in an artifact as a block of LZ4, a quarter of the size of PTX.
#pragma once

#include "runtime/program.h"

namespace rt::cuda {

inline uint64_t code_bytes(const DeviceCode& code) { return code.unpacked_bytes ? code.unpacked_bytes : code.bytes; }

/// Writes its first bytes, `room` at most; how many.
uint64_t unpack(const DeviceCode& code, char* to, uint64_t room);

}  // namespace rt::cuda
