// See worker.h. Parent and worker share a socket; the parent sends a job, polls all sockets, and reads an outcome or,
// at the end of the stream, the reason from the process's exit status.
#include "codegen/build/worker.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <deque>

#include "codegen/build/files.h"
#include "codegen/build/serve.h"
#include "codegen/build/wire.h"

extern char** environ;

namespace cameo {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kPollMilliseconds = 100;

std::string signal_sentence(int signal) {
  const char* hint = signal == SIGKILL ? ", most likely for lack of memory" : "";
  return fmt::format("the compiler's worker was ended by signal {} ({}){}", signal, ::strsignal(signal), hint);
}

std::string ending_sentence(int status) {
  if (WIFSIGNALED(status)) return signal_sentence(WTERMSIG(status));
  return fmt::format("the compiler's worker ended with exit code {}", WEXITSTATUS(status));
}

std::string indented_tail(const std::string& text) {
  constexpr size_t kLongest = 2000;
  const std::string tail = text.size() > kLongest ? "..." + text.substr(text.size() - kLongest) : text;
  return tail.empty() ? tail : "\n" + tail;
}

}  // namespace

// One running process. Destroying it ends it.
struct WorkerPool::Worker {
  FileDescriptor socket;
  ScratchFile errors = ScratchFile::in_memory();  // its standard error
  pid_t process = -1;
  size_t job = 0;
  Clock::time_point began;

  ~Worker() { finish(SIGKILL); }

  // The exit status, after a signal or, with 0, after waiting for the process to end by itself.
  int finish(int signal) {
    if (process < 0) return 0;
    socket.reset();
    if (signal) ::kill(process, signal);
    int status = 0;
    while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {}
    process = -1;
    return status;
  }

  static std::unique_ptr<Worker> start(const WorkerLimits& limits);
};

// The socket becomes descriptor 0 of the worker; nothing else of ours is inherited.
std::unique_ptr<WorkerPool::Worker> WorkerPool::Worker::start(const WorkerLimits& limits) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return nullptr;
  auto worker = std::make_unique<Worker>();
  worker->socket = FileDescriptor(ends[0]);
  const FileDescriptor theirs(ends[1]);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, theirs.get(), 0);
  ::posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, worker->errors.descriptor(), 2);
  std::string parent = std::to_string(::getpid());
  std::string memory = std::to_string(limits.bytes_per_worker);
  std::string mark(kWorkerArgument);
  std::string name = "cameo";
  char* arguments[] = {name.data(), mark.data(), parent.data(), memory.data(), nullptr};
  const int error = ::posix_spawn(&worker->process, "/proc/self/exe", &actions, nullptr, arguments, environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error == 0) return worker;
  worker->process = -1;
  errno = error;
  return nullptr;
}

// One call of `run`: which jobs wait, which are with a worker, what came back.
class WorkerPool::Run {
 public:
  Run(WorkerPool& pool, std::span<const Job> jobs, const Progress& progress)
      : pool_(pool), jobs_(jobs), progress_(progress), outcomes_(jobs.size()) {
    for (size_t j = 0; j < jobs.size(); ++j) waiting_.push_back(j);
  }

  std::vector<Outcome> finish() {
    while (done_ < jobs_.size()) {
      hand_out();
      collect();
      if (progress_ && !progress_(done_, jobs_.size())) stop();
    }
    return std::move(outcomes_);
  }

 private:
  void hand_out();
  void hand_out_again();
  void collect();
  void take_answer(std::unique_ptr<Worker> worker);
  void lose(std::unique_ptr<Worker> worker, int signal, std::string reason);
  void conclude(size_t job, Outcome outcome);
  void stop();
  bool give(std::unique_ptr<Worker> worker, size_t job);
  bool overdue(const Worker& worker) const;

  WorkerPool& pool_;
  std::span<const Job> jobs_;
  const Progress& progress_;
  std::vector<Outcome> outcomes_;
  std::deque<size_t> waiting_;
  std::vector<size_t> killed_;  // tried again at the end, alone: neighbours may have taken the memory
  bool second_try_ = false;
  std::vector<std::unique_ptr<Worker>> busy_;
  size_t done_ = 0;
};

