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

  /* what does not fit is refused with a sentence */
  shape[3] = 7;
  if (api->run(context, &in, 1, &out, 1, NULL, &error) != CAMEO_INVALID_ARGUMENT) return 1;
  printf("refused: %s\n", error.message);

  api->context_release(context);
  api->model_release(model);
  return 0;
}
