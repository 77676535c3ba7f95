// to_ptx FILE.cu FILE.ptx: by the clang that is inside cameo, as it compiles kernels.
#include <cstdio>
#include <fstream>
#include <sstream>

#include "codegen/device_code.h"

int main(int argc, char** argv) {
  if (const auto code = cameo::run_worker_if_asked(argc, argv)) return *code;
  std::stringstream text;
  text << std::ifstream(argv[1]).rdbuf();
  const cameo::Job job = cameo::ptx_job({"kernels.cu", text.str()});
  const cameo::Outcome outcome = cameo::run_jobs({&job, 1}, 1)[0];
  if (!outcome.ok) return std::fprintf(stderr, "%s\n", outcome.message.c_str()), 1;
  std::ofstream(argv[2]) << cameo::merge_ptx({&outcome.bytes, 1});
  return 0;
}
