// Checks of what a caller passes in and wants out: kind, type, device, rank, dims, pointers. Always on.
#pragma once

#include "runtime/cameo.h"
#include "runtime/program.h"

namespace rt {

struct Span {  // bytes of one value
  const char* begin;
  uint64_t bytes;
};

// Element i of an array whose elements are as large as the caller's header says.
const cameo_value& value_at(const cameo_value* values, int32_t i);
cameo_value& value_at(cameo_value* values, int32_t i);

cameo_status check_count(const cameo_value* values, int32_t count, uint32_t expected, const char* what,
                         cameo_error* error);
cameo_status check_rank(const Io& io, const cameo_tensor& tensor, const char* what, int32_t index, cameo_error* error);
// On the CPU or on `device`, the model's. `io` has the dims of this run.
cameo_status check_tensor(const Io& io, const cameo_tensor& tensor, cameo_device device, const char* what,
                          int32_t index, cameo_error* error);
// Of an output whose size the run computes: the caller's memory for `value.count` elements.
cameo_status check_room(const Io& io, const cameo_value& value, cameo_device device, int32_t index, cameo_error* error);
cameo_status check_kind(const Io& io, const cameo_value& value, const char* what, int32_t index, cameo_error* error);

bool has_dims(const Io& io, const cameo_tensor& tensor);
int64_t elements(const Io& io);
uint64_t io_bytes(const Io& io);

bool is_compact(const cameo_tensor& tensor);
char* data_of(const cameo_tensor& tensor);
// `to` may be where `from` begins, if its strides are those of a larger tensor without gaps.
void copy_strided(const cameo_tensor& from, void* to, int64_t element_bytes);
bool overlap(Span a, Span b);
Span extent_of(const cameo_tensor& tensor, uint32_t dtype);  // with strides: from the lowest to the highest byte

}  // namespace rt
