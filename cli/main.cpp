// cameo: `run_command_line` is where to read on; a worker is this same program, started for one job at a time.
#include "cli/command_line.h"
#include "codegen/build/worker.h"

int main(int argc, char** argv) {
  if (auto code = cameo::run_worker_if_asked(argc, argv)) return *code;
  return cameo::run_command_line(argc, argv);
}
