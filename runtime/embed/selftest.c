/* The test that cameo_add_model adds: runs the golden cases embedded in the model MODEL_API and prints a line for each
 * output. C99 and C++. Exit codes: 0 ok, 5 outside a tolerance, 8 no code for this processor, 1 anything else. */
#include <cameo/cameo.h>
#include <stdio.h>
#include <string.h>

#ifdef __cplusplus
extern "C"
#endif
    const cameo_api*
    MODEL_API(uint32_t abi_major);

static void report(void* user, const cameo_check* check) {
  (void)user;
  printf("%s: output %d: error %g, tolerance %g: %s\n", check->case_name, (int)check->output, check->max_error,
         check->tolerance, check->passed ? "ok" : "FAILED");
}

int main(void) {
  const cameo_api* api = MODEL_API(CAMEO_ABI_MAJOR);
  cameo_error error;
  cameo_status status;
  if (!api) {
    fprintf(stderr, "the model has another major version of the ABI than %u\n", CAMEO_ABI_MAJOR);
    return 1;
  }
  memset(&error, 0, sizeof error);
  error.struct_size = sizeof error;
  status = api->selftest(NULL, report, NULL, &error);
  if (status != CAMEO_OK) fprintf(stderr, "%s\n", error.message);
  return status == CAMEO_OK ? 0 : status == CAMEO_MISMATCH ? 5 : status == CAMEO_UNAVAILABLE ? 8 : 1;
}
