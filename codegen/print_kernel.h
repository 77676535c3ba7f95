// The one printer of arithmetic: a kernel's expressions as named temporaries over rt::, one call and one lambda a kernel.
#pragma once
#include "codegen/sources.h"
#include "optimizer/plan/plan.h"

namespace cameo {

/// `static void SYMBOL(const rt::Call& call) { .. }` with a comment that names the ONNX nodes.
void print_kernel(Writer& w, const Kernel& k, const Sources& sources);
/// The headers of runtime/kernels that the kernels need, as #include lines.
std::string kernel_includes(const std::vector<Kernel>& kernels);

}  // namespace cameo
