// PTX -> machine code for one GPU architecture, by the ptxas of an installed CUDA toolkit: the one tool that cameo uses
// where it is and does without where it is not.
#pragma once

#include <string>

#include "codegen/build/outcome.h"

namespace cameo {

struct AssembleJob {
  std::string ptxas;         // where it lies
  std::string architecture;  // sm_90a
  std::string ptx;

  template <typename Archive>
  void fields(Archive& archive) {
    archive(ptxas, architecture, ptx);
  }
};

// Of the toolkit in PATH, in CUDA_HOME or else in /usr/local/cuda; empty: there is none.
std::string find_ptxas();

// The cubin; a failure says what ptxas did.
Outcome assemble(const AssembleJob& job);

}  // namespace cameo
