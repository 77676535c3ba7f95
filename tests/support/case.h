// `.case` files: the one test format of operators, tests/ops/<snake_name>.case; the format stands in
// tests/ops/README.md. Each case is a graph of one node made through Graph::add, its inputs, and what must come of it;
// every column of the test matrix (interpreter, optimised interpreter, artifact) takes the same cases.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "frontend/ir/graph.h"
#include "frontend/ir/operator.h"

namespace cameo::test {

struct Case {
  struct Operand {
    bool present = false, constant = false, decides = false;  // decides: by its elements, which shapes are made of
    std::string name;
    Type type;
    Tensor value;
  };
  struct Output {
    bool wanted = true;  // false: `out -`
    std::string name;
    DType dtype = DType::undefined;
    std::vector<int64_t> dims;
    std::optional<Tensor> expected;  // without: the interpreter is the oracle
  };
  std::string name, where;  // the case's name; FILE:LINE
  const Operator* op = nullptr;
  int version = 0;
  Attrs attrs;
  std::vector<Operand> operands;
  std::optional<Graph> graph;   // one node (or constants, if it folded); null when making it failed, see `error`
  std::vector<Tensor> inputs;   // one an input of the graph
  std::vector<Output> outputs;  // one an output of the graph
  double ulp = 0;               // tolerance of floating outputs against `expected`
  std::optional<Code> fail;     // must fail with this code, when made or when run ..
  std::string fail_text;        // .. and a message that holds this
  std::optional<Diagnostic> error;
};

/// Makes `graph` and `inputs`, or `error`, of the operands and attributes.
void make_graph(Case& c);

/// All cases of one file, and of the `.case` files of a folder and of those in it, in order of name. A file that is not
/// understood throws std::runtime_error with FILE:LINE.
std::vector<Case> load_case_file(const std::filesystem::path& file);
std::vector<Case> load_cases(const std::filesystem::path& folder);
std::vector<std::filesystem::path> case_files(const std::filesystem::path& folder);
/// The operator that a file of tests/ops is of, as its declaration is called: microsoft/gelu.case is microsoft_gelu.
std::string operator_of(const std::filesystem::path& file);

/// An attribute's value as text, by the operator's declaration.
Attr parse_attr(const Operator& op, const std::string& name, const std::string& text);

/// What is wrong with an output, against the case's type and expected values; empty when nothing is.
std::string mismatch(const Case::Output& want, const Tensor& got, double ulp);
/// What is wrong with an error, or with the lack of one; empty when nothing is.
std::string mismatch(const Case& c, const std::optional<Diagnostic>& error);

}  // namespace cameo::test
