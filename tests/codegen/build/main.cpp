// The main() of test programs that build artifacts: they are their own workers.
#include <gtest/gtest.h>

#include "codegen/build/worker.h"

int main(int argc, char** argv) {
  if (const auto code = cameo::run_worker_if_asked(argc, argv)) return *code;
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
