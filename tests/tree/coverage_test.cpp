// What must have a test, by what stands in the tree: every operator's file a case, every pass and every named rewrite a
// golden case in which it is applied, every diagnostic code a test that names it. What lacks one is named.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <regex>
#include <set>
#include <sstream>
#include <string>

namespace {

namespace fs = std::filesystem;
const fs::path kRoot = CAMEO_SOURCE_DIR;

std::string read(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}
/// The files of a folder that end so, in one text.
std::string read_all(const fs::path& folder, const std::set<std::string>& endings) {
  std::string text;
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder)) {
    std::string name = entry.path().filename().string();
    for (const std::string& ending : endings)
      if (entry.is_regular_file() && name.ends_with(ending)) text += read(entry.path());
  }
  return text;
}
std::set<std::string> matches(const std::string& text, const std::string& pattern) {
  std::set<std::string> found;
  const std::regex regex(pattern);
  for (std::sregex_iterator it(text.begin(), text.end(), regex), end; it != end; ++it) found.insert((*it)[1]);
  return found;
}
std::string lacking(const std::set<std::string>& wanted, const std::function<bool(const std::string&)>& has) {
  std::string names;
  for (const std::string& name : wanted)
    if (!has(name)) names += " " + name;
  return names;
}

/// The files of a folder that end so, without the ending: `gelu`, `microsoft/gelu`.
std::set<std::string> stems_below(const fs::path& folder, const std::string& ending) {
  std::set<std::string> stems;
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder))
    if (entry.path().extension() == ending)
      stems.insert(fs::relative(entry.path(), kRoot / folder).replace_extension().string());
  return stems;
}

TEST(Coverage, EveryOperatorFileHasACase) {
  const std::set<std::string> graphs{"if", "loop", "scan", "sequence_map"};  // have bodies, which golden cases write
  const std::string golden = read_all("tests/optimizer", {".case"});
  const std::set<std::string> stems = stems_below("frontend/ops", ".cpp");
  EXPECT_GT(stems.size(), 150u);
  EXPECT_EQ(lacking(stems,
                    [&](const std::string& stem) {
                      std::string name;  // SequenceMap of sequence_map
                      for (size_t i = 0; i < stem.size(); ++i)
                        if (stem[i] != '_')
                          name += i && stem[i - 1] != '_' ? stem[i] : static_cast<char>(std::toupper(stem[i]));
                      if (graphs.contains(stem)) return golden.find("= " + name + "(") != std::string::npos;
                      return fs::exists(kRoot / "tests/ops" / (stem + ".case"));
                    }),
            "");
}

TEST(Coverage, EveryOperatorCaseHasAFile) {
  EXPECT_EQ(lacking(stems_below("tests/ops", ".case"),
                    [](const std::string& stem) { return fs::exists(kRoot / "frontend/ops" / (stem + ".cpp")); }),
            "");
}

TEST(Coverage, EveryPassHasAGoldenCase) {
  const std::set<std::string> passes =
      matches(read(kRoot / "optimizer/pipeline.cpp"), R"re(\{"(\w+)", \w+, Exactness)re");
  EXPECT_GE(passes.size(), 4u);
  const std::string golden = read_all("tests/optimizer/rewrites", {".case"});
  EXPECT_EQ(
      lacking(passes, [&](const std::string& pass) { return golden.find("\n" + pass + ": ") != std::string::npos; }),
      "");
}

TEST(Coverage, EveryRewriteIsAppliedInAGoldenCase) {
  const std::set<std::string> rules =
      matches(read_all("optimizer/rewrites", {".cpp"}), R"re(\b(?:apply|note)\("(\w+)")re");
  EXPECT_GE(rules.size(), 7u);
  const std::string golden = read_all("tests/optimizer/rewrites", {".case"});
  EXPECT_EQ(
      lacking(rules, [&](const std::string& rule) { return golden.find(": " + rule + " at ") != std::string::npos; }),
      "");
}

TEST(Coverage, EveryKernelFamilyStandsInAGoldenPlanAndItsReadme) {
  std::set<std::string> families;
  for (const auto& entry : fs::directory_iterator(kRoot / "optimizer/families"))
    if (entry.path().extension() == ".cpp") families.insert(entry.path().stem().string());
  EXPECT_GE(families.size(), 6u);
  const std::string golden = read_all("tests/optimizer", {".case"}),
                    readme = read(kRoot / "optimizer/families/README.md");
  EXPECT_EQ(lacking(families, [&](const std::string& f) { return golden.find(" " + f + " [") != std::string::npos; }),
            "");
  EXPECT_EQ(
      lacking(families, [&](const std::string& f) { return readme.find("| `" + f + "` |") != std::string::npos; }), "");
}

TEST(Coverage, EveryDiagnosticCodeIsNamedByATest) {
  const std::set<std::string> codes =
      matches(read(kRoot / "frontend/ir/diagnostics.def"), R"re(DIAGNOSTIC\(([EW]\d{4}))re");
  EXPECT_GT(codes.size(), 20u);
  const std::string tests = read_all("tests", {"_test.cpp", ".case"});
  EXPECT_EQ(lacking(codes, [&](const std::string& code) { return tests.find(code) != std::string::npos; }), "");
}

TEST(Coverage, LackingNamesWhatLacks) {
  EXPECT_EQ(lacking({"a", "b"}, [](const std::string& name) { return name == "a"; }), " b");
}

}  // namespace
