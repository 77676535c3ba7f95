// The Opaque family: a function of its own under runtime/kernels, which an operator names (TopK, Distinct). What it
// computes the operator's reference function says. A custom operator's own function (`custom`) takes absent operands,
// and scratch.
#include <fmt/format.h>

#include <algorithm>

#include "frontend/reference/interpret.h"
#include "optimizer/choose/custom_call.h"
#include "optimizer/choose/family.h"
#include "runtime/kernels/contract_shape.h"

namespace cameo {
namespace {

const Opaque& function_of(const Kernel& k) { return std::get<Opaque>(meaning_of(*k.node, k.node->nodes()[0])); }

class OpaqueFamily final : public Family {
 public:
  std::string_view name() const override { return "opaque"; }

  Lowered lower(const NodeProblem& p) const override {
    if (!std::holds_alternative<Opaque>(p.meaning)) return "the node has no function of its own";
    for (const auto* list : {&p.node.outputs, &p.node.inputs})
      if (!as_custom(*p.node.op) && std::ranges::find(*list, ValueId()) != list->end())
        throw CompileError(Code::E0402, fmt::format("`{}` with an absent operand has no kernel", p.node.op->name));
    return kernel_of_node(p, *this);
  }
  std::vector<Choice> candidates(const Kernel&, const Target&) const override { return {Choice()}; }

  void apply(Kernel& k, const Choice& choice, const Target& target) const override {
    k.choice = choice;
    if (!custom_of(k)) return;
    const Expr own = CustomNumbers(*k.node, k.node->nodes()[0]).scratch;
    k.scratch_bytes = Dim(own + integer(most_chunks(k, target) * op::Run::failure_bytes()));
    if (k.scratch_bytes.upper() != kOpen) k.scratch_bytes = k.scratch_bytes.upper();
  }

  int64_t chunks(const Kernel& k, const Target& target) const override {
    const Opaque& o = function_of(k);
    if (target.is_gpu()) return rt::round_up_div(o.units, target.block_threads);
    return std::min(o.units, chunks_by_work(k, o.operations * static_cast<double>(o.units), target));
  }
  int64_t most_chunks(const Kernel& k, const Target& target) const override {
    const bool is_whole = !target.is_gpu() && function_of(k).operations == 0;
    return is_whole ? 1 : Family::most_chunks(k, target);
  }
  std::vector<Tensor> evaluate(const Kernel& k, std::span<const Tensor> in) const override {
    return interpret_node(*k.node, k.node->nodes()[0], in);
  }
  std::string text(const Kernel& k) const override {
    const Opaque& o = function_of(k);
    std::vector<std::string> numbers;
    for (Expr n : o.numbers) numbers.push_back(to_string(n));
    return fmt::format("{} {}{}", o.kernel, fmt::join(numbers, ","), custom_of(k) ? " " + custom_text(k) : "");
  }

  std::string header(const Kernel& k) const override { return std::string(function_of(k).kernel); }
  void print(KernelPrinter& printer, const Kernel& k) const override {
    if (custom_of(k)) return print_custom_call(printer, k);
    const Opaque& o = function_of(k);
    std::string arguments;
    for (size_t i = 0; i < k.operands.size(); ++i) arguments += fmt::format(", x{}", i);
    for (Expr n : o.numbers) arguments += ", " + printer.name(n);
    printer.line(fmt::format("rt::{}(call{});", o.kernel, arguments));
  }
};

}  // namespace

const Family& opaque_family() {
  static const OpaqueFamily family;
  return family;
}

}  // namespace cameo
