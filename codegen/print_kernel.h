// The one printer of arithmetic: a kernel's expressions as named temporaries over rt::, one call and one lambda a
// kernel.
#pragma once
#include <span>

#include "codegen/sources.h"
#include "optimizer/plan/plan.h"

namespace cameo {

/// How a kernel's body gets `call` and the operands x0, x1 ..; nothing else differs between the machines.
enum class Frame : uint8_t {
  Cpu,  // static void SYMBOL(const rt::RowCall& call): operands from the step's row
  Gpu,  // RT_KERNEL SYMBOL(T* x0, .., rt::Fault* fault): operands by value, in the row's order
};

/// What a function computes, and its parameters, which stand behind the operands of each of its steps: sizes that only
/// a run knows, and constants of f32 or i32, of which kernels that share the function have others.
struct KernelBody {
  std::string text;
  std::vector<Expr> parameters = {};
  uint32_t function = 0;  // of print_bodies: the kernel whose function it is, the first of those that share it
};
KernelBody print_body(const Kernel& k);
/// Of a processor's kernels: those that differ in sizes of a run and in constants alone are one function.
std::vector<KernelBody> print_bodies(std::span<const Kernel> kernels);
/// One function, with a comment that names the ONNX nodes.
void print_kernel(Writer& w, const Kernel& k, const KernelBody& body, const Sources& sources, Frame frame = Frame::Cpu);
/// By which name the program calls it.
void print_entry(Writer& w, const Kernel& k, std::string_view name);
/// The headers of runtime/kernels that the kernels need, as #include lines.
std::string kernel_includes(const std::vector<Kernel>& kernels);

}  // namespace cameo
