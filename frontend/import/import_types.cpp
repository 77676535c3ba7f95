// Types and dims as the model writes them, the little language of dim names ("past + 1"), binding dims to numbers, and
// the values of --const.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "frontend/import/import_internal.h"
#include "frontend/ir/limits.h"
#include "frontend/ir/string_codes.h"

namespace cameo::importing {

DType dtype_of(int32_t t) { return t > 0 && t < kDTypeCount ? static_cast<DType>(t) : DType::undefined; }

// ---- dim names ----------------------------------------------------------------------------------------------------
namespace {

constexpr size_t kMaxDimText = 256;  // longer names are opaque: no exporter nests arithmetic that deep

std::optional<int64_t> whole_number(std::string_view s) {
  int64_t v = 0;
  auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), v);
  if (s.empty() || error != std::errc() || end != s.data() + s.size()) return std::nullopt;
  return v;
}
std::string_view trim(std::string_view s) {
  while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
  while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
  return s;
}
bool is_name(std::string_view s) {
  return !s.empty() && std::ranges::all_of(s, [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '.'; });
}

/// The last place outside of brackets where `op` stands; npos when there is none.
size_t find_last(std::string_view s, std::string_view op) {
  int depth = 0;
  for (size_t i = s.size(); i-- > 0;) {
    depth += (s[i] == ')') - (s[i] == '(');
    if (depth == 0 && i > 0 && s.substr(i).starts_with(op)) return i;
  }
  return s.npos;
}

/// Sums stand with spaces around their sign: "batch-size" is a name.
std::optional<Expr> parse_sum(std::string_view s) {
  s = trim(s);
  size_t plus = find_last(s, " + "), minus = find_last(s, " - ");
  size_t at = plus == s.npos ? minus : minus == s.npos ? plus : std::max(plus, minus);
  if (at != s.npos) {
    auto a = parse_sum(s.substr(0, at)), b = parse_sum(s.substr(at + 3));
    if (!a || !b) return std::nullopt;
    return at == plus ? *a + *b : *a - *b;
  }
  if (size_t star = find_last(s, "*"); star != s.npos) {
    auto a = parse_sum(s.substr(0, star)), b = parse_sum(s.substr(star + 1));
    if (!a || !b) return std::nullopt;
    return *a * *b;
  }
  if (s.starts_with("(") && s.ends_with(")")) return parse_sum(s.substr(1, s.size() - 2));
  if (auto v = whole_number(s)) return integer(*v);
  if (is_name(s)) return symbol(s);
  return std::nullopt;
}

}  // namespace

Expr parse_dim(std::string_view text) {
  if (text.size() > kMaxDimText || is_name(text)) return symbol(text);
  return parse_sum(text).value_or(symbol(text));
}

std::string first_summand(std::string_view text) {
  const std::string_view first = trim(text.substr(0, text.find(" + ")));
  return first.size() < text.size() && is_name(first) ? std::string(first) : "";
}

std::vector<std::string> symbols_of(Expr e) {
  std::vector<std::string> names;
  visit(std::vector<Expr>{e}, [&](Expr x) {
    if (x.op() == Op::Symbol) names.emplace_back(symbol_name(x));
  });
  return names;
}

namespace {

/// Solves a claim for its last unbound symbol; true when that told something.
bool solve(DimClaim& claim, std::map<std::string, int64_t>& dims) {
  Expr e = bind_symbols(claim.extent, dims);
  if (e.is_const()) {
    claim.state = e.int_value() == claim.value ? DimClaim::Holds : DimClaim::Fails;
    return false;
  }
  Affine a = affine(e);
  if (a.terms.size() != 1 || a.terms[0].term.op() != Op::Symbol) return false;
  int64_t rest, k = a.terms[0].coefficient;
  bool fails = __builtin_sub_overflow(claim.value, a.constant, &rest) || k == 0 || (k == -1 && rest == INT64_MIN) ||
               rest % k != 0 || rest / k < 0 || rest / k > kMaxExtent;
  claim.state = fails ? DimClaim::Fails : DimClaim::Holds;
  if (!fails) dims[std::string(symbol_name(a.terms[0].term))] = rest / k;
  return !fails;
}

}  // namespace

void solve_dims(std::vector<DimClaim>& claims, std::map<std::string, int64_t>& dims) {
  for (bool told = true; told;) {
    told = false;
    for (DimClaim& c : claims)
      if (c.state == DimClaim::Open) told |= solve(c, dims);
  }
}

// ---- types --------------------------------------------------------------------------------------------------------

bool is_list(const onnx::TypeProto& t) { return t.has_sequence_type() || t.has_optional_type() || t.has_map_type(); }

