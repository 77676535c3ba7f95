// The worker: reads a job from descriptor 0, does it, answers, until the other end closes. It keeps nothing of its
// surroundings (no variables, no core files), dies with its parent, and turns a fatal error inside LLVM into an answer.
#include "codegen/build/serve.h"

#include <llvm/Support/ErrorHandling.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <vector>

#include "codegen/build/wire.h"

namespace cameo {
namespace {

constexpr int kSocket = 0;
constexpr rlim_t kStackBytes = rlim_t{64} << 20;  // clang recurses over deep expressions

void limit(__rlimit_resource resource, rlim_t value) {
  rlimit now;
  ::getrlimit(resource, &now);
  now.rlim_cur = std::min(value, now.rlim_max);
  ::setrlimit(resource, &now);
}

bool keep_with_parent(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  return ::getppid() == parent;  // it may have gone before the line above
}

// A report_fatal_error ends the process, so the answer is given from here.
void answer_fatal_error(void*, const char* reason, bool) {
  Outcome outcome = Outcome::failure(reason);
  outcome.stop_worker = true;
  send_message(kSocket, encode_outcome(outcome));
  ::_exit(70);
}

#ifdef CAMEO_SANITIZED  // a sanitizer maps terabytes
constexpr bool kLimitsMemory = false;
#else
constexpr bool kLimitsMemory = true;
#endif

void settle(pid_t parent, uint64_t memory) {
  if (!keep_with_parent(parent)) ::_exit(1);
  ::signal(SIGINT, SIG_IGN);  // Ctrl-C reaches the whole group; the parent decides what becomes of us
  ::clearenv();
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_STACK, kStackBytes);
  if (memory && kLimitsMemory) limit(RLIMIT_AS, memory);
  llvm::install_fatal_error_handler(answer_fatal_error);
}

Outcome exhaust_memory() {
  for (std::vector<void*> kept;;) kept.push_back(::operator new(size_t{64} << 20));
}

Outcome perform_one(const TrialJob& job) {
  switch (job.kind) {
    case TrialJob::Kind::kEcho: return Outcome::success(job.text);
    case TrialJob::Kind::kCrash: ::raise(SIGSEGV); break;
    case TrialJob::Kind::kAbort: std::abort();
    case TrialJob::Kind::kExit: ::_exit(3);
    case TrialJob::Kind::kHang: ::pause(); break;
    case TrialJob::Kind::kFatalError: llvm::report_fatal_error(job.text.c_str(), false);
    case TrialJob::Kind::kExhaustMemory: return exhaust_memory();
  }
  return Outcome::failure("an unknown trial");
}

Outcome perform_one(const CompileJob& job) { return compile(job); }
Outcome perform_one(const LinkJob& job) { return link(job); }
Outcome perform_one(const AssembleJob& job) { return assemble(job); }

int serve() {
  while (const auto message = receive_message(kSocket)) {
    const Outcome outcome = perform(decode_job(*message));
    if (!send_message(kSocket, encode_outcome(outcome))) return 1;
    if (outcome.stop_worker) return 0;
  }
  return 0;
}

template <typename T>
Job decode_as(WireReader& reader) {
  T job;
  job.fields(reader);
  return job;
}

}  // namespace

Outcome perform(const Job& job) {
  const auto began = std::chrono::steady_clock::now();
  Outcome outcome = std::visit([](const auto& one) { return perform_one(one); }, job);
  outcome.nanoseconds = std::chrono::nanoseconds(std::chrono::steady_clock::now() - began).count();
  return outcome;
}

std::string encode_job(const Job& job) {
  WireWriter writer;
  writer(job.index());
  std::visit([&](const auto& one) { writer(one); }, job);
  return writer.bytes();
}

Job decode_job(std::string_view bytes) {
  WireReader reader(bytes);
  size_t index = 0;
  reader(index);
  if (index == 0) return decode_as<CompileJob>(reader);
  if (index == 1) return decode_as<LinkJob>(reader);
  if (index == 2) return decode_as<AssembleJob>(reader);
  return decode_as<TrialJob>(reader);
}

std::string encode_outcome(const Outcome& outcome) {
  WireWriter writer;
  writer(outcome.ok, outcome.bytes, outcome.message, outcome.nanoseconds, outcome.stop_worker);
  return writer.bytes();
}

Outcome decode_outcome(std::string_view bytes) {
  Outcome outcome;
  WireReader reader(bytes);
  reader(outcome.ok, outcome.bytes, outcome.message, outcome.nanoseconds, outcome.stop_worker);
  return outcome;
}

std::optional<int> run_worker_if_asked(int argc, char** argv) {
  if (argc != 4 || argv[1] != kWorkerArgument) return {};
  settle(std::atoi(argv[2]), std::strtoull(argv[3], nullptr, 10));
  return serve();
}

}  // namespace cameo
