// Protobuf's wire form: a bounded walk over fields that never trusts a length.
#pragma once

#include "runtime/program/text.h"

namespace rt::program {

struct Field {
  uint64_t number = 0, wire = 0, value = 0;  // the value of a varint or a fixed field
  Slice bytes;                               // of a length-delimited one
};

bool read_varint(Slice* in, uint64_t* value);
bool read_fixed(Slice* in, size_t count, uint64_t* value);
bool read_field(Slice* in, Field* field);
void put_varint(Text* to, uint64_t value);

}  // namespace rt::program
