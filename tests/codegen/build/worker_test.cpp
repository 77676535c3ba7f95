// Workers: whatever ends one ends a job with a sentence, its neighbours finish, and none outlives its parent.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "tests/codegen/build/build_helpers.h"

namespace cameo {
namespace {

using Kind = TrialJob::Kind;

Job trial(Kind kind, std::string text = {}) { return TrialJob{kind, std::move(text)}; }

bool has(const Outcome& outcome, const char* text) { return outcome.message.find(text) != std::string::npos; }

TEST(worker, outcomes_come_in_the_order_of_jobs) {
  std::vector<Job> jobs;
  for (int i = 0; i < 40; ++i) jobs.push_back(trial(Kind::kEcho, std::string(i * 10000, 'a' + i % 26)));
  size_t seen = 0;
  const auto outcomes = run_jobs(jobs, 3, [&](size_t done, size_t total) {
    EXPECT_GE(done, seen);
    EXPECT_EQ(total, 40u);
    seen = done;
    return true;
  });
  EXPECT_EQ(seen, 40u);
  for (int i = 0; i < 40; ++i) EXPECT_EQ(outcomes[i].bytes, std::get<TrialJob>(jobs[i]).text);
}

TEST(worker, a_crash_ends_one_job) {
  const std::vector<Job> jobs = {trial(Kind::kEcho, "a"), trial(Kind::kCrash), trial(Kind::kAbort),
                                 trial(Kind::kEcho, "b"), trial(Kind::kExit),  trial(Kind::kFatalError, "no register"),
                                 trial(Kind::kEcho, "c")};
  for (const int parallelism : {1, 2}) {
    const auto outcomes = run_jobs(jobs, parallelism);
    EXPECT_EQ(outcomes[0].bytes + outcomes[3].bytes + outcomes[6].bytes, "abc");
    EXPECT_TRUE(has(outcomes[1], "signal 11 (Segmentation fault)")) << outcomes[1].message;
    EXPECT_TRUE(has(outcomes[2], "signal 6 (Aborted)")) << outcomes[2].message;
    EXPECT_TRUE(has(outcomes[4], "exit code 3")) << outcomes[4].message;
    EXPECT_EQ(outcomes[5].message, "no register");
    for (const int failed : {1, 2, 4, 5}) EXPECT_FALSE(outcomes[failed].ok);
  }
}

TEST(worker, lack_of_memory_ends_one_job) {
  WorkerPool pool(1, {.bytes_per_worker = uint64_t{2} << 30});
  const std::vector<Job> jobs = {trial(Kind::kExhaustMemory), trial(Kind::kEcho, "a")};
  const auto outcomes = pool.run(jobs);
  EXPECT_FALSE(outcomes[0].ok);
  EXPECT_TRUE(has(outcomes[0], "memory") || has(outcomes[0], "bad_alloc")) << outcomes[0].message;
  EXPECT_EQ(outcomes[1].bytes, "a");
}

TEST(worker, endless_jobs_are_ended) {
  WorkerPool pool(2, {.seconds_per_job = 1});
  const std::vector<Job> jobs = {trial(Kind::kHang), trial(Kind::kEcho, "a")};
  const auto outcomes = pool.run(jobs);
  EXPECT_EQ(outcomes[0].message, "took longer than 1 s");
  EXPECT_EQ(outcomes[1].bytes, "a");
}

TEST(worker, progress_can_stop_the_rest) {
  const std::vector<Job> jobs = {trial(Kind::kHang), trial(Kind::kHang), trial(Kind::kEcho, "a")};
  int calls = 0;
  const auto outcomes = run_jobs(jobs, 1, [&](size_t, size_t) { return ++calls < 3; });
  for (const Outcome& outcome : outcomes) EXPECT_EQ(outcome.message, "stopped");
}

TEST(worker, a_pool_serves_again) {
  WorkerPool pool(2);
  for (int i = 0; i < 3; ++i) {
    const std::vector<Job> jobs = {trial(Kind::kEcho, "a"), trial(i == 1 ? Kind::kCrash : Kind::kEcho, "b")};
    const auto outcomes = pool.run(jobs);
    EXPECT_EQ(outcomes[0].bytes, "a");
    EXPECT_EQ(outcomes[1].ok, i != 1);
  }
}

TEST(worker, deep_text_ends_with_a_sentence) {
  std::string deep = "int x = ";
  for (int i = 0; i < 300; ++i) deep += "(";
  const Outcome outcome = run_one(compile_job("deep.cpp", deep));
  EXPECT_FALSE(outcome.ok);
  EXPECT_TRUE(has(outcome, "bracket nesting level exceeded")) << outcome.message;
}

std::string children_of(pid_t process) {
  const std::string p = std::to_string(process);
  std::ifstream file("/proc/" + p + "/task/" + p + "/children");
  std::string all;
  std::getline(file, all);
  return all;
}

bool running(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string line;
  std::getline(file, line);
  return file && line.find(") Z ") == std::string::npos;
}

// A parent that is killed cannot clean up; its workers end all the same.
TEST(worker, dies_with_its_parent) {
  const pid_t parent = fork();
  if (parent == 0) {
    const std::vector<Job> jobs = {trial(Kind::kHang), trial(Kind::kHang)};
    (void)run_jobs(jobs, 2);
    _exit(0);
  }
  std::string workers;
  for (int i = 0; i < 100 && workers.find(' ') == workers.rfind(' '); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    workers = children_of(parent);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
  size_t end = 0;
  const pid_t first = std::stoi(workers, &end);
  const pid_t second = std::stoi(workers.substr(end));
  for (int i = 0; i < 100 && (running(first) || running(second)); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_FALSE(running(first));
  EXPECT_FALSE(running(second));
}

}  // namespace
}  // namespace cameo
