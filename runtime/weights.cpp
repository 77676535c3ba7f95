// Where a model's weights come from: the library itself, a seed, the host's callback, or a file beside the library.
#include "runtime/errors.h"
#include "runtime/libc.h"
#include "runtime/mapped_weights.h"
#include "runtime/model.h"

namespace rt {
namespace {

cameo_status allocate_weights(cameo_model* model, cameo_error* error) {
  const uint64_t bytes = model->program->weights_bytes;
  model->owned_weights = allocate(model->options, bytes);
  model->weights = model->owned_weights;
  if (model->weights) return CAMEO_OK;
  return fail(error, CAMEO_OUT_OF_MEMORY, -1, -1, "cannot allocate %lu bytes for weights", bytes);
}

cameo_status read_through_host(cameo_model* model, cameo_error* error) {
  const Program& program = *model->program;
  if (cameo_status status = allocate_weights(model, error)) return status;
  if (model->options.read_weights(model->options.user, 0, model->owned_weights, program.weights_bytes))
    return fail(error, CAMEO_DATA_LOSS, -1, -1, "options.read_weights could not read %lu bytes", program.weights_bytes);
  if (!program.weights_file || program.weights_file->reader->are_right(program, model->weights)) return CAMEO_OK;
  return fail(error, CAMEO_DATA_LOSS, -1, -1,
              "what options.read_weights gave are other weights than this library was built with; in a file of "
              "`--weights=file` they begin at byte %lu",
              kPoolBegin);
}

}  // namespace

cameo_status load_weights(cameo_model* model, cameo_error* error) {
  const Program& program = *model->program;
  model->weights = program.weights;
  if (!program.weights_bytes || (program.weights && !program.made_up_count)) return CAMEO_OK;
  if (program.made_up_count) {
    const cameo_status status = allocate_weights(model, error);
    if (!status) make_up_weights(program, static_cast<char*>(model->owned_weights));
    return status;
  }
  if (model->options.read_weights) return read_through_host(model, error);
  if (!program.weights_file)
    return fail(error, CAMEO_FAILED_PRECONDITION, -1, -1,
                "the %lu bytes of weights are not in the library; give options.read_weights", program.weights_bytes);
  MappedWeights mapped;
  const char* const path = model->options.weights_path;
  if (cameo_status status = program.weights_file->reader->open(program, path, &mapped, error)) return status;
  model->weights = mapped.pool();
  model->mapped_weights = mapped.memory;
  return CAMEO_OK;
}

void release_weights(cameo_model* model) {
  const uint64_t bytes = model->program->weights_bytes;
  if (model->owned_weights) deallocate(model->options, model->owned_weights, bytes);
  if (model->mapped_weights) libc::munmap(model->mapped_weights, kPoolBegin + bytes);
  model->owned_weights = model->mapped_weights = nullptr;
}

}  // namespace rt
