// See goldens.h.
#include "codegen/goldens.h"

#include <fmt/format.h>

#include "frontend/ir/operator.h"
#include "frontend/ir/string_codes.h"
#include "frontend/reference/compare.h"

namespace cameo {
namespace {

uint64_t next_random(uint64_t& state) {  // splitmix64
  uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

}  // namespace

std::vector<Tensor> random_inputs(const Interface& io, uint64_t seed) {
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < io.inputs.size(); ++i) {
    const Type& type = io.inputs[i].type;
    if (type.is_list())
      throw CompileError(Code::E0503, fmt::format("input `{}` is {}, which is not made up",
                                                  printable(io.inputs[i].name), to_string(type)));
    const Tensor whole(type.dtype, extents(type.shape));
    Tensor t = whole.parts();
    uint64_t state = seed * 0x2545f4914f6cdd1du + i + 1;
    for (int64_t k = 0; k < t.size(); ++k) {
      const uint64_t bits = next_random(state);
      if (type.dtype == DType::str)
        t.set_int(k, code_of(bits >> 63 ? "text" : ""));
      else if (is_float(t.dtype()))
        t.set(k, static_cast<double>(bits >> 40) * 0x1p-24);
      else
        t.set_int(k, static_cast<int64_t>(bits >> 63));
    }
    inputs.push_back(whole);
  }
  return inputs;
}

GoldenCase with_held(GoldenCase c) {
  c.held.clear();
  for (const std::vector<Tensor>* values : {&c.inputs, &c.outputs})
    for (const Tensor& value : *values)
      for (const Tensor& t : tensors_of(value)) c.held.push_back(t.dtype() == DType::str ? spelled(t) : packed(t));
  return c;
}

namespace {
/// One for each tensor of an output, whose expected values are right.
void add_tolerances(std::vector<double>& tolerances, const Tensor& wanted, const Tensor& rounded,
                    const Tensor& narrowed, const Tensor& exact) {
  const std::vector<Tensor> w = tensors_of(wanted), r = tensors_of(rounded), n = tensors_of(narrowed),
                            e = tensors_of(exact);
  CAMEO_CHECK(w.size() == r.size() && n.size() == r.size() && e.size() == r.size(), "values of as many tensors");
  for (size_t k = 0; k < r.size(); ++k) {
    const Comparison golden = compare_golden(w[k], r[k], e[k]);
    const double result = compare(r[k], n[k], e[k], &golden).tolerance;
    tolerances.push_back(is_float(type_of_parts(r[k].dtype())) ? result + golden.max_error : 0);
  }
}
}  // namespace

GoldenCase golden_case(const Graph& g, std::string name, std::vector<Tensor> inputs,
                       const std::vector<Tensor>* expected, const Graph* narrow) {
  GoldenCase c{std::move(name), std::move(inputs), {}, {}};
  const Interpretation reference = interpret(g, c.inputs);
  const std::vector<Tensor> narrowed = narrow ? interpret(*narrow, c.inputs).rounded : reference.rounded;
  for (size_t i = 0; i < reference.rounded.size(); ++i) {
    const Tensor& rounded = reference.rounded[i];
    const bool given = expected && (*expected)[i].dtype() != DType::undefined;
    const Tensor& wanted = given ? (*expected)[i] : rounded;
    const Comparison golden = compare_golden(wanted, rounded, reference.unrounded[i]);
    if (!golden.pass)
      throw CompileError(Code::E0503, fmt::format("golden case `{}`: the data for output `{}` are wrong: {}",
                                                  printable(c.name), printable(g.outputs()[i].name), golden.why));
    c.outputs.push_back(wanted);
    add_tolerances(c.tolerances, wanted, rounded, narrowed[i], reference.unrounded[i]);
  }
  return with_held(std::move(c));
}

}  // namespace cameo
