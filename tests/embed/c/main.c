/* A model from C: reads a picture as text (PGM) and prints the digit that the model sees in it. The library is linked
 * in (main_linked, from the static library) or loaded by its file's name (main_loaded): the function table is the same.
 */
#include <cameo/cameo.h>
#include <dlfcn.h>
#include <stdio.h>

#ifdef LINKED
#include "digits.h"
#endif

static const cameo_api* get_api(const char* library) {
#ifdef LINKED
  (void)library;
  return digits_api(CAMEO_ABI_MAJOR);
#else
  void* so = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  cameo_get_api get = so ? (cameo_get_api)dlsym(so, "cameo_model_api") : NULL;
  return get ? get(CAMEO_ABI_MAJOR) : NULL;
#endif
}

static int read_picture(const char* path, float pixels[64]) {
  FILE* file = fopen(path, "r");
  int i, grey, count = 0;
  if (!file) return 0;
  if (fscanf(file, "P2 8 8 255") == 0)
    for (i = 0; i < 64; ++i)
      if (fscanf(file, "%d", &grey) == 1) pixels[count++] = (float)grey / 255.0f;
  fclose(file);
  return count == 64;
}

unsigned long allocations(void); /* count_malloc.c */

/* Runs into the caller's memory and into the context's, 100 times: both after a first run of their kind. */
static unsigned long allocated_by_runs(const cameo_api* api, cameo_context* context, const cameo_value* in) {
  cameo_error error = {sizeof error};
  float mine[10];
  int64_t shape[] = {1, 10};
  cameo_value out = {sizeof out, CAMEO_KIND_TENSOR, {mine, {CAMEO_CPU, 0}, 2, {2, 32, 1}, shape, NULL, 0}};
  const unsigned long before = allocations();
  int i;
  for (i = 0; i < 100; ++i) {
    cameo_value owned = {sizeof owned, CAMEO_KIND_TENSOR};
    if (api->run(context, in, 1, &out, 1, NULL, &error) || api->run(context, in, 1, &owned, 1, NULL, &error)) return 1;
  }
  return allocations() - before;
}

/* What the caller did not set is refused, not read. */
static int refuses_what_is_not_set(const cameo_api* api, cameo_context* context, const cameo_value* in) {
  cameo_error error = {sizeof error};
  cameo_options none = {0}, half = {sizeof half};
  cameo_run_options no_size = {0};
  cameo_value out = {sizeof out, CAMEO_KIND_TENSOR}, huge = *in;
  cameo_model* model;
  half.free = (void (*)(void*, void*, size_t, size_t, cameo_device))1;
  huge.struct_size = 0xfffffff8u;
  return api->model_create(&none, &model, &error) == CAMEO_INVALID_ARGUMENT &&
         api->model_create(&half, &model, &error) == CAMEO_INVALID_ARGUMENT &&
         api->run(context, in, 1, &out, 1, &no_size, &error) == CAMEO_INVALID_ARGUMENT &&
         api->run(context, &huge, 1, &out, 1, NULL, &error) == CAMEO_INVALID_ARGUMENT &&
         api->run(context, in, -1, &out, 1, NULL, NULL) == CAMEO_INVALID_ARGUMENT &&
         api->run(context, NULL, 1, NULL, 1, NULL, NULL) == CAMEO_INVALID_ARGUMENT &&
         api->run(NULL, in, 1, &out, 1, NULL, NULL) == CAMEO_INVALID_ARGUMENT;
}

static int failed(const cameo_error* error) { return fprintf(stderr, "%s\n", error->message), 1; }

int main(int argc, char** argv) {
  const cameo_api* api = argc == 3 ? get_api(argv[2]) : NULL;
  cameo_error error = {sizeof error};
  cameo_model* model;
  cameo_context* context;
  float pixels[64], best = 0;
  int64_t shape[] = {1, 1, 8, 8};
  cameo_value in = {sizeof in, CAMEO_KIND_TENSOR, {pixels, {CAMEO_CPU, 0}, 4, {2, 32, 1}, shape, NULL, 0}};
  cameo_value out = {sizeof out, CAMEO_KIND_TENSOR}; /* no data: the context owns it */
  int i, digit = -1;

  if (!api) return fprintf(stderr, "usage: %s PICTURE.pgm MODEL.so\n", argv[0]), 2;
  if (!read_picture(argv[1], pixels)) return fprintf(stderr, "no 8x8 picture: %s\n", argv[1]), 7;

  if (api->model_create(NULL, &model, &error)) return failed(&error);
  if (api->context_create(model, &context, &error)) return failed(&error);
  if (api->run(context, &in, 1, &out, 1, NULL, &error)) return failed(&error);
  for (i = 0; i < 10; ++i) {
    const float p = ((const float*)out.tensor.data)[i];
    if (p > best) best = p, digit = i;
  }
  printf("the digit is a %d (%.3f)\n", digit, best);

  if (allocated_by_runs(api, context, &in)) return fprintf(stderr, "a run allocates\n"), 1;
  if (!refuses_what_is_not_set(api, context, &in)) return fprintf(stderr, "takes what is not set\n"), 1;

  /* what does not fit is refused with a sentence */
  shape[3] = 7;
  if (api->run(context, &in, 1, &out, 1, NULL, &error) != CAMEO_INVALID_ARGUMENT) return 1;
  printf("refused: %s\n", error.message);

  api->context_release(context);
  api->model_release(model);
  return 0;
}
