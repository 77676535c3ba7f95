// Types of values: those of lists, what several have in common, and their texts.
#include <fmt/format.h>

#include "frontend/ir/graph.h"
#include "frontend/ir/limits.h"

namespace cameo {

bool Type::operator==(const Type& o) const {
  return kind == o.kind && dtype == o.dtype && shape == o.shape && ranked == o.ranked && key == o.key &&
         (of == o.of || (of && o.of && *of == *o.of));
}
Type Type::list(Kind kind, Type of, DType key) {
  Type t(kListInMemory, {});
  t.kind = kind;
  t.key = key;
  t.of = std::make_shared<const Type>(std::move(of));
  return t;
}
Type type_of(const Tensor& t) {
  if (!t.is_list()) return Type(t.dtype(), shape_of(t.dims()));
  std::optional<Type> of;
  for (const Tensor& item : t.items()) of = of ? common_element(*of, type_of(item)) : type_of(item);
  return Type::list(Kind::Sequence, of.value_or(Type::error()));
}
Dim any_extent() { return Dim(symbol("?", {0, kMaxExtent})); }
std::optional<Type> common_element(const Type& a, const Type& b) {
  if (a == b) return a;
  if (a.kind != b.kind || a.dtype != b.dtype || a.key != b.key) return std::nullopt;
  if (a.is_list()) {
    const auto of = common_element(*a.of, *b.of);
    return of ? std::optional(Type::list(a.kind, *of, a.key)) : std::nullopt;
  }
  if (!a.ranked || !b.ranked) return a.ranked ? a : b;
  Type common = a;
  common.ranked = a.rank() == b.rank();
  if (!common.ranked) common.shape.clear();
  for (int d = 0; d < common.rank(); ++d)
    if (a.shape[d] != b.shape[d]) common.shape[d] = any_extent();
  return common;
}
std::string to_string(const Type& t) {
  switch (t.kind) {
    case Kind::Tensor:
      return fmt::format("{}[{}]", name(t.dtype), !t.ranked ? ".." : t.shape.empty() ? "" : to_string(t.shape));
    case Kind::Sequence: return fmt::format("seq({})", t.of ? to_string(*t.of) : "?");
    case Kind::Optional: return fmt::format("optional({})", t.of ? to_string(*t.of) : "?");
    case Kind::Map: return fmt::format("map({}, {})", name(t.key), t.of ? to_string(*t.of) : "?");
    case Kind::Error: return "error";
  }
  return "?";
}

}  // namespace cameo
