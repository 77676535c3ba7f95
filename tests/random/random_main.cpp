// random_graphs: models drawn from seeds, each through every column (columns.h); what differs is printed with its seed,
// made smaller. Each batch runs in a child, so that a crash is a fault like others.
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <optional>
#include <regex>
#include <sstream>

#include "codegen/build/worker.h"
#include "optimizer/pipeline.h"
#include "tests/random/columns.h"
#include "tests/support/artifact.h"
#include "tests/support/child.h"

using namespace cameo;
using namespace cameo::random;

namespace {

struct Options {
  uint64_t seed = 1;
  int64_t count = 100;
  int64_t batch = 40;
  bool artifacts = false, sizes = false, print = false, reduce = true;
  std::optional<std::string> skip;  // a pass that every artifact leaves out; else each batch another one
  std::vector<std::string> cases;
};

struct Model {
  std::string title;  // its seed, or its file
  Lines lines;
};

std::string prefix_of(int64_t i) { return fmt::format("{}{}", static_cast<char>('a' + i % 26), i / 26) + "_"; }

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}
constexpr std::string_view kDone = "done";

std::string check_columns(const Lines& lines, const Options& o) {
  return o.sizes ? check_sizes(lines) : check_plans(lines);
}

/// What is wrong with one model, in a child of its own; with what that said before it died.
std::string check_alone(const Lines& lines, const Options& o, const std::string& skip) {
  const int said = memfd_create("said", 0);
  std::string what = test::in_child([&]() -> std::string {
    dup2(said, STDERR_FILENO);
    if (std::string wrong = check_columns(lines, o); !wrong.empty() || !o.artifacts) return wrong;
    std::vector<std::string> wrong = check_artifact({lines}, skip);
    return wrong.empty() ? "" : wrong[0].substr(wrong[0].find(' ') + 1);
  });
  char text[400];
  ssize_t n = pread(said, text, sizeof text, 0);
  close(said);
  return n <= 0 ? what : fmt::format("{}: {}", what, std::string(text, static_cast<size_t>(n)));
}

/// What a smaller model must have in common with a fault: all that it says but numbers and names.
std::string kind_of(const std::string& what) {
  static const std::regex kNames("`[^`]*`|-?[0-9.]+(e[-+][0-9]+)?");
  std::string first = what.substr(0, what.find('\n'));
  if (size_t at = first.find("element "); at != std::string::npos) first.resize(at);
  return std::regex_replace(first, kNames, "").substr(0, 80);
}

void report(const Model& m, const std::string& what, const Options& o, const std::string& skip) {
  fmt::print("{}{}: {}\n", m.title, o.artifacts && !skip.empty() ? ", artifacts without " + skip : "", what);
  Lines lines = m.lines;
  if (o.reduce) {
    lines = reduced(lines, [&](const Lines& fewer) { return kind_of(check_alone(fewer, o, skip)) == kind_of(what); });
    fmt::print("  as small: {}\n", check_alone(lines, o, skip));
  }
  fmt::print("{}\n", text_of(lines));
  std::fflush(stdout);
}

/// All models of a batch in one child; one by one where it does not come to its end.
std::vector<size_t> suspects(const std::vector<Model>& batch, const Options& o, const std::string& skip) {
  std::string text = test::in_child(
      [&] {
        std::string wrong;
        std::vector<Lines> sound;
        std::vector<size_t> number;
        for (size_t i = 0; i < batch.size(); ++i) {
          if (std::string what = check_columns(batch[i].lines, o); !what.empty()) {
            wrong += fmt::format("{}\n", i);
          } else {
            sound.push_back(batch[i].lines);
            number.push_back(i);
          }
        }
        if (o.artifacts)
          for (const std::string& line : check_artifact(sound, skip))
            wrong += fmt::format("{}\n", number[std::stoul(line)]);
        return wrong + std::string(kDone);
      },
      600);
  std::vector<size_t> found;
  if (text.ends_with(kDone)) {
    for (const std::string& line : lines_of(text))
      if (line != kDone) found.push_back(std::stoul(line));
    return found;
  }
  fmt::print("a batch: {}\n", text);
  for (size_t i = 0; i < batch.size(); ++i) found.push_back(i);
  return found;
}

/// Passes that a plan can do without.
std::vector<std::string> skippable() {
  std::vector<std::string> names{""};  // and none left out
  for (const Pass& p : passes())
    if (p.reached == Waypoint::Replayed) names.emplace_back(p.name);
  return names;
}

int check_batch(const std::vector<Model>& batch, const Options& o, const std::string& skip) {
  int wrong = 0;
  for (size_t i : suspects(batch, o, skip)) {
    std::string what = check_alone(batch[i].lines, o, skip);
    if (what.empty()) continue;
    report(batch[i], what, o, skip);
    ++wrong;
  }
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  if (const auto code = run_worker_if_asked(argc, argv)) return *code;
  CLI::App app{"random models through every column"};
  Options o;
  app.add_option("--seed", o.seed, "of the first model; the next ones follow");
  app.add_option("--count", o.count, "models");
  app.add_option("--batch", o.batch, "models that share an artifact");
  app.add_flag("--artifacts", o.artifacts, "compile them, too");
  app.add_option("--skip", o.skip, "the pass that the artifacts leave out");
  app.add_flag("--sizes", o.sizes, "one plan over sizes in place of the inputs' extents instead, at several of them");
  app.add_flag("--print", o.print, "print the models and do nothing");
  app.add_flag("!--no-reduce", o.reduce, "print models that are wrong as they are");
  app.add_option("cases", o.cases, "files of models instead");
  CLI11_PARSE(app, argc, argv);
  if (o.artifacts) test::warm_up_compiler();
  int wrong = 0, refused = 0;
  std::vector<Model> batch;
  int64_t done = 0, batches = 0;
  auto flush = [&] {
    static const std::vector<std::string> skips = skippable();  // each batch of artifacts leaves out another pass
    const std::string& next = o.cases.empty() ? skips[static_cast<size_t>(batches++) % skips.size()] : skips[0];
    wrong += check_batch(batch, o, o.skip.value_or(next));
    done += static_cast<int64_t>(batch.size());
    batch.clear();
  };
  for (const std::string& file : o.cases) batch.push_back({file, read_case(file)});
  if (o.cases.empty())
    for (int64_t i = 0; i < o.count; ++i) {
      uint64_t seed = o.seed + static_cast<uint64_t>(i);
      batch.push_back({fmt::format("seed {}", seed), generate(seed, prefix_of(i % o.batch), &refused)});
      if (o.print) {
        fmt::print("# seed {}\n{}\n", seed, text_of(batch.back().lines));
        batch.clear();
      } else if (static_cast<int64_t>(batch.size()) == o.batch) {
        flush();
      }
    }
  if (!batch.empty()) flush();
  if (!o.print)
    fmt::print("{} models from seed {}: {} wrong ({} nodes were refused when drawn)\n", done, o.seed, wrong, refused);
  return wrong ? 1 : 0;
}
