// The tables of runtime/program.h for one module, as text.
#pragma once
#include "codegen/print_module.h"
#include "codegen/size_table.h"
#include "codegen/weights_file.h"

namespace cameo {

/// What a program's tables hold beside what the module says.
struct ProgramParts {
  const std::vector<GoldenCase>& goldens;
  std::string manifest;
  const SizeTable& table;
  const Parameters& parameters;                    // of all plans' kernels
  const std::vector<std::vector<uint32_t>>& code;  // by plan and kernel: the kernel whose function it calls
  const WeightsFile* weights;                      // null: they are in the artifact
};
/// Defines rt::Program cameo_program and the symbol NAME_api.
std::string print_program(const Module& m, const ProgramParts& parts);

/// What a plan's kernels are called beyond their file.
std::string image_name(const Plan& p);
/// What holds a GPU plan's code for one architecture.
std::string device_symbol(const Plan& p, std::string_view architecture);
/// The file that includes all of a GPU plan's kernels.
std::string device_source(const Plan& p);
/// Whether NAME_api or NAME.h would meet what every artifact has: its own functions and types, the headers it
/// includes.
bool is_reserved(std::string_view module_name);
std::string external_name(const Kernel& k, const Plan& p);

}  // namespace cameo
