/* A model whose weights are in a file, from C: found beside this program, which the model is linked into; named by its
 * path; read by a function of ours; and not there. The argument is that file. */
#include <cameo/cameo.h>
#include <stdio.h>
#include <string.h>

#include "apart.h"

static int32_t read_weights(void* user, uint64_t offset, void* to, size_t bytes) {
  FILE* file = fopen((const char*)user, "rb");
  const int done = file && !fseek(file, (long)(4096 + offset), SEEK_SET) && fread(to, 1, bytes, file) == bytes;
  if (file) fclose(file);
  return done ? 0 : 1;
}

static int passes(const cameo_options* options) {
  cameo_error error = {sizeof error};
  const cameo_status status = apart_api(CAMEO_ABI_MAJOR)->selftest(options, NULL, NULL, &error);
  if (status) fprintf(stderr, "%d: %s\n", (int)status, error.message);
  return status == CAMEO_OK;
}

int main(int argc, char** argv) {
  cameo_options options = {sizeof options};
  cameo_error error = {sizeof error};
  cameo_model* model = NULL;
  if (argc != 2 || !passes(NULL)) return 1;
  options.user = argv[1];
  options.read_weights = read_weights;
  if (!passes(&options)) return 1;
  options.read_weights = NULL;
  options.weights_path = argv[1];
  if (!passes(&options)) return 1;
  options.weights_path = "moved.weights";
  if (apart_api(CAMEO_ABI_MAJOR)->model_create(&options, &model, &error) != CAMEO_DATA_LOSS) return 1;
  printf("refused: %s\n", error.message);
  return strstr(error.message, "cannot open the weights `moved.weights`") ? 0 : 1;
}
