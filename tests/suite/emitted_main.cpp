// emitted_texts: a hash of the printed plan and of the emitted sources of the real models, of every operator's cases
// and of a sample of the public suite, for every kind of target, against the table tests/suite/emitted.tsv. What claims
// to change nothing changes no row; what does change rows says so by the table's diff. `--texts FOLDER` writes the
// texts.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <functional>
#include <map>

#include "codegen/build/content_hash.h"
#include "codegen/print_module.h"
#include "tests/suite/suite.h"
#include "tests/support/case.h"
#include "tests/support/child.h"
#include "tests/support/road.h"

using namespace cameo;
using namespace cameo::suite;
namespace fs = std::filesystem;

namespace {

constexpr size_t kSampled = 8;  // of so many cases of the suite one is in the table
constexpr int kFiles = 2;       // that kernels are split into
const fs::path kTable = fs::path(CAMEO_SOURCE_DIR) / "tests/suite/emitted.tsv";

const std::vector<Target>& targets() {
  static const std::vector<Target> all = [] {
    std::vector<Target> list = named_targets();
    std::erase_if(list, [](const Target& t) { return !t.extensions.empty(); });
    list.push_back(gpu_target({"ptx"}));
    return list;
  }();
  return all;
}

struct Texts {
  std::string plan, sources;
};

/// The diagnostic instead, where the graph is refused.
Texts texts_of(const Graph& g, const Target& target) {
  try {
    const Module m = test::plan_graph(g, "model", target);
    Texts t{to_string(m.plans[0], *m.sources), ""};
    const EmittedModule emitted = print_module(m, kFiles);
    for (const auto& files : emitted.kernels)
      for (const SourceFile& f : files) t.sources += f.text;
    t.sources += emitted.program.text;
    return t;
  } catch (const CompileError& e) { return {to_string(e.diagnostic), ""}; }
}

class Table {
 public:
  explicit Table(fs::path texts) : texts_(std::move(texts)) {}

  using Visit = std::function<void(const Graph&)>;
  /// A row, of the graphs that `each` gives: in a child, so that nothing compiled before has made its expressions.
  void add(const std::string& name, const std::function<void(const Visit&)>& each) {
    const std::string row = test::in_child([&] {
      std::vector<Texts> all(targets().size());
      bool any = false;
      each([&](const Graph& g) {
        any = true;
        for (size_t t = 0; t < all.size(); ++t) {
          const Texts one = texts_of(g, targets()[t]);
          all[t].plan += one.plan;
          all[t].sources += one.sources;
        }
      });
      std::string text;
      for (size_t t = 0; t < all.size() && any; ++t) {
        text += fmt::format("\t{} {}", hash(all[t].plan), hash(all[t].sources));
        write(name, targets()[t], all[t]);
      }
      return text;
    });
    if (!row.empty()) rows_[name] = row;
  }
  const std::map<std::string, std::string>& rows() const { return rows_; }

 private:
  static std::string hash(const std::string& text) {
    constexpr size_t kDigits = 12;
    return content_hash(std::as_bytes(std::span(text))).substr(0, kDigits);
  }
  void write(const std::string& name, const Target& target, const Texts& texts) const {
    if (texts_.empty()) return;
    fs::create_directories(texts_ / name);
    std::ofstream(texts_ / name / (target.name + ".plan")) << texts.plan;
    std::ofstream(texts_ / name / (target.name + ".sources")) << texts.sources;
  }

  fs::path texts_;
  std::map<std::string, std::string> rows_;
};

void add_operators(Table& table) {
  for (const fs::path& file : test::case_files(fs::path(CAMEO_SOURCE_DIR) / "tests/ops"))
    table.add("operator/" + test::operator_of(file), [&](const Table::Visit& visit) {
      for (const test::Case& c : test::load_case_file(file))
        if (c.graph) visit(*c.graph);
    });
}

void add_models(Table& table) {
  for (const auto& [name, options] : golden_models(CAMEO_SHARED))
    table.add("model/" + name, [&](const Table::Visit& visit) {
      Diagnostics diagnostics;
      const Model model = import_onnx(fs::path(CAMEO_SHARED) / "models" / (name + ".onnx"), options, diagnostics);
      if (!diagnostics.has_errors()) visit(model.graph);
    });
}

void add_suite(Table& table) {
  std::string note;
  const std::vector<Case> cases = find_cases(CAMEO_SHARED, CAMEO_BINARY_DIR, note);
  for (size_t i = 0; i < cases.size(); i += kSampled)
    table.add("suite/" + cases[i].name, [&](const Table::Visit& visit) {
      run_case(cases[i], [&](const Model& model) {
        visit(model.graph);
        return [](std::span<const Tensor>) { return std::vector<Tensor>(); };
      });
    });
}

std::map<std::string, std::string> read_table() {
  std::map<std::string, std::string> rows;
  std::ifstream in(kTable);
  for (std::string line; std::getline(in, line);) {
    const size_t tab = line.find('\t');
    if (tab != std::string::npos && tab > 0 && line[0] != '#') rows[line.substr(0, tab)] = line.substr(tab);
  }
  return rows;
}

void write_table(const std::map<std::string, std::string>& rows) {
  std::string text =
      "# build/emitted_texts --write makes this: a name, and for each target the hashes of plan and sources\n#";
  for (const Target& t : targets()) text += "\t" + t.name;
  text += "\n";
  for (const auto& [name, row] : rows) text += name + row + "\n";
  std::ofstream(kTable) << text;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"hashes of printed plans and emitted sources, against tests/suite/emitted.tsv"};
  bool write = false;
  std::string texts;
  std::vector<std::string> parts;
  app.add_flag("--write", write, "the table anew");
  app.add_option("--texts", texts, "a folder that the texts go to");
  app.add_option("parts", parts, "all without one")->check(CLI::IsMember({"operators", "models", "suite"}));
  CLI11_PARSE(app, argc, argv);
  const bool has_shared = fs::exists(fs::path(CAMEO_SHARED) / "models/golden/dims.tsv");
  const auto wanted = [&](std::string_view part) { return parts.empty() || std::ranges::count(parts, part); };
  Table table(texts);
  if (wanted("operators")) add_operators(table);
  if (wanted("models") && has_shared) add_models(table);
  if (wanted("suite") && has_shared) add_suite(table);
  std::map<std::string, std::string> rows = read_table();
  if (write) {
    int without = 0;
    for (const auto& [name, row] : table.rows()) {
      if (row.starts_with('\t')) {
        rows[name] = row;
        continue;
      }
      fmt::print("{} has no texts: {}\n", name, row);
      ++without;
    }
    write_table(rows);
    return without ? 1 : 0;
  }
  int different = 0;
  for (const auto& [name, row] : table.rows()) {
    if (const auto it = rows.find(name); it != rows.end() && it->second == row) continue;
    fmt::print("{} is not as in the table:{}\n", name, row);
    ++different;
  }
  fmt::print("{} of {} as in the table\n", static_cast<int>(table.rows().size()) - different, table.rows().size());
  if (table.rows().empty()) {
    fmt::print("skipped: {} is not here\n", (fs::path(CAMEO_SHARED) / "models/golden").string());
    return 77;
  }
  return different ? 1 : 0;
}
