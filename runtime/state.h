// States: outputs that are inputs of the next run (`bind_state`), with the dims that the run before gave them.
#pragma once

#include "runtime/model.h"

namespace rt {

/// The one of this output or of this input, -1 for neither; null: it is not bound.
Binding* binding_of(cameo_context* context, int32_t output, int32_t input);

/// The inputs of a run, in memory of the context if there are states: where an input is CAMEO_KIND_NONE and bound, what
/// the context holds. States that are yet to begin stay CAMEO_KIND_NONE.
const cameo_value* with_states(cameo_context* context, const cameo_value* in);
/// Those: zeros, with the dims that the context has been fitted to.
cameo_status begin_states(cameo_context* context, cameo_error* error);
/// Room for what the run writes, of the size that the context has been fitted to.
cameo_status reserve_state(cameo_context* context, Binding* binding, cameo_error* error);
/// After a run: what it wrote is what the next one reads.
void keep_states(cameo_context* context);
void release_states(cameo_context* context);

}  // namespace rt
