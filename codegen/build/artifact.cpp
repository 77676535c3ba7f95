// See artifact.h. Images for x86-64 get their weights after the link (weight_slot.h); everything else gets an object
// with a section of weights among its inputs, streamed into an unnamed file beside the output.
#include "codegen/build/artifact.h"

#include "codegen/build/elf_object.h"
#include "codegen/build/files.h"
#include "runtime/huge_pages.h"

namespace cameo {
namespace {

bool is_image(LinkKind kind) { return kind == LinkKind::kShared || kind == LinkKind::kProgram; }

Status write_weight_object(const Artifact& artifact, ScratchFile& file) {
  ElfObject object;
  object.machine = machine_of(artifact.link.triple);
  object.sections.push_back(weight_section(object.machine, artifact.weights_symbol, artifact.weights));
  object.symbols.push_back({.name = artifact.weights_symbol, .section = 0, .size = object.sections[0].size});
  return write_elf_object(object, [&](std::span<const std::byte> bytes) { return file.write(bytes); });
}

/// Into an open file, which the workers find by its path.
Status write_into(int descriptor, const std::string& path, WorkerPool& pool, Artifact artifact,
                  const Progress& progress) {
  Status status;
  const bool weighty = !artifact.weights_symbol.empty();
  const bool slot = weighty && is_image(artifact.link.kind) && machine_of(artifact.link.triple) == Machine::kX86_64;
  ScratchFile weights;
  if (slot) {
    const uint64_t bytes = bytes_of(artifact.weights);
    artifact.link.inputs.push_back({"weights", weight_slot(artifact.weights_symbol, bytes), {}});
    if (bytes >= 2 * rt::kHugePage) artifact.link.page_bytes = rt::kHugePage;
  } else if (weighty) {
    weights = ScratchFile::beside(artifact.path);
    status = write_weight_object(artifact, weights);
    if (!status.ok()) return status;
    artifact.link.inputs.push_back({"weights.o", {}, weights.path()});
  }
  artifact.link.output_path = path;
  const Job job = artifact.link;
  const Outcome outcome = pool.run(std::span(&job, 1), progress)[0];
  if (!outcome.ok) return {outcome.message};
  return slot ? fill_weight_slot(descriptor, artifact.weights, artifact.path) : status;
}

}  // namespace

Status write_artifact(WorkerPool& pool, Artifact artifact, const Progress& progress) {
  Status status;
  OutputFile output = OutputFile::create(artifact.path, is_image(artifact.link.kind), status);
  if (status.ok()) status = write_into(output.descriptor(), output.scratch_path(), pool, std::move(artifact), progress);
  return status.ok() ? output.commit() : status;
}

Status write_artifact(WorkerPool& pool, Artifact artifact, ScratchFile& into, const Progress& progress) {
  return write_into(into.descriptor(), into.path(), pool, std::move(artifact), progress);
}

}  // namespace cameo
