// frontend/OPERATORS.md is what the operators declare, and nothing else. CAMEO_UPDATE=1 writes it anew.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "frontend/ir/operator.h"

namespace cameo {
namespace {

const std::filesystem::path kTable = std::filesystem::path(CAMEO_SOURCE_DIR) / "frontend/OPERATORS.md";

struct NamedTypes {
  std::string_view name;
  DTypes types;
};
const NamedTypes kSets[] = {{"all", kTensors},     {"all but complex", kAllButComplex},
                            {"numbers", kNumbers}, {"signed", kSigned},
                            {"floats", kFloats},   {"integers", kIntegers}};

std::vector<std::string_view> names_of(DTypes types) {
  std::vector<std::string_view> names;
  for (int t = 0; t < kDTypeCount; ++t)
    if (const auto type = static_cast<DType>(t); types.contains(type)) names.push_back(name(type));
  return names;
}

std::string types_of(const InputSpec& input) {
  if (input.takes == InputSpec::Lists) return "lists";
  for (const auto& [name, types] : kSets)
    if (names_of(types) == names_of(input.types)) return std::string(name);
  return fmt::format("{}", fmt::join(names_of(input.types), " "));
}

std::string inputs_of(const Operator& op) {
  std::vector<std::string> all;
  for (const InputSpec& input : op.inputs) {
    const char* count = input.presence == InputSpec::Required   ? ""
                        : input.presence == InputSpec::Optional ? "?"
                                                                : " ..";
    const std::string types =
        input.same_as >= 0 ? fmt::format("as `{}`", op.inputs[input.same_as].name) : types_of(input);
    all.push_back(fmt::format("`{}`{}: {}", input.name, count, types));
  }
  return fmt::format("{}", fmt::join(all, "; "));
}

std::string table() {
  std::map<std::string_view, std::vector<const Operator*>> domains;
  for (const Operator& op : all_operators())
    if (op.domain != "cameo") domains[op.domain].push_back(&op);
  std::string text =
      "# Operators\n\nMade from what the operators declare (`frontend/ops`); a test holds it to that.\n\n"
      "Opsets are the versions of the schema that are covered: a model of a later opset means the last one of them. Of "
      "each "
      "input the element types; `?` may be missing, `..` are any number; casts take no strings.\n\n";
  for (const auto& [set, types] : kSets) text += fmt::format("- {}: {}\n", set, fmt::join(names_of(types), " "));
  for (auto& [domain, operators] : domains) {
    std::ranges::sort(operators, {}, &Operator::name);
    text += fmt::format("\n## {}\n\n{} operators.\n\n| operator | opsets | inputs |\n|---|---|---|\n",
                        domain.empty() ? "ai.onnx" : domain, operators.size());
    for (const Operator* op : operators)
      text += fmt::format("| {} | {} | {} |\n", op->name, fmt::join(op->since, " "), inputs_of(*op));
  }
  return text;
}

TEST(OperatorTable, IsWhatTheOperatorsDeclare) {
  const std::string wanted = table();
  if (std::getenv("CAMEO_UPDATE")) std::ofstream(kTable, std::ios::binary) << wanted;
  std::ifstream file(kTable, std::ios::binary);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), wanted) << "CAMEO_UPDATE=1 writes it anew";
}

}  // namespace
}  // namespace cameo
