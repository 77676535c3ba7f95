/* A model with a state that grows, from C: present[batch, past + 1] is `past` with x[batch, 1] behind it, total[batch]
 * its sums. */
#include <cameo/cameo.h>
#include <dlfcn.h>
#include <stdio.h>

static int failed(const char* what) { return fprintf(stderr, "%s\n", what), 1; }

int main(int argc, char** argv) {
  void* so = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  cameo_get_api get = so ? (cameo_get_api)dlsym(so, "cameo_model_api") : NULL;
  const cameo_api* api = get ? get(CAMEO_ABI_MAJOR) : NULL;
  cameo_error error = {sizeof error};
  cameo_model* model;
  cameo_context* context;
  float x[] = {1};
  int64_t x_shape[] = {1, 1};
  cameo_value in[] = {{sizeof *in, CAMEO_KIND_NONE},
                      {sizeof *in, CAMEO_KIND_TENSOR, {x, {CAMEO_CPU, 0}, 2, {2, 32, 1}, x_shape, NULL, 0}}};
  cameo_value out[] = {{sizeof *out, CAMEO_KIND_TENSOR}, {sizeof *out, CAMEO_KIND_TENSOR}};
  int64_t step;

  if (!api || api->abi_minor < 5) return failed("usage: growing MODEL.so");
  if (api->model_create(NULL, &model, &error)) return failed(error.message);
  if (api->context_create(model, &context, &error)) return failed(error.message);
  if (api->bind_state(context, 0, 0, &error)) return failed(error.message);
  for (step = 1; step <= 5; ++step) {
    if (api->run(context, in, 2, out, 2, NULL, &error)) return failed(error.message);
    if (out[0].tensor.shape[1] != step || *(const float*)out[1].tensor.data != (float)step) return failed("a step");
  }
  if (api->run(context, in, 2, out, 2, NULL, &error) != CAMEO_INVALID_ARGUMENT) return failed("the bound of the state");
  printf("refused: %s\n", error.message);
  if (api->reset_state(context, &error)) return failed(error.message);
  if (api->run(context, in, 2, out, 2, NULL, &error)) return failed(error.message);
  if (out[0].tensor.shape[1] != 1) return failed("a state begins anew");
  api->context_release(context);
  api->model_release(model);
  return 0;
}
