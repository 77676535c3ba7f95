// fuzz_import: imports small models, as they are and mutated, in children with the contract's limits on time and
// memory. Whatever the bytes, import must return; a signal, an internal error, a time-out or too much memory leaves the
// input in the folder given.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>
#include <functional>
#include <random>

#include "frontend/import/import_onnx.h"
#include "tests/suite/suite.h"
#include "tests/support/time_limit.h"

using namespace cameo;
namespace fs = std::filesystem;

namespace {

constexpr size_t kSmall = 64 << 10;            // seeds beyond this say nothing new
constexpr int kBatch = 100;                    // inputs a child
constexpr rlim_t kMemory = rlim_t{768} << 20;  // the contract's 256 MiB, and what the program maps

std::string read(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> seeds(std::span<const suite::Case> cases) {
  std::vector<std::string> all;
  std::vector<fs::path> files;
  for (auto& c : cases) files.push_back(c.model);
  for (const char* folder : {"hostile", "models"})
    if (fs::is_directory(fs::path(CAMEO_SHARED) / folder))
      for (auto& e : fs::directory_iterator(fs::path(CAMEO_SHARED) / folder)) files.push_back(e.path());
  std::sort(files.begin(), files.end());
  for (auto& f : files)
    if (f.extension() == ".onnx" && fs::file_size(f) <= kSmall && fs::file_size(f) > 0) all.push_back(read(f));
  return all;
}

class Mutator {
 public:
  Mutator(const std::vector<std::string>& seeds, uint64_t seed) : seeds_(seeds), random_(seed) {}
  std::string next() {
    std::string s = pick();
    for (size_t n = 1 + below(4); n-- > 0 && !s.empty();) mutate(s);
    return s;
  }

 private:
  size_t below(size_t n) { return n ? random_() % n : 0; }
  const std::string& pick() { return seeds_[below(seeds_.size())]; }
  void mutate(std::string& s) {
    static constexpr uint8_t kOdd[] = {0, 1, 2, 7, 0x7f, 0x80, 0xff, 0xfe, 10, 16};
    size_t at = below(s.size()), length = 1 + below(std::min<size_t>(64, s.size() - at));
    switch (below(7)) {
      case 0: s[at] = static_cast<char>(random_()); break;
      case 1: s[at] = static_cast<char>(s[at] ^ 1 << below(8)); break;
      case 2: s[at] = static_cast<char>(kOdd[below(sizeof kOdd)]); break;
      case 3: s.erase(at, length); break;
      case 4: s.insert(below(s.size()), s.substr(at, length)); break;
      case 5: {  // a piece of another model, where its length may still fit
        const std::string& other = pick();
        size_t from = below(other.size()), n = std::min({length, other.size() - from, s.size() - at});
        s.replace(at, n, other, from, n);
        break;
      }
      default: s[at] = static_cast<char>(s[at] + (below(2) ? 1 : -1));
    }
  }
  const std::vector<std::string>& seeds_;
  std::mt19937_64 random_;
};

/// A batch of inputs; each is written out before it is tried.
[[noreturn]] void run_batch(const std::function<std::string(int)>& input_of, const fs::path& trial) {
  [[maybe_unused]] rlimit memory{kMemory, kMemory};
  rlimit no_core{0, 0};
#ifndef CAMEO_SANITIZED  // which maps terabytes
  setrlimit(RLIMIT_AS, &memory);
#endif
  setrlimit(RLIMIT_CORE, &no_core);
  for (int i = 0; i < kBatch; ++i) {
    const std::string input = input_of(i);
    std::ofstream(trial, std::ios::binary) << input;
    test::limit_time(10);
    Diagnostics d;
    import_onnx_bytes(std::as_bytes(std::span(input)), "/nonexistent", {}, d);
  }
  _exit(0);
}

/// Whether a child imports the batch and ends; if not, the input that it stopped at is kept.
bool passes(const std::string& name, const fs::path& keep, const std::function<std::string(int)>& input_of) {
  const fs::path trial = keep / (name + ".onnx");
  std::fflush(stdout);  // or the child writes it again
  const pid_t pid = fork();
  if (pid == 0) run_batch(input_of, trial);
  int status = 0;
  waitpid(pid, &status, 0);
  if (status == 0) return fs::remove(trial);
  const std::string how =
      WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : fmt::format("exit {}", WEXITSTATUS(status));
  fmt::print("{}: {}, input kept in {}\n", name, how, trial.string());
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"models, as they are and mutated, against the importer"};
  int batches = 20;
  uint64_t seed = 1;
  std::string keep = CAMEO_BINARY_DIR "/fuzz";
  app.add_option("--batches", batches, "of 100 inputs");
  app.add_option("--seed", seed);
  app.add_option("--keep", keep, "folder for inputs that break the contract");
  CLI11_PARSE(app, argc, argv);
  std::string note;
  std::vector<suite::Case> cases = suite::find_cases(CAMEO_SHARED, CAMEO_BINARY_DIR "/suite", note);
  std::vector<std::string> corpus = seeds(cases);
  if (corpus.empty()) {
    fmt::print("skipped: {}\n", note);
    return 77;
  }
  fs::create_directories(keep);
  int broken = 0;
  for (size_t first = 0; first < corpus.size(); first += kBatch)
    broken += !passes(fmt::format("as_is_{}", first), keep,
                      [&](int i) { return corpus[std::min(first + static_cast<size_t>(i), corpus.size() - 1)]; });
  for (uint64_t b = seed; b < seed + static_cast<uint64_t>(batches); ++b) {
    Mutator mutator(corpus, b);
    broken += !passes(fmt::format("{}", b), keep, [&](int) { return mutator.next(); });
  }
  fmt::print("{} models, {} mutated, {} batches broken\n", corpus.size(), batches * kBatch, broken);
  return broken ? 1 : 0;
}
