// The kernels of a plan, each once: steps that do the same with other operands have one.
#pragma once
#include <map>
#include <string>

#include "optimizer/plan/plan.h"

namespace cameo {

class KernelTable {
 public:
  explicit KernelTable(std::vector<Kernel>& kernels);
  /// The number of an equal kernel, or of this one as a new one: equal means the same text but for its name and
  /// provenance.
  uint32_t intern(Kernel k);

 private:
  std::vector<Kernel>& kernels_;
  std::map<std::string, uint32_t> numbers_;  // by text
};

/// What the kernel of that number is called: k003_conv_relu.
std::string symbol_of(size_t number, std::string_view title);
/// An equal kernel's provenance and problems are this one's too.
void add_origins(Kernel& k, const Kernel& equal);
/// All of a kernel but its name and provenance: variables and nodes numbered in order of appearance.
std::string kernel_text(const Kernel& k);
/// The same in any build of any model: sizes that only a run knows are their bounds, in order of appearance.
std::string problem_text(const Kernel& k);
/// The text of a kernel without its f32 and f64 numbers and its sizes that only a run knows: kernels of one text differ
/// in those alone.
std::string shape_text(const Kernel& k);
/// Whether it asks for such sizes.
bool has_sizes(const Kernel& k);
/// Whether floating numbers decide one, as scales do.
bool has_sizes_of_floats(const Kernel& k);

}  // namespace cameo
