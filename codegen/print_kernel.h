// The one printer of arithmetic: a kernel's expressions as named temporaries over rt::, one call and one lambda a
// kernel.
#pragma once
#include "codegen/sources.h"
#include "optimizer/plan/plan.h"

namespace cameo {

/// How a kernel's body gets `call` and the operands x0, x1 ..; nothing else differs between the machines.
enum class Frame : uint8_t {
  Cpu,  // static void SYMBOL(const rt::RowCall& call): operands from the step's row
  Gpu,  // RT_KERNEL SYMBOL(T* x0, .., rt::Fault* fault): operands by value, in the row's order
};

/// One function, with a comment that names the ONNX nodes. Its parameters, sizes that only a run knows, which stand
/// behind the operands of each of its steps.
std::vector<Expr> print_kernel(Writer& w, const Kernel& k, const Sources& sources, Frame frame = Frame::Cpu);
/// The headers of runtime/kernels that the kernels need, as #include lines.
std::string kernel_includes(const std::vector<Kernel>& kernels);

}  // namespace cameo
