// LabelEncoder: for each element the value that stands beside its key, the last of equal ones, or the default. From
// version 4 on NaN is a key like others.
#include <numeric>

#include "frontend/ops/ml/rows.h"
#include "frontend/ops/texts.h"

namespace cameo::ops {
namespace {

constexpr DTypes kLabels{DType::f32, DType::f64, DType::i16, DType::i32, DType::i64, DType::str};

/// Version 1: strings to their places in a list, or the other way round.
Constant classes_of(const NodeView& n, bool strings) {
  const auto classes = n.attr_strings("classes_strings");
  std::vector<int64_t> places(classes.size());
  std::iota(places.begin(), places.end(), 0);
  const std::vector<int64_t> dims{std::ssize(classes)};
  return std::make_shared<const Tensor>(strings ? Tensor::of_strings(dims, classes) : Tensor::i64(dims, places));
}

/// Keys or values: the list or tensor that is given.
Constant labels_of(const NodeView& n, const std::string& what) {
  if (n.has_attr("classes_strings")) return classes_of(n, (what == "keys") == (n.dtype() == DType::str));
  Constant found;
  const auto take = [&](Tensor t) {
    if (found) n.fail(Code::E0204, fmt::format("`LabelEncoder` has {} twice", what));
    found = std::make_shared<const Tensor>(std::move(t));
  };
  if (n.has_attr(what + "_tensor")) take(n.attr_tensor(what + "_tensor"));
  if (n.has_attr(what + "_int64s")) {
    const auto v = n.attr_ints(what + "_int64s");
    take(Tensor::i64({std::ssize(v)}, v));
  }
  if (n.has_attr(what + "_floats")) {
    const auto v = n.attr_floats(what + "_floats");
    Tensor t(DType::f32, {std::ssize(v)});
    for (int64_t i = 0; i < t.size(); ++i) t.set(i, v[i]);
    take(std::move(t));
  }
  if (n.has_attr(what + "_strings")) {
    const auto v = n.attr_strings(what + "_strings");
    take(Tensor::of_strings({std::ssize(v)}, v));
  }
  if (!found) n.fail(Code::E0204, fmt::format("`LabelEncoder` has no {}", what));
  if (!kLabels.contains(found->dtype()))
    n.fail(Code::E0403, fmt::format("`LabelEncoder` with {} of {} is not computed yet", what, name(found->dtype())));
  return found;
}

void infer_label_encoder(Infer& n) {
  const Constant keys = labels_of(n, "keys"), values = labels_of(n, "values");
  if (keys->size() != values->size() || keys->size() == 0)
    n.fail(Code::E0204, fmt::format("`LabelEncoder` has {} keys and {} values", keys->size(), values->size()));
  if (keys->dtype() != n.dtype())
    n.fail(Code::E0301, fmt::format("X is {}, but keys are {}", to_string(n.type(0)), name(keys->dtype())));
  if (n.has_attr("default_tensor")) {
    const Tensor& none = n.attr_tensor("default_tensor");
    if (none.dtype() != values->dtype() || none.size() != 1)
      n.fail(Code::E0301, fmt::format("`default_tensor` has {} elements of {}, values are {}", none.size(),
                                      name(none.dtype()), name(values->dtype())));
  }
  n.output(0, values->dtype(), n.shape());
}

/// The values, and the default behind them, at -1.
ValueId with_default(const NodeView& n, Build& b, const Constant& values) {
  Tensor none(values->dtype(), {1});
  if (n.has_attr("default_tensor"))
    none = n.attr_tensor("default_tensor").reshaped({1});
  else if (values->dtype() == DType::str)
    none.set_int(0, code_of(n.attr_string("default_string")));
  else if (is_float(values->dtype()))
    none.set(0, n.attr_float("default_float"));
  else
    none.set_int(0, n.attr_int("default_int64"));
  return b.concat({b.reshape(b.graph().constant(values), {-1}), b.graph().constant(std::move(none))}, 0);
}

Meaning label_encoder(const MeaningView& n) {
  Build b(n);
  const Constant keys = labels_of(n, "keys"), values = labels_of(n, "values");
  const int64_t count = keys->size();
  const ValueId x = b.unsqueeze(b.in(0), {-1}), all = b.reshape(b.graph().constant(keys), {-1});
  ValueId equal = b.op("Equal", {x, all});
  if (n.version() >= 4 && is_float(keys->dtype()))
    equal = b.op("Or", {equal, b.op("And", {b.op("IsNaN", {x}), b.op("IsNaN", {all})})});
  std::vector<int64_t> places(count);
  std::iota(places.begin(), places.end(), 0);
  const ValueId place = b.op("Where", {equal, b.ints(places), b.ints({-1})});
  return b.outputs({b.gather(with_default(n, b, values), b.reduce("ReduceMax", place, {-1}, false))});
}

}  // namespace

Operator declare_ml_label_encoder() {
  return {.name = "LabelEncoder",
          .domain = "ai.onnx.ml",
          .since = {1, 2, 4},
          .inputs = {{"X", kLabels}},
          .attributes = {{"classes_strings", AttrKind::Strings},
                         {"default_float", -0.f, 2},
                         {"default_int64", -1},
                         {"default_string", "_Unused"},
                         {"default_tensor", AttrKind::Tensor, 4},
                         {"keys_floats", AttrKind::Floats, 2},
                         {"keys_int64s", AttrKind::Ints, 2},
                         {"keys_strings", AttrKind::Strings, 2},
                         {"keys_tensor", AttrKind::Tensor, 4},
                         {"values_floats", AttrKind::Floats, 2},
                         {"values_int64s", AttrKind::Ints, 2},
                         {"values_strings", AttrKind::Strings, 2},
                         {"values_tensor", AttrKind::Tensor, 4}},
          .infer = infer_label_encoder,
          .meaning = label_encoder};
}

}  // namespace cameo::ops
