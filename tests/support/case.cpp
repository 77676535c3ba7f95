// Reading `.case` files, line by line; the lines of a case are kept until it ends, then become a graph.
#include "tests/support/case.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <stdexcept>

#include "frontend/reference/compare.h"
#include "tests/support/tensor_text.h"

namespace cameo::test {
namespace {

// ---- attributes -----------------------------------------------------------------------------------------------------
template <class T, class F>
std::vector<T> list_of(const std::string& text, F f) {
  std::vector<T> v;
  for (const std::string& w : split_values(text)) v.push_back(f(w));
  return v;
}
std::string text_of(const std::string& w) { return w; }

AttrKind kind_of(const Operator& op, const std::string& name, const std::string& text) {
  for (const AttrSpec& a : op.attributes) {
    if (a.name != name) continue;
    bool list = text[0] == '[',
         listed = a.kind == AttrKind::Ints || a.kind == AttrKind::Floats || a.kind == AttrKind::Strings;
    if (list == listed) return a.kind;  // else it is written as another kind, which a `fail` case may want
  }
  bool list = text[0] == '[', floating = text.find_first_of(".einf") != std::string::npos;
  if (text.find('"') != std::string::npos) return list ? AttrKind::Strings : AttrKind::String;
  if (floating) return list ? AttrKind::Floats : AttrKind::Float;
  return list ? AttrKind::Ints : AttrKind::Int;
}

}  // namespace

Attr parse_attr(const Operator& op, const std::string& name, const std::string& text) {
  if (text.empty()) throw std::runtime_error("an attribute without a value");
  std::string rest = text, word = take_word(rest);
  if (parse_type(word)) return std::make_shared<const Tensor>(parse_tensor(text));
  bool quoted = text.find('"') != std::string::npos;
  AttrKind kind = kind_of(op, name, text);
  if (quoted && kind != AttrKind::Strings) return split_values(text).at(0);  // a kind of its own, whatever is declared
  switch (kind) {
    case AttrKind::Int:
      if (text.find_first_of(".") != std::string::npos) return to_float(text);
      return to_int(text);
    case AttrKind::Float: return to_float(text);
    case AttrKind::String: return split_values(text).at(0);
    case AttrKind::Ints: return list_of<int64_t>(text, to_int);
    case AttrKind::Floats: return list_of<double>(text, to_float);
    case AttrKind::Strings: return list_of<std::string>(text, text_of);
    default: throw std::runtime_error("an attribute of a kind that cases do not write");
  }
}

// ---- cases ----------------------------------------------------------------------------------------------------------
void make_graph(Case& c) {
  Graph g;
  c.graph.reset();
  c.inputs.clear();
  c.error.reset();
  std::vector<ValueId> in;
  for (Case::Operand& o : c.operands) {
    if (!o.present) {
      in.push_back({});
    } else if (o.constant) {
      in.push_back(g.constant(o.value, o.name));
    } else {
      in.push_back(g.add_input(o.name, o.value.is_list() ? o.type : type_of(o.value)));
      if (o.decides) g.decide(in.back());
      c.inputs.push_back(o.value);
    }
  }
  try {
    int outputs = c.outputs.empty() ? -1 : static_cast<int>(c.outputs.size());
    std::vector<ValueId> out = g.add(*c.op, in, c.attrs, {}, c.version, outputs);
    for (size_t i = 0; i < out.size(); ++i) g.add_output(i < c.outputs.size() ? c.outputs[i].name : "", out[i]);
    c.graph = std::move(g);
  } catch (const CompileError& e) { c.error = e.diagnostic; }
}

namespace {

class Reader {
 public:
  explicit Reader(const std::filesystem::path& file) : file_(file) {}

  std::vector<Case> read() {
    std::ifstream in(file_);
    if (!in) throw std::runtime_error(fmt::format("{}: cannot be read", file_.string()));
    std::string line;
    try {
      while (std::getline(in, line)) {
        ++line_;
        if (trim(line).empty())
          finish();
        else if (std::string text = without_comment(line); !text.empty())
          take(text);
      }
      finish();
    } catch (const std::exception& e) {
      throw std::runtime_error(fmt::format("{}:{}: {}", file_.filename().string(), line_, e.what()));
    }
    return std::move(cases_);
  }

 private:
  void take(std::string text) {
    std::string word = take_word(text);
    if (word == "case") {
      finish();
      start();
      case_->name = text;
      return;
    }
    if (!case_) start();
    if (word == "op")
      take_op(text);
    else if (word == "attr")
      take_attr(text);
    else if (word == "in" || word == "const" || word == "decides")
      case_->operands.push_back(parse_operand(text, word));
    else if (word == "out")
      take_output(text);
    else if (word == "ulp")
      case_->ulp = to_float(text);
    else if (word == "fail")
      take_fail(text);
    else
      throw std::runtime_error(fmt::format("`{}` is no line of a case", word));
  }

  void start() {
    case_.emplace();
    case_->where = fmt::format("{}:{}", file_.filename().string(), line_);
  }

