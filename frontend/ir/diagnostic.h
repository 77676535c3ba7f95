// Diagnostics: what is wrong with a model, said once, with a stable code, the ONNX node and a hint.
// CompileError carries one diagnostic up to where the node in hand is known; Diagnostics collects all of a model's.
#pragma once
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace cameo {

enum class Code {
#define DIAGNOSTIC(code, title, text) code,
#include "frontend/ir/diagnostics.def"
#undef DIAGNOSTIC
};
std::string_view code_name(Code code);
std::string_view code_title(Code code);
std::string_view code_text(Code code);
bool is_warning(Code code);
const Code* find_code(std::string_view name);  // null when there is none

struct Diagnostic {
  Code code;
  std::string message;     // lower case, no full stop, identifiers in back-ticks
  std::string file, node;  // where: `model.onnx`, "node 57 `/up4/Resize`, output `x_318`"
  std::vector<std::string> notes;
  std::string help;
  std::string unknown = {};  // the value whose elements have to be known, where that is what is wrong
};
/// Several lines of text: "error[E0213]: ..", "  --> where", notes and help. Names are printed with control bytes
/// escaped.
std::string to_string(const Diagnostic& d);
/// Printable form of a name that may hold any bytes; back-ticks around it are the caller's.
std::string printable(std::string_view name);

class CompileError : public std::runtime_error {
 public:
  CompileError(Code code, std::string message, std::string help = {});
  explicit CompileError(Diagnostic d);
  Diagnostic diagnostic;
};

class Diagnostics {
 public:
  void add(Diagnostic d);
  bool has_errors() const { return errors_ > 0; }
  int errors() const { return errors_; }
  const std::vector<Diagnostic>& all() const { return all_; }
  std::string file;  // stamped on every diagnostic that has none

 private:
  std::vector<Diagnostic> all_;
  int errors_ = 0;
};

}  // namespace cameo
