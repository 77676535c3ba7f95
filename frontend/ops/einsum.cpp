// Einsum: labels of the operands' axes become variables; those that the output does not name are summed over. The axes
// of an ellipsis get labels of their own, aligned at the right, so that they broadcast.
#include <map>

#include "frontend/ops/operands.h"

namespace cameo::ops {
namespace {

using Labels = std::vector<int>;  // letters are themselves
constexpr int kEllipsis = 256;    // + the distance of an axis from the right end of the ellipsis

struct Equation {
  std::vector<Labels> operands;
  Labels output, summed;
  std::map<int, Dim> dims;
};

[[noreturn]] void fail(const NodeView& n, const std::string& why) {
  n.fail(Code::E0204, "`" + printable(n.attr_string("equation")) + "` " + why);
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// Labels of one term; `ellipsis` is how many axes an ellipsis in it stands for.
Labels parse_term(const NodeView& n, std::string_view term, int ellipsis) {
  Labels labels;
  bool seen = false;
  for (size_t i = 0; i < term.size(); ++i) {
    if (is_letter(term[i])) {
      labels.push_back(term[i]);
    } else if (term.substr(i, 3) == "..." && !seen) {
      for (int d = ellipsis; d-- > 0;) labels.push_back(kEllipsis + d);
      seen = true;
      i += 2;
    } else {
      fail(n, "is no einsum equation");
    }
  }
  return labels;
}

std::vector<std::string> split(const std::string& s, char at) {
  std::vector<std::string> parts(1);
  for (char c : s)
    if (c == at)
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

/// Labels that occur once, the ellipsis in front.
Labels implicit_output(const std::vector<Labels>& operands) {
  std::map<int, int> times;
  int ellipsis = 0;
  for (const Labels& term : operands)
    for (int l : term) {
      if (l >= kEllipsis)
        ellipsis = std::max(ellipsis, l - kEllipsis + 1);
      else
        ++times[l];
    }
  Labels out;
  for (int d = ellipsis; d-- > 0;) out.push_back(kEllipsis + d);
  for (auto [label, count] : times)
    if (count == 1) out.push_back(label);
  return out;
}

void bind_dims(const NodeView& n, Equation& e) {
  for (size_t i = 0; i < e.operands.size(); ++i)
    for (size_t d = 0; d < e.operands[i].size(); ++d) {
      Dim dim = n.shape(static_cast<int>(i))[d];
      auto [it, is_new] = e.dims.try_emplace(e.operands[i][d], dim);
      if (is_new || dim.is_static(1)) continue;
      it->second = it->second.is_static(1) ? dim : same_dim(n, it->second, dim, "extents of one label");
    }
}

void find_sums(const NodeView& n, Equation& e) {
  for (size_t i = 0; i < e.output.size(); ++i) {
    if (!e.dims.contains(e.output[i])) fail(n, "has an output label that no operand has");
    if (std::ranges::count(e.output, e.output[i]) > 1) fail(n, "has an output label twice");
  }
  for (const Labels& term : e.operands)
    for (int l : term)
      if (std::ranges::find(e.output, l) == e.output.end() && std::ranges::find(e.summed, l) == e.summed.end())
        e.summed.push_back(l);
}

Equation parse(const NodeView& n) {
  std::string text = n.attr_string("equation");
  std::erase(text, ' ');
  size_t arrow = text.find("->");
  std::vector<std::string> terms = split(text.substr(0, arrow), ',');
  if (static_cast<int>(terms.size()) != n.input_count())
    fail(n, "has " + std::to_string(terms.size()) + " terms for " + std::to_string(n.input_count()) + " inputs");
  Equation e;
  int widest = 0;
  for (int i = 0; i < n.input_count(); ++i) {
    int letters = static_cast<int>(std::ranges::count_if(terms[i], is_letter)), rest = n.rank(i) - letters;
    bool ellipsis = terms[i].find("...") != std::string::npos;
    if (rest < 0 || (rest > 0 && !ellipsis))
      fail(n, "names " + std::to_string(letters) + " axes of " + to_string(n.type(i)));
    e.operands.push_back(parse_term(n, terms[i], rest));
    widest = std::max(widest, rest);
  }
  e.output = arrow == std::string::npos ? implicit_output(e.operands) : parse_term(n, text.substr(arrow + 2), widest);
  bind_dims(n, e);
  find_sums(n, e);
  return e;
}

void infer_einsum(Infer& n) {
  Equation e = parse(n);
  Shape out;
  for (int l : e.output) out.push_back(e.dims.at(l));
  n.output(0, n.dtype(), out);
}

Meaning einsum_meaning(const MeaningView& n) {
  Equation e = parse(n);
  OutputExpr out{n.index(), {}};
  std::map<int, Expr> vars;
  for (size_t i = 0; i < e.output.size(); ++i) vars[e.output[i]] = out.index[i];
  for (int l : e.summed) vars[l] = var(e.dims.at(l).extent());
  DType t = accumulator(n.dtype());
  for (int i = 0; i < n.input_count(); ++i) {
    std::vector<Expr> at;
    for (int l : e.operands[i]) at.push_back(n.shape(i)[at.size()].is_static(1) ? integer(0) : vars.at(l));
    Expr x = cast(n.load(i, at), t);
    out.value = i ? out.value * x : x;
  }
  for (size_t i = e.summed.size(); i-- > 0;) out.value = fold(FoldKind::Sum, vars.at(e.summed[i]), out.value);
  out.value = cast(out.value, n.dtype());
  return Compute{{out}};
}

}  // namespace

Operator declare_einsum() {
  return {.name = "Einsum",
          .since = {12, 28},
          .inputs = {{"Inputs", kNumbers, InputSpec::Variadic, 0}},
          .outputs = {{"Output"}},
          .attributes = {{"equation", AttrKind::String}},
          .infer = infer_einsum,
          .meaning = einsum_meaning};
}

}  // namespace cameo::ops
