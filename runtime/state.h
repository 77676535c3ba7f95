// States: outputs that are inputs of the next run (`bind_state`), with the dims that the run before gave them.
#pragma once

#include "runtime/model.h"

namespace rt {

/// The one of this output or of this input, -1 for neither; null: it is not bound.
Binding* binding_of(cameo_context* context, int32_t output, int32_t input);

/// The inputs of a run, in memory of the context if there are states: where an input is CAMEO_KIND_NONE and bound, what
/// the context holds. States that are yet to begin stay CAMEO_KIND_NONE.
const cameo_value* with_states(cameo_context* context, const cameo_value* in);
/// Says in the table of sizes how much room there is behind the states of a run, whose dims it has; whether that is
/// other than it was.
bool set_rooms(cameo_context* context);
/// Those: zeros, with the dims that the context has been fitted to.
cameo_status begin_states(cameo_context* context, cameo_error* error);
/// Room for what the run writes, of the size that the context has been fitted to.
cameo_status reserve_state(cameo_context* context, Binding* binding, cameo_error* error);
/// Where a run writes it, and whether there are gaps in what it writes.
inline void* written_by(const Binding& b) { return b.blocks[b.stays ? 0 : 1].memory; }
inline bool has_gaps(const Binding& b, const Io& output) {
  return b.append && b.next_capacity != output.dims[b.append->axis];
}
/// Room for a copy of an open one without gaps, which a caller wants.
cameo_status reserve_copy(cameo_context* context, const Binding& binding, cameo_error* error);
/// What a run has written, as a tensor without gaps.
void copy_state(const cameo_context* context, const Binding& binding, void* to);
/// After a run: what it wrote is what the next one reads.
void keep_states(cameo_context* context);
void release_states(cameo_context* context);

}  // namespace rt
