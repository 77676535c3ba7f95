// fuzz_import: mutates small models and imports them, in children with the contract's limits on time and memory.
// Whatever the bytes, import must return; a signal, an internal error, a time-out or too much memory leaves the input
// in the folder given.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstring>
#include <fstream>
#include <random>

#include "frontend/import_onnx.h"
#include "tests/suite/suite.h"

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

/// The inputs begin .. begin + kBatch of the sequence; each is written out before it is tried.
[[noreturn]] void run_batch(const std::vector<std::string>& seeds, uint64_t seed, const fs::path& trial) {
  rlimit memory{kMemory, kMemory}, no_core{0, 0};
  setrlimit(RLIMIT_AS, &memory);
  setrlimit(RLIMIT_CORE, &no_core);
  Mutator mutator(seeds, seed);
  for (int i = 0; i < kBatch; ++i) {
    std::string input = mutator.next();
    std::ofstream(trial, std::ios::binary) << input;
    alarm(10);
    Diagnostics d;
    import_onnx_bytes(std::as_bytes(std::span(input)), "/nonexistent", {}, d);
  }
  _exit(0);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"mutated models against the importer"};
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
    return 0;
  }
  fs::create_directories(keep);
  int broken = 0;
  for (int b = 0; b < batches; ++b) {
    fs::path trial = fs::path(keep) / fmt::format("{}.onnx", seed + static_cast<uint64_t>(b));
    pid_t pid = fork();
    if (pid == 0) run_batch(corpus, seed + static_cast<uint64_t>(b), trial);
    int status = 0;
    waitpid(pid, &status, 0);
    if (status == 0) {
      fs::remove(trial);
      continue;
    }
    ++broken;
    std::string how = WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : fmt::format("exit {}", WEXITSTATUS(status));
    fmt::print("seed {}: {}, input kept in {}\n", seed + static_cast<uint64_t>(b), how, trial.string());
  }
  fmt::print("{} seeds, {} inputs, {} batches broken\n", corpus.size(), batches * kBatch, broken);
  return broken ? 1 : 0;
}
