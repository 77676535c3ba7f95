#include "cli/verbs.h"
namespace cameo {
int test_verb(Console& console, const ModelFlags& flags, const RunFlags& run) {
  return run_verb(console, "test", flags, run);
}
}  // namespace cameo
