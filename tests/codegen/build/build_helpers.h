// What the tests of codegen/build share: jobs done one at a time, small artifacts, what a command prints.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include "codegen/build/files.h"
#include "codegen/build/worker.h"

namespace cameo {

inline constexpr char kAarch64[] = "aarch64-unknown-linux-gnu";

inline Outcome run_one(const Job& job) { return run_jobs(std::span(&job, 1), 1)[0]; }

inline CompileJob compile_job(std::string name, std::string source) {
  CompileJob job;
  job.name = std::move(name);
  job.source = std::move(source);
  return job;
}

inline LinkInput compiled(std::string name, std::string source, const std::string& triple = CodeTarget{}.triple) {
  CompileJob job = compile_job(name + ".cpp", std::move(source));
  job.target.triple = triple;
  if (triple == kAarch64) job.target.cpu = "generic";
  Outcome outcome = run_one(job);
  EXPECT_TRUE(outcome.ok) << outcome.message;
  return {name + ".o", std::move(outcome.bytes), {}};
}

// The artifact's path.
inline std::string built(LinkJob job, const std::string& name) {
  const std::string path = testing::TempDir() + name;
  Status status;
  OutputFile output = OutputFile::create(path, true, status);
  EXPECT_TRUE(status.ok()) << status.message;
  job.output_path = output.scratch_path();
  const Outcome outcome = run_one(job);
  EXPECT_TRUE(outcome.ok) << outcome.message;
  EXPECT_TRUE(output.commit().ok());
  return path;
}

struct Ran {
  int status = 0;
  std::string output;
};

inline Ran ran(const std::string& command) {
  Ran result;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  char buffer[4096];
  for (size_t got; (got = fread(buffer, 1, sizeof buffer, pipe)) > 0;) result.output.append(buffer, got);
  result.status = WEXITSTATUS(pclose(pipe));
  return result;
}

}  // namespace cameo
