// The last step as one call: objects and weights in, a finished file under its name out, or nothing and a sentence.
#pragma once

#include <string>

#include "codegen/build/files.h"
#include "codegen/build/link.h"
#include "codegen/build/weight_slot.h"
#include "codegen/build/worker.h"

namespace cameo {

struct Artifact {
  LinkJob link;                // `inputs` without the weights; `output_path` is set here
  std::string weights_symbol;  // hidden; empty: no weights
  Pieces weights;
  std::string path;  // not asked for in memory
};

Status write_artifact(WorkerPool& pool, Artifact artifact, const Progress& progress = {});
// The same into a file without a name.
Status write_artifact(WorkerPool& pool, Artifact artifact, ScratchFile& into, const Progress& progress = {});

}  // namespace cameo