Type type_of_element(const onnx::TypeProto& t) {
  if (t.has_sequence_type()) return Type::list(Kind::Sequence, type_of_element(t.sequence_type().elem_type()));
  if (t.has_optional_type()) return Type::list(Kind::Optional, type_of_element(t.optional_type().elem_type()));
  if (t.has_map_type()) {
    const DType key = dtype_of(t.map_type().key_type());
    if (!kMapKeys.contains(key))
      throw CompileError(Code::E0403, fmt::format("a map with keys of {} is not computed with yet", name(key)));
    Type values = type_of_element(t.map_type().value_type());  // of one key; in a run those of all are one tensor
    if (values.is_list()) throw CompileError(Code::E0403, "a map of lists is not computed with yet");
    values.ranked = true;
    values.shape = {any_extent()};
    return Type::list(Kind::Map, values, key);
  }
  const DType dtype = dtype_of(t.tensor_type().elem_type());
  if (!t.has_tensor_type() || dtype == DType::undefined || is_packed(dtype))
    throw CompileError(Code::E0403, t.has_tensor_type()
                                        ? fmt::format("a list of {} is not computed with yet", name(dtype))
                                        : fmt::format("a list of {}", describe(t)));
  Type type(dtype, {});
  type.ranked = t.tensor_type().has_shape();
  for (const auto& dim : t.tensor_type().shape().dim())
    type.shape.push_back(dim.has_dim_value() && dim.dim_value() >= 0 ? Dim(dim.dim_value()) : any_extent());
  return type;
}

std::string describe(const onnx::TypeProto& t) {
  switch (t.value_case()) {
    case onnx::TypeProto::kTensorType: return "a tensor";
    case onnx::TypeProto::kSequenceType: return "a sequence";
    case onnx::TypeProto::kMapType: return "a map";
    case onnx::TypeProto::kOptionalType: return "an optional";
    case onnx::TypeProto::kSparseTensorType: return "a sparse tensor";
    default: return "a value without a type";
  }
}

// ---- constants on the command line --------------------------------------------------------------------------------
namespace {

[[noreturn]] void bad_constant(const std::string& input, std::string_view text, std::string_view why) {
  throw CompileError(Code::E0503,
                     fmt::format("`--const {}={}`: {}", printable(input), printable(text.substr(0, 80)), why),
                     "write `16000`, or `[[1,2],[3,4]]`");
}

/// Nested lists, flattened; `dims` is read off the first element of each level and must hold for the others.
struct ListParser {
  std::string_view s;
  std::vector<int64_t> dims;
  std::vector<std::string_view> items;
  size_t at = 0;

  void spaces() {
    while (at < s.size() && s[at] == ' ') ++at;
  }
  bool take(char c) {
    spaces();
    if (at >= s.size() || s[at] != c) return false;
    ++at;
    return true;
  }
  bool value(size_t level) {
    if (level > 16) return false;
    if (!take('[')) {
      spaces();
      size_t end = std::min(s.find_first_of(",] ", at), s.size());
      if (end == at || level != dims.size()) return false;
      items.push_back(s.substr(at, end - at));
      at = end;
      return true;
    }
    bool first = level == dims.size();
    if (first && !items.empty()) return false;
    if (first) dims.push_back(-1);
    int64_t n = 0;
    if (!take(']')) {
      do {
        if (!value(level + 1)) return false;
        ++n;
      } while (take(','));
      if (!take(']')) return false;
    }
    if (dims[level] < 0) dims[level] = n;
    return dims[level] == n;
  }
  bool parse() {
    bool ok = value(0);
    spaces();
    return ok && at == s.size();
  }
};

bool set_item(Tensor& t, int64_t i, std::string_view item) {
  if (t.dtype() == DType::str) return t.set_int(i, code_of(item)), true;
  if (t.dtype() == DType::b1 && (item == "true" || item == "false")) return t.set_int(i, item == "true"), true;
  if (is_complex(t.dtype())) {
    const auto v = parse_complex(item);
    if (v) t.parts().set(2 * i, v->real()), t.parts().set(2 * i + 1, v->imag());
    return v.has_value();
  }
  if (is_float(t.dtype())) {
    std::string text(item);
    char* end;
    double v = std::strtod(text.c_str(), &end);
    return t.set(i, v), *end == 0;
  }
  auto v = whole_number(item);
  if (!v) return false;
  t.set_int(i, *v);
  return t.get_int(i) == *v;
}

}  // namespace

Tensor parse_constant(std::string_view text, const std::string& input, const Type& type) {
  if (type.kind != Kind::Tensor) bad_constant(input, text, fmt::format("the input is {}", to_string(type)));
  ListParser list{trim(text), {}, {}};
  if (!list.parse()) bad_constant(input, text, "neither a number nor a list of equally long lists");
  bool fill = list.dims.empty() && is_static(type.shape);
  std::vector<int64_t> dims = fill ? extents(type.shape) : list.dims;
  bool fits = dims.size() == type.shape.size();
  for (size_t d = 0; fits && d < dims.size(); ++d)
    fits = !type.shape[d].is_static() || type.shape[d].value() == dims[d];
  if (!fits || element_count(dims).value_or(INT64_MAX) > (1 << 24))
    bad_constant(input, text, fmt::format("the input is {}", to_string(type)));
  Tensor t(type.dtype, dims);
  for (int64_t i = 0; i < t.size(); ++i) {
    std::string_view item = list.items[fill ? 0 : i];
    if (!set_item(t, i, item))
      bad_constant(input, text, fmt::format("`{}` is no {}", printable(item), name(type.dtype)));
  }
  return t;
}

}  // namespace cameo::importing
