// The tree itself: no include runs up a floor, no two files include each other, only codegen/build/ knows LLVM, every
// file says what it is, and no path of one machine stands anywhere. Each rule is a function over `Sources`, so it is
// also shown to catch its offence.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using Sources = std::map<std::string, std::string>;  // path from the root, with '/', to text
using Offences = std::vector<std::string>;

constexpr std::array kFloors = {"runtime", "frontend", "optimizer", "codegen", "cli"};

// 1 to 5 for what stands on a floor, 0 for the rest of the tree (tests and models may include any floor).
int floor_of(const std::string& path) {
  const std::string folder = path.substr(0, path.find('/'));
  const auto at = std::find(kFloors.begin(), kFloors.end(), folder);
  return at == kFloors.end() ? 0 : static_cast<int>(at - kFloors.begin()) + 1;
}

bool starts_with_any(const std::string& text, std::initializer_list<const char*> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](const char* p) { return text.starts_with(p); });
}

std::vector<std::string> includes_of(const std::string& text) {
  static const std::regex kInclude(R"re(^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"])re", std::regex::multiline);
  std::vector<std::string> found;
  for (std::sregex_iterator it(text.begin(), text.end(), kInclude), end; it != end; ++it) found.push_back((*it)[1]);
  return found;
}

// The file of the tree that an include means: beside the includer, from the root, or from runtime/ (as emitted code
// writes it). What is in none of these (a system header, a generated one) keeps its spelling, which still tells its
// floor.
std::string resolve(const Sources& sources, const std::string& from, const std::string& include) {
  for (const fs::path& folder : {fs::path(from).parent_path(), fs::path(), fs::path("runtime")}) {
    const std::string path = (folder / include).lexically_normal().generic_string();
    if (sources.contains(path)) return path;
  }
  return include;
}

Offences upward_includes(const Sources& sources) {
  Offences found;
  for (const auto& [path, text] : sources) {
    const int floor = floor_of(path);
    for (const std::string& include : includes_of(text)) {
      const std::string target = resolve(sources, path, include);
      if (floor != 0 && (floor_of(target) > floor || target.starts_with("tests/")))
        found.push_back(path + " includes " + target);
    }
  }
  return found;
}

// Depth first; an include of a file that is still open closes a circle.
struct CircleFinder {
  const Sources& sources;
  Offences found;
  std::vector<std::string> open;
  std::set<std::string> closed;

  void visit(const std::string& path) {
    if (const auto at = std::find(open.begin(), open.end(), path); at != open.end()) {
      std::string circle;
      for (auto file = at; file != open.end(); ++file) circle += *file + " -> ";
      found.push_back(circle + path);
    } else if (sources.contains(path) && !closed.contains(path)) {
      open.push_back(path);
      for (const std::string& include : includes_of(sources.at(path))) visit(resolve(sources, path, include));
      open.pop_back();
      closed.insert(path);
    }
  }
};

Offences include_circles(const Sources& sources) {
  CircleFinder finder{sources, {}, {}, {}};
  for (const auto& [path, text] : sources) finder.visit(path);
  return finder.found;
}

Offences llvm_outside_build(const Sources& sources) {
  Offences found;
  for (const auto& [path, text] : sources) {
    if (starts_with_any(path, {"codegen/build/", "tests/codegen/"})) continue;
    for (const std::string& include : includes_of(text))
      if (starts_with_any(include, {"llvm/", "llvm-c/", "clang/", "clang-c/", "lld/"}))
        found.push_back(path + " includes " + include);
  }
  return found;
}

Offences without_opening(const Sources& sources) {
  Offences found;
  for (const auto& [path, text] : sources)
    if (!starts_with_any(text, {"//", "/*"})) found.push_back(path + " does not open with what it is");
  return found;
}

// The pattern is written with classes so that it does not match itself.
Offences machine_paths(const Sources& sources) {
  static const std::regex kPath(
      R"((^|[^A-Za-z0-9_.$}/-])/(hom[e]|roo[t]|wor[k]|far[m]|User[s]|opt/oracl[e]|tmp/w[t])/[A-Za-z0-9._])");
  Offences found;
  for (const auto& [path, text] : sources) {
    std::istringstream lines(text);
    std::string line;
    for (int number = 1; std::getline(lines, line); ++number)
      if (std::regex_search(line, kPath)) found.push_back(path + ":" + std::to_string(number) + ": " + line);
  }
  return found;
}

