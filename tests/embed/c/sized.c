/* A model that leaves sizes to its runs, from C: y[batch, n] = x * x + b[n], and the same without its axes. Each run
 * has the sizes of its inputs; output_types says what they make of the outputs. */
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
  float x[] = {1, 2, 3, 4, 5, 6}, b[] = {0, 1};
  int64_t x_shape[] = {3, 2}, b_shape[] = {2}, sizes[2][2];
  cameo_value in[] = {{sizeof *in, CAMEO_KIND_TENSOR, {x, {CAMEO_CPU, 0}, 2, {2, 32, 1}, x_shape, NULL, 0}},
                      {sizeof *in, CAMEO_KIND_TENSOR, {b, {CAMEO_CPU, 0}, 1, {2, 32, 1}, b_shape, NULL, 0}}};
  cameo_value out[] = {{sizeof *out, CAMEO_KIND_TENSOR}, {sizeof *out, CAMEO_KIND_TENSOR}};
  cameo_io io[] = {{sizeof *io}, {sizeof *io}};
  size_t workspace;

  if (!api) return failed("usage: sized MODEL.so");
  if (api->model_create(NULL, &model, &error)) return failed(error.message);
  if (api->context_create(model, &context, &error)) return failed(error.message);
  if (api->io_get(0, 0, io)) return failed("io_get");
  printf("%s: %s %d to %d\n", io[0].name, io[0].dim_names[0], (int)io[0].dim_min[0], (int)io[0].dim_max[0]);
  if (io[0].dims[0] != -1) return failed("the batch is known only at run time");
  if (api->workspace_size(model, NULL, 0, &workspace, NULL, &error)) return failed(error.message);

  io[0].run_dims = sizes[0], io[0].run_dim_count = 2;
  io[1].run_dims = sizes[1], io[1].run_dim_count = 2;
  if (api->output_types(model, in, 2, io, 2, &error)) return failed(error.message);
  if (io[0].dims[0] != 3 || io[0].dims[1] != 2 || io[1].dims[0] != 6) return failed("the sizes of the outputs");

  if (api->run(context, in, 2, out, 2, NULL, &error)) return failed(error.message);
  if (out[1].tensor.shape[0] != 6 || ((const float*)out[1].tensor.data)[5] != 37) return failed("what is computed");
  x_shape[0] = 1; /* the same `out`, with the context's memory in it */
  if (api->run(context, in, 2, out, 2, NULL, &error)) return failed(error.message);
  if (out[1].tensor.shape[0] != 2 || ((const float*)out[1].tensor.data)[1] != 5) return failed("a smaller run");

  x_shape[0] = 40;
  if (api->run(context, in, 2, out, 2, NULL, &error) != CAMEO_INVALID_ARGUMENT) return failed("40 rows");
  printf("refused: %s\n", error.message);
  api->context_release(context);
  api->model_release(model);
  return 0;
}
