// The table of codes and the text form of a diagnostic.
#include "frontend/ir/diagnostic.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "frontend/ir/check.h"
#include "runtime/printable.h"

namespace cameo {
namespace {
struct Row {
  Code code;
  std::string_view name, title, text;
};
constexpr Row kRows[] = {
#define DIAGNOSTIC(code, title, text) {Code::code, #code, title, text},
#include "frontend/ir/diagnostics.def"
#undef DIAGNOSTIC
};
const Row& row(Code c) { return kRows[static_cast<int>(c)]; }
}  // namespace

std::string_view code_name(Code c) { return row(c).name; }
std::string_view code_title(Code c) { return row(c).title; }
std::string_view code_text(Code c) { return row(c).text; }
bool is_warning(Code c) { return code_name(c)[0] == 'W'; }
const Code* find_code(std::string_view name) {
  for (const Row& r : kRows)
    if (r.name == name) return &r.code;
  return nullptr;
}

std::string printable(std::string_view s) {
  std::string out(4 * s.size(), '\0');
  out.resize(rt::printable(s.data(), s.size(), out.data(), out.size()));
  return out;
}

std::string to_string(const Diagnostic& d) {
  std::string s = fmt::format("{}[{}]: {}\n", is_warning(d.code) ? "warning" : "error", code_name(d.code), d.message);
  if (!d.file.empty() || !d.node.empty())
    s += fmt::format("  --> {}{}{}\n", printable(d.file), d.file.empty() || d.node.empty() ? "" : ": ", d.node);
  for (auto& note : d.notes) s += fmt::format("  note: {}\n", note);
  if (!d.help.empty()) s += fmt::format("  help: {}\n", d.help);
  return s;
}

CompileError::CompileError(Code code, std::string message, std::string help)
    : std::runtime_error(message), diagnostic{code, std::move(message), {}, {}, {}, std::move(help)} {}
CompileError::CompileError(Diagnostic d) : std::runtime_error(d.message), diagnostic(std::move(d)) {}

void Diagnostics::add(Diagnostic d) {
  if (d.file.empty()) d.file = file;
  errors_ += !is_warning(d.code);
  all_.push_back(std::move(d));
}

void internal_error(const std::string& what) {
  fmt::print(stderr, "cameo: internal error: {}\nthis is a bug of cameo, not of your model\n", what);
  std::exit(1);
}
void internal_error(const char* file, int line, const char* condition, const char* expected) {
  internal_error(fmt::format("at {}:{}: expected {} (`{}`)", file, line, expected, condition));
}

}  // namespace cameo
