// See by_parts.h.
#include "frontend/ir/by_parts.h"

#include <algorithm>

namespace cameo {
namespace {

bool is_complex(const Type& t) { return t.kind == Kind::Tensor && cameo::is_complex(t.dtype); }

bool moves_complex(const MeaningView& n) {
  bool takes = false, gives = n.node().bodies.empty();
  for (int i = 0; i < n.input_count(); ++i)
    if (n.has(i)) takes |= is_complex(n.type(i)), gives &= !n.type(i).is_list();
  for (int i = 0; i < n.output_count(); ++i) gives &= !n.has_output(i) || is_complex(n.out_type(i));
  return takes && gives;
}

/// Attributes that name the complex type name that of the parts; numbers that become elements are real.
Attrs attributes_of_part(const MeaningView& n, int64_t part) {
  Attrs attrs = n.node().attrs;
  if (const auto to = attrs.find("to"); to != attrs.end())
    to->second = static_cast<int64_t>(type_of_parts(n.out_dtype()));
  if (part == 1)
    for (const char* number : {"value", "extrapolation_value"}) attrs.erase(number);
  return attrs;
}

std::vector<ValueId> outputs_of_part(Build& b, const MeaningView& n, int64_t part) {
  std::vector<ValueId> operands;
  for (int i = 0; i < n.input_count(); ++i) {
    ValueId x = b.in(i);
    if (n.has(i) && n.constant(i)) x = b.graph().constant(n.graph()[n.node().inputs[i]].constant);
    operands.push_back(n.has(i) && is_complex(n.type(i)) ? part_of(b, x, part) : x);
  }
  return b.graph().add(*n.node().op, operands, attributes_of_part(n, part), {}, n.version(),
                       static_cast<int>(n.node().outputs.size()));
}

}  // namespace

std::optional<Composite> by_parts(const MeaningView& n) {
  if (!moves_complex(n)) return std::nullopt;
  Build b(n);
  const std::vector<ValueId> real = outputs_of_part(b, n, 0), imaginary = outputs_of_part(b, n, 1);
  std::vector<ValueId> outputs(n.node().outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!n.has_output(static_cast<int>(i))) continue;
    if (b.type(real[i]).shape != n.out_type(static_cast<int>(i)).shape || b.type(real[i]) != b.type(imaginary[i]))
      return std::nullopt;
    const ValueId parts = b.concat({b.unsqueeze(real[i], {-1}), b.unsqueeze(imaginary[i], {-1})}, -1);
    outputs[i] = b.graph().add(get_operator("ComplexOfParts", "cameo"), {parts})[0];
  }
  return b.outputs(outputs);
}

ValueId parts_of(Build& b, ValueId x) { return b.graph().add(get_operator("ComplexParts", "cameo"), {x})[0]; }
ValueId part_of(Build& b, ValueId x, int64_t part) {
  return b.squeeze(b.slice(parts_of(b, x), -1, part, part + 1), {-1});
}

}  // namespace cameo
