// What printers write with: lines with indentation, and names made harmless.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "codegen/build/compile.h"

namespace cameo {

/// Lines with indentation; what a printer writes to.
class Writer {
 public:
  void line(std::string_view s) {
    text_.append(static_cast<size_t>(indent_) * 2, ' ');
    text_ += s;
    text_ += '\n';
  }
  void open(std::string_view s) {
    line(s);
    ++indent_;
  }
  void close(std::string_view s) {
    --indent_;
    line(s);
  }
  void blank() { text_ += '\n'; }
  int indent() const { return indent_; }
  void set_indent(int n) { indent_ = n; }
  std::string take() { return std::move(text_); }
  void append(std::string_view lines) { text_ += lines; }

 private:
  std::string text_;
  int indent_ = 0;
};

/// Of what other files of an artifact name, and nothing outside of it does.
inline constexpr std::string_view kHidden = "__attribute__((visibility(\"hidden\")))";

/// The text in a C++ comment or string that any bytes of a name can safely become: printable ASCII, nothing that ends a
/// comment, continues a line or starts a trigraph.
std::string comment_safe(std::string_view name);
std::string string_literal(std::string_view bytes);

}  // namespace cameo
