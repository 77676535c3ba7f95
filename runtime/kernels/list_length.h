// list_length: how many items a list has.
#pragma once
#include "runtime/kernels/nest.h"
#include "runtime/list.h"

namespace rt {

RT_FN void list_length(const Call&, i64* length, const u64* list) { *length = list_at(list).count; }

}  // namespace rt