bool has_header(const Sources& sources, const std::string& path, const std::string& header,
                std::set<std::string>& seen) {
  if (path == header) return true;
  if (!sources.contains(path) || !seen.insert(path).second) return false;
  const std::vector<std::string> includes = includes_of(sources.at(path));
  return std::any_of(includes.begin(), includes.end(), [&](const std::string& include) {
    return has_header(sources, resolve(sources, path, include), header, seen);
  });
}

// Standard headers that one library's other headers bring along and the next one's do not (g++ 12 and g++ 14 differ).
Offences missing_headers(const Sources& sources) {
  static const std::vector<std::pair<std::string, std::regex>> kRows = {
      {"algorithm",
       std::regex(
           R"(std::(find|find_if|(stable_)?sort|(any|all|none)_of|count|count_if|copy|copy_n|fill|fill_n|reverse|)"
           R"(equal|transform|(max|min)_element|(lower|upper)_bound|unique|remove_if|rotate|clamp|generate)\()")},
      {"numeric", std::regex(R"(std::(iota|accumulate|reduce|inner_product|gcd|lcm)\()")},
      {"cstring", std::regex(R"(std::(memcpy|memcmp|memset|memmove|strlen|strcmp)\()")}};
  Offences found;
  for (const auto& [path, text] : sources)
    for (const auto& [header, use] : kRows) {
      std::set<std::string> seen;
      if (std::regex_search(text, use) && !has_header(sources, path, header, seen))
        found.push_back(path + " uses <" + header + "> and does not include it");
    }
  return found;
}

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

bool is_source(const fs::path& path) {
  static const std::set<std::string> kEndings = {".h", ".cpp", ".c", ".cu", ".hpp"};
  return kEndings.contains(path.extension().string());
}

// Every file of the checkout whose name passes; build folders, git's and editors' own stay out.
template <class Filter>
Sources files_of_tree(Filter wanted) {
  const fs::path root = CAMEO_SOURCE_DIR;
  Sources sources;
  for (auto it = fs::recursive_directory_iterator(root); it != fs::recursive_directory_iterator(); ++it) {
    const std::string name = it->path().filename().string();
    const bool at_root = it.depth() == 0;
    if (it->is_directory() &&
        (name == "__pycache__" || (at_root && name != ".ci" && starts_with_any(name, {".", "build"}))))
      it.disable_recursion_pending();
    else if (it->is_regular_file() && name != ".git" && wanted(it->path()))
      sources[it->path().lexically_relative(root).generic_string()] = read(it->path());
  }
  return sources;
}

bool is_text(const fs::path& path) {
  const std::string text = read(path);
  return text.find('\0') == std::string::npos;
}

const Sources& sources_of_tree() {
  static const Sources kSources = files_of_tree(is_source);
  return kSources;
}

std::string listed(const Offences& offences) {
  std::string text;
  for (const std::string& offence : offences) text += "  " + offence + "\n";
  return text;
}

TEST(Tree, HasSources) { EXPECT_TRUE(sources_of_tree().contains("tests/tree/tree_test.cpp")); }

TEST(Tree, NoIncludeRunsUpAFloor) {
  const Offences found = upward_includes(sources_of_tree());
  EXPECT_TRUE(found.empty()) << listed(found);
}

TEST(Tree, NoTwoFilesIncludeEachOther) {
  const Offences found = include_circles(sources_of_tree());
  EXPECT_TRUE(found.empty()) << listed(found);
}

TEST(Tree, OnlyCodegenBuildKnowsLlvm) {
  const Offences found = llvm_outside_build(sources_of_tree());
  EXPECT_TRUE(found.empty()) << listed(found);
}

TEST(Tree, EveryFileOpensWithWhatItIs) {
  const Offences found = without_opening(sources_of_tree());
  EXPECT_TRUE(found.empty()) << listed(found);
}

