/* soak LIBRARY SECONDS: loads a model over and over, runs it on threads, cancels, forks, fails each allocation of the
 * host's in turn, unloads. At the end nothing is left allocated and the process is no larger than after a tenth. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/cameo.h"

enum { MOST = 64 };

static void require(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "not so: %s\n", what);
  exit(1);
}

/* The host's allocator: fails its `fails_at`-th call, counts what is out. */
typedef struct Host {
  long calls, fails_at, blocks, bytes;
} Host;

static void* take(void* user, size_t bytes, size_t alignment, cameo_device device) {
  Host* host = (Host*)user;
  void* memory;
  (void)device;
  if (__atomic_add_fetch(&host->calls, 1, __ATOMIC_RELAXED) == host->fails_at) return NULL;
  memory = aligned_alloc(alignment, bytes);
  if (!memory) return NULL;
  memset(memory, 0xa5, bytes); /* no one may count on zeros */
  __atomic_add_fetch(&host->blocks, 1, __ATOMIC_RELAXED);
  __atomic_add_fetch(&host->bytes, (long)bytes, __ATOMIC_RELAXED);
  return memory;
}

static void give(void* user, void* memory, size_t bytes, size_t alignment, cameo_device device) {
  Host* host = (Host*)user;
  (void)alignment;
  (void)device;
  __atomic_sub_fetch(&host->blocks, 1, __ATOMIC_RELAXED);
  __atomic_sub_fetch(&host->bytes, (long)bytes, __ATOMIC_RELAXED);
  free(memory);
}

static float expected[MOST], pixels[4 * MOST];

/* A run of a context: of strided input, which `prepare` makes room for, or compact; into the caller's memory or the
 * context's. */
static cameo_status run(const cameo_api* api, cameo_context* context, int strided, int owned) {
  float got[MOST] = {0};
  int64_t shape[] = {1, 1, 8, 8}, steps[] = {128, 128, 16, 2}, out_shape[] = {1, 10};
  cameo_value in = {sizeof in, CAMEO_KIND_TENSOR, {pixels, {CAMEO_CPU, 0}, 4, {2, 32, 1}, shape, NULL, 0}};
  cameo_value out = {sizeof out, CAMEO_KIND_TENSOR, {got, {CAMEO_CPU, 0}, 2, {2, 32, 1}, out_shape, NULL, 0}};
  cameo_status status = CAMEO_OK;
  if (strided) in.tensor.data = pixels + MOST, in.tensor.strides = steps;
  if (owned) out.tensor.data = NULL, out.tensor.shape = NULL;
  if (strided) status = api->prepare(context, &in, 1, NULL);
  if (!status) status = api->run(context, &in, 1, &out, 1, NULL, NULL);
  if (!status && expected[0] != 0)
    require(memcmp(out.tensor.data, expected, 10 * sizeof(float)) == 0, "every run gives the same bits");
  if (!status) memcpy(expected, out.tensor.data, 10 * sizeof(float));
  return status;
}

typedef struct Work {
  const cameo_api* api;
  cameo_context* context;
} Work;

static void* run_many(void* argument) {
  const Work* work = (const Work*)argument;
  int i;
  for (i = 0; i < 50; ++i) {
    const cameo_status status = run(work->api, work->context, i & 1, i & 2);
    require(status == CAMEO_OK || status == CAMEO_CANCELLED, "a run ends or is cancelled");
  }
  return NULL;
}

/* The whole life of a model. What fails fails with OUT_OF_MEMORY, where the allocator does. */
static cameo_status live(const cameo_api* api, Host* host, int threads) {
  cameo_options options = {sizeof options};
  cameo_model* model = NULL;
  cameo_context* contexts[3] = {NULL, NULL, NULL};
  cameo_status status;
  int i;
  options.num_threads = threads;
  options.user = host;
  options.alloc = take;
  options.free = give;
  status = api->model_create(&options, &model, NULL);
  for (i = 0; !status && i < 3; ++i) status = api->context_create(model, &contexts[i], NULL);
  if (!status) status = run(api, contexts[0], 1, 0);
  if (!status && !host->fails_at) {
    pthread_t workers[3];
    Work work[3];
    for (i = 0; i < 3; ++i) {
      work[i].api = api, work[i].context = contexts[i];
      require(pthread_create(&workers[i], NULL, run_many, &work[i]) == 0, "a thread starts");
    }
    for (i = 0; i < 300; ++i) api->cancel(contexts[i % 3]);
    if (fork() == 0) { /* a child has none of the threads; what is not in a run there is its own */
      cameo_context* own = NULL;
      _exit(api->context_create(model, &own, NULL) || run(api, own, 0, 1) ? 1 : (api->context_release(own), 0));
    }
    wait(&i);
    require(i == 0, "a forked child runs");
    for (i = 0; i < 3; ++i) pthread_join(workers[i], NULL);
  }
  api->model_release(model); /* contexts hold it */
  for (i = 0; i < 3; ++i) api->context_release(contexts[i]);
  return status;
}

static long resident_pages(void) {
  long size = 0, pages = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  require(file && fscanf(file, "%ld %ld", &size, &pages) == 2, "/proc/self/statm is readable");
  fclose(file);
  return pages;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char** argv) {
  const double begin = now(), seconds = argc == 3 ? atof(argv[2]) : 0;
  long pages = 0, lives = 0, failures = 0, i;
  require(argc == 3, "usage: soak LIBRARY SECONDS");
  for (i = 0; i < 4 * MOST; ++i) pixels[i] = (float)(i % 7) / 7;
  for (i = 0; i < MOST; ++i) pixels[MOST + 2 * i] = pixels[i]; /* the same, every other number */
  while (lives < 20 || now() - begin < seconds) {
    void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    cameo_get_api get = library ? (cameo_get_api)dlsym(library, "cameo_model_api") : NULL;
    const cameo_api* api = get ? get(CAMEO_ABI_MAJOR) : NULL;
    Host host = {0, 0, 0, 0};
    cameo_status status = CAMEO_OUT_OF_MEMORY;
    require(api != NULL, "the library loads");
    require(live(api, &host, 1 + (int)(lives % 3)) == CAMEO_OK, "a life without failures");
    for (i = 1; status == CAMEO_OUT_OF_MEMORY; ++i, ++failures) {
      host.calls = 0, host.fails_at = i;
      status = live(api, &host, 1 + (int)(lives % 3));
      require(host.blocks == 0 && host.bytes == 0, "all that was allocated is freed");
    }
    require(status == CAMEO_OK && i > 4, "with enough memory it runs; before, each allocation failed once");
    dlclose(library);
    require(dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD) == NULL, "the library is unloaded");
    ++lives;
    if (now() - begin < seconds / 10 || lives <= 10) pages = resident_pages();
  }
  printf("%ld lives, %ld failed allocations, %ld kB at a tenth, %ld kB at the end\n", lives, failures,
         pages * sysconf(_SC_PAGESIZE) / 1024, resident_pages() * sysconf(_SC_PAGESIZE) / 1024);
  require(resident_pages() <= pages + 256, "memory stays flat"); /* a megabyte: libc's arenas of threads */
  return 0;
}
