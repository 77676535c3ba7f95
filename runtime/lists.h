// Sequences, optionals and maps at the border of a run: callers' values become lists in the memory of the context, and
// what a run made of them becomes values again.
#pragma once

#include "runtime/compare.h"
#include "runtime/model.h"

namespace rt {

/// What only programs with lists ask for: Program::lists of the others is null.
struct Listing {
  cameo_status (*open)(cameo_context* context, cameo_error* error);
  void (*close)(cameo_context* context);
  /// Before a run: what the one before it held is forgotten, so no input may be of that.
  cameo_status (*begin)(cameo_context* context, const cameo_value* in, cameo_error* error);
  /// An input of such a kind, copied, and the base that it has.
  cameo_status (*bind)(cameo_context* context, int32_t index, const cameo_value& value, cameo_error* error);
  /// An output of such a kind: its values, until the next run.
  cameo_status (*give)(cameo_context* context, int32_t index, cameo_value& value, cameo_error* error);
  /// The worst of the tensors of an output; a mismatch where it holds others than the golden case. `tolerances` has one
  /// for each of them, and moves on behind them.
  cameo_status (*compare)(const Io& io, const Golden& golden, uint32_t output, const cameo_value& got,
                          const double*& tolerances, Comparison& worst, cameo_error* error);
};

inline bool is_list(const Io& io) { return io.kind > CAMEO_KIND_STRINGS; }

}  // namespace rt
