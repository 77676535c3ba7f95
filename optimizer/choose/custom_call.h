// The call of a custom operator's own function: what an Opaque kernel writes for one.
#pragma once
#include "frontend/custom/custom_operator.h"
#include "optimizer/choose/kernel_printer.h"
#include "optimizer/plan/plan.h"

namespace cameo {

/// Null of a kernel that is not one.
const CustomOperator* custom_of(const Kernel& k);
/// Its name, its dims and its attributes.
std::string custom_text(const Kernel& k);
void print_custom_call(KernelPrinter& printer, const Kernel& k);

}  // namespace cameo