TEST(Tree, EveryFileIncludesWhatItUses) {
  const Offences found = missing_headers(sources_of_tree());
  EXPECT_TRUE(found.empty()) << listed(found);
}

TEST(Tree, NoPathOfOneMachine) {
  const Offences found = machine_paths(files_of_tree(is_text));
  EXPECT_TRUE(found.empty()) << listed(found);
}

TEST(TreeRules, CatchAnIncludeThatRunsUp) {
  EXPECT_EQ(upward_includes({{"frontend/a.h", "  #  include \"optimizer/b.h\"\n"}, {"optimizer/b.h", ""}}).size(), 1u);
  EXPECT_EQ(upward_includes({{"frontend/ops/a.h", "#include \"../../cli/b.h\"\n"}, {"cli/b.h", ""}}).size(), 1u);
  EXPECT_EQ(upward_includes({{"runtime/a.h", "#include \"frontend/generated.h\"\n"}}).size(), 1u);
  EXPECT_EQ(upward_includes({{"cli/a.cpp", "#include \"tests/b.h\"\n"}}).size(), 1u);
}

TEST(TreeRules, AllowIncludesDownAndAlong) {
  EXPECT_TRUE(
      upward_includes({{"optimizer/a.h", "#include \"frontend/b.h\"\n#include \"plan/c.h\"\n#include <cli.h>\n"},
                       {"optimizer/plan/c.h", "#include \"runtime/d.h\"\n"},
                       {"tests/cli/e_test.cpp", "#include \"cli/f.h\"\n"}})
          .empty());
}

TEST(TreeRules, CatchCirclesOfAnyLength) {
  EXPECT_EQ(include_circles({{"runtime/a.h", "#include \"a.h\"\n"}}), Offences{"runtime/a.h -> runtime/a.h"});
  EXPECT_EQ(include_circles({{"runtime/a.h", "#include \"b.h\"\n"},
                             {"runtime/b.h", "#include \"runtime/kernels/c.h\"\n"},
                             {"runtime/kernels/c.h", "#include \"../a.h\"\n"}}),
            Offences{"runtime/a.h -> runtime/b.h -> runtime/kernels/c.h -> runtime/a.h"});
}

TEST(TreeRules, AllowADiamond) {
  EXPECT_TRUE(include_circles({{"runtime/a.h", "#include \"b.h\"\n#include \"c.h\"\n"},
                               {"runtime/b.h", "#include \"d.h\"\n"},
                               {"runtime/c.h", "#include \"d.h\"\n"},
                               {"runtime/d.h", ""}})
                  .empty());
}

TEST(TreeRules, CatchLlvmElsewhere) {
  EXPECT_EQ(llvm_outside_build({{"codegen/print.cpp", "#include <llvm/IR/Module.h>\n"}}).size(), 1u);
  EXPECT_EQ(llvm_outside_build({{"cli/main.cpp", "#include \"clang/Basic/Version.h\"\n"}}).size(), 1u);
  EXPECT_TRUE(llvm_outside_build({{"codegen/build/link.cpp", "#include <lld/Common/Driver.h>\n"}}).empty());
}

TEST(TreeRules, CatchAStandardHeaderThatCameByChance) {
  const std::string use = "int n = std::" + std::string("count(a, b, 1);\n");
  EXPECT_EQ(missing_headers({{"cli/a.cpp", "#include <vector>\n" + use}}).size(), 1u);
  EXPECT_TRUE(missing_headers({{"cli/a.cpp", "#include <algorithm>\n" + use}}).empty());
  EXPECT_TRUE(
      missing_headers({{"cli/a.cpp", "#include \"b.h\"\n" + use}, {"cli/b.h", "#include <algorithm>\n"}}).empty());
}

TEST(TreeRules, CatchPathsOfOneMachine) {
  const std::string home = std::string("/ho") + "me/";
  EXPECT_EQ(machine_paths({{"a.txt", "see " + home + "ann/x\n"}, {"b.txt", "\"" + home + "b\"\n"}}).size(), 2u);
  EXPECT_TRUE(machine_paths({{"a.txt", "$PREFIX" + home + "x\n/usr/include/x.h\n"}}).empty());
}

}  // namespace
