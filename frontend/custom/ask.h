// Asking a custom operator's file: its shape rule, and what an element of an output is. The file's functions build
// Exprs by the compiler's answers, so that sizes may be symbols and an element is fused like any other operator's.
#pragma once
#include "frontend/custom/custom_operator.h"

namespace cameo {

/// What the functions of a file call back: goes where its table says.
const op::detail::Compiler& answers();

/// Runs the shape rule: types of outputs and requirements go into `infer`.
void ask_shape(const CustomOperator& c, Infer& infer);
/// The same once more, for the scratch that a run takes: bytes of a thread.
Expr ask_scratch(const CustomOperator& c, const NodeView& node);
/// One element of each output.
Compute ask_elements(const CustomOperator& c, const MeaningView& node);

}  // namespace cameo