void WorkerPool::Run::hand_out() {
  if (waiting_.empty() && busy_.empty()) hand_out_again();
  const size_t most = second_try_ ? 1 : pool_.parallelism_;
  while (!waiting_.empty() && busy_.size() < most) {
    const size_t job = waiting_.front();
    waiting_.pop_front();
    std::unique_ptr<Worker> worker;
    if (!pool_.idle_.empty()) {
      worker = std::move(pool_.idle_.back());
      pool_.idle_.pop_back();
    } else {
      worker = Worker::start(pool_.limits_);
    }
    if (!worker) {
      conclude(job, Outcome::failure(fmt::format("cannot start a worker: {}", std::strerror(errno))));
    } else if (!give(std::move(worker), job)) {
      continue;
    }
  }
}

void WorkerPool::Run::hand_out_again() {
  second_try_ = true;
  waiting_.assign(killed_.begin(), killed_.end());
  killed_.clear();
}

bool WorkerPool::Run::give(std::unique_ptr<Worker> worker, size_t job) {
  worker->job = job;
  worker->began = Clock::now();
  const bool sent = send_message(worker->socket.get(), encode_job(jobs_[job]));
  if (sent) {
    busy_.push_back(std::move(worker));
  } else {
    lose(std::move(worker), 0, {});
  }
  return sent;
}

void WorkerPool::Run::collect() {
  std::vector<pollfd> sockets;
  for (const auto& worker : busy_) sockets.push_back({worker->socket.get(), POLLIN, 0});
  if (sockets.empty()) return;
  if (::poll(sockets.data(), sockets.size(), kPollMilliseconds) < 0) sockets.clear();  // a signal: look at the progress
  std::vector<std::unique_ptr<Worker>> still;
  std::vector<std::unique_ptr<Worker>> before = std::move(busy_);
  busy_.clear();
  for (size_t w = 0; w < before.size(); ++w) {
    if (w < sockets.size() && sockets[w].revents) {
      take_answer(std::move(before[w]));
    } else if (overdue(*before[w])) {
      lose(std::move(before[w]), SIGKILL, fmt::format("took longer than {} s", pool_.limits_.seconds_per_job));
    } else {
      busy_.push_back(std::move(before[w]));
    }
  }
}

bool WorkerPool::Run::overdue(const Worker& worker) const {
  const int limit = pool_.limits_.seconds_per_job;
  return limit > 0 && Clock::now() - worker.began > std::chrono::seconds(limit);
}

void WorkerPool::Run::take_answer(std::unique_ptr<Worker> worker) {
  const auto message = receive_message(worker->socket.get());
  if (!message) return lose(std::move(worker), 0, {});
  Outcome outcome = decode_outcome(*message);
  const bool usable = !outcome.stop_worker;
  conclude(worker->job, std::move(outcome));
  if (usable) pool_.idle_.push_back(std::move(worker));
}

void WorkerPool::Run::lose(std::unique_ptr<Worker> worker, int signal, std::string reason) {
  const int status = worker->finish(signal);
  const bool killed = reason.empty() && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  if (killed && !second_try_) return killed_.push_back(worker->job);
  if (reason.empty()) reason = ending_sentence(status);
  conclude(worker->job, Outcome::failure(reason + indented_tail(read_all(worker->errors.descriptor()))));
}

void WorkerPool::Run::conclude(size_t job, Outcome outcome) {
  outcomes_[job] = std::move(outcome);
  ++done_;
}

void WorkerPool::Run::stop() {
  waiting_.insert(waiting_.end(), killed_.begin(), killed_.end());
  killed_.clear();
  for (const auto& worker : busy_) waiting_.push_back(worker->job);
  busy_.clear();
  for (const size_t job : waiting_) conclude(job, Outcome::failure("stopped"));
  waiting_.clear();
}

WorkerPool::WorkerPool(int parallelism, WorkerLimits limits) : parallelism_(parallelism), limits_(limits) {}

WorkerPool::~WorkerPool() = default;

std::vector<Outcome> WorkerPool::run(std::span<const Job> jobs, const Progress& progress) {
  if (parallelism_ > 0) return Run(*this, jobs, progress).finish();
  std::vector<Outcome> outcomes;
  for (const Job& job : jobs) outcomes.push_back(perform(job));
  return outcomes;
}

std::vector<Outcome> run_jobs(std::span<const Job> jobs, int parallelism, const Progress& progress) {
  return WorkerPool(parallelism).run(jobs, progress);
}

}  // namespace cameo