  void take_op(std::string text) {
    std::string name = take_word(text), domain;
    if (size_t colons = name.find("::"); colons != std::string::npos) {
      domain = name.substr(0, colons);
      name = name.substr(colons + 2);
    }
    case_->op = find_operator(name, domain);
    if (!case_->op) throw std::runtime_error(fmt::format("operator `{}` is not declared", name));
    case_->version = version_at(*case_->op, static_cast<int>(to_int(text)));
    if (!case_->version) throw std::runtime_error(fmt::format("`{}` has no version for opset {}", name, text));
  }
  void take_attr(const std::string& text) {
    size_t equals = text.find('=');
    if (equals == std::string::npos || !case_->op) throw std::runtime_error("`attr NAME = VALUE`, after `op`");
    std::string name = trim(text.substr(0, equals));
    case_->attrs[name] = parse_attr(*case_->op, name, trim(text.substr(equals + 1)));
  }
  void take_fail(std::string text) {
    const Code* code = find_code(take_word(text));
    if (!code) throw std::runtime_error("`fail` with a code that does not exist");
    case_->fail = *code;
    case_->fail_text = text;
  }
  static Case::Operand parse_operand(std::string text, std::string_view word) {
    std::string name = take_word(text);
    if (name == "-") return {};
    TypedValue value = parse_value(text);
    return {true, word == "const", word == "decides", name, std::move(value.type), std::move(value.value)};
  }
  void take_output(std::string text) {
    Case::Output out;
    out.name = take_word(text);
    out.wanted = out.name != "-";
    if (out.wanted && text.find('{') < text.find('=')) {
      out.dtype = kListInMemory;
      out.expected = parse_value(text).value;
    } else if (out.wanted) {
      size_t equals = text.find('=');
      auto type = parse_type(trim(text.substr(0, equals)));
      if (!type) throw std::runtime_error("`out NAME TYPE [= VALUES]`");
      out.dtype = type->dtype;
      out.dims = type->dims;
      if (equals != std::string::npos) out.expected = parse_values(*type, text.substr(equals + 1));
    }
    case_->outputs.push_back(std::move(out));
  }

  void finish() {
    if (!case_) return;
    Case c = std::move(*case_);
    case_.reset();
    if (!c.op) throw std::runtime_error("a case without `op`");
    if (c.name.empty()) c.name = fmt::format("{}_{}", c.fail ? "fail" : "case", cases_.size() + 1);
    if (c.fail.has_value() != (c.name.rfind("fail_", 0) == 0))
      throw std::runtime_error(
          fmt::format("case `{}`: a name begins with `fail_` if and only if it must fail", c.name));
    if (c.outputs.empty() && !c.fail)
      throw std::runtime_error(fmt::format("case `{}` has neither `out` nor `fail`", c.name));
    make_graph(c);
    cases_.push_back(std::move(c));
  }

  std::filesystem::path file_;
  int line_ = 0;
  std::vector<Case> cases_;
  std::optional<Case> case_;
};

bool close(double got, double want, DType t, double ulp) {
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got);
  if (std::isinf(want) || std::isinf(got)) return want == got;
  return got == want || std::fabs(got - want) <= ulp * ulp_of(t, std::fabs(want));
}

}  // namespace

std::vector<Case> load_case_file(const std::filesystem::path& file) { return Reader(file).read(); }

std::vector<std::filesystem::path> case_files(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".case") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}
std::string operator_of(const std::filesystem::path& file) {
  const std::string folder = file.parent_path().filename().string(), stem = file.stem().string();
  return folder == "ops" ? stem : folder + "_" + stem;
}
std::vector<Case> load_cases(const std::filesystem::path& folder) {
  std::vector<Case> all;
  for (const auto& file : case_files(folder))
    for (Case& c : load_case_file(file)) all.push_back(std::move(c));
  return all;
}

namespace {
std::string list_mismatch(const Case::Output& want, const Tensor& got, double ulp) {
  if (!got.is_list() || got.items().size() != want.expected->items().size())
    return fmt::format("`{}` is {}, expected {} elements", want.name, to_string(type_of(got)),
                       want.expected->items().size());
  for (size_t i = 0; i < got.items().size(); ++i) {
    const Tensor& item = want.expected->items()[i];
    const Case::Output of_item{true, fmt::format("{}[{}]", want.name, i), item.dtype(), item.dims(), item};
    if (std::string what = mismatch(of_item, got.items()[i], ulp); !what.empty()) return what;
  }
  return "";
}
}  // namespace

std::string mismatch(const Case::Output& want, const Tensor& got, double ulp) {
  if (!want.wanted) return "";
  if (want.expected && want.expected->is_list()) return list_mismatch(want, got, ulp);
  if (got.dtype() != want.dtype || got.dims() != want.dims)
    return fmt::format("`{}` is {}, expected {}", want.name, to_string(Type(got.dtype(), shape_of(got.dims()))),
                       to_string(Type(want.dtype, shape_of(want.dims))));
  if (!want.expected) return "";
  if (!is_float(got.dtype())) {
    Comparison c = compare(got, *want.expected, *want.expected);
    return c.pass ? "" : fmt::format("`{}`: {}", want.name, c.why);
  }
  for (int64_t i = 0; i < got.size(); ++i)
    if (!close(got.get(i), want.expected->get(i), want.dtype, ulp))
      return fmt::format("`{}`: element {} is {}, expected {}", want.name, i, got.get(i), want.expected->get(i));
  return "";
}

std::string mismatch(const Case& c, const std::optional<Diagnostic>& error) {
  if (!error) return c.fail ? fmt::format("did not fail with {}", code_name(*c.fail)) : "";
  if (!c.fail || error->code != *c.fail) return "failed: " + to_string(*error);
  bool said = error->message.find(c.fail_text) != std::string::npos;
  return said ? "" : fmt::format("the message `{}` lacks `{}`", error->message, c.fail_text);
}

}  // namespace cameo::test
