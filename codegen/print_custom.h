// Files of custom operators in a module: each is included by a file of its own for each plan that calls it, whose
// kernels find its table by name.
#pragma once
#include "codegen/print_module.h"

namespace cameo {

/// In a file of kernels: the tables that they call.
void print_custom_tables(Writer& w, const Plan& p);
/// The plan's copies of the files that it calls, and the files themselves.
void add_custom_files(const Plan& p, EmittedModule& out);
/// Whether it is such a copy: loops of it are plain ones, which the compiler makes vectors of.
bool is_custom_copy(const SourceFile& file);

}  // namespace cameo
