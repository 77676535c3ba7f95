// CastMap: the values of a map as a row: DENSE in the order of their keys, SPARSE where their keys say, among so many
// places. Texts are made and read as by Cast; a place without a value holds 0, among texts "0.f" as in ONNX Runtime.
#include "frontend/ops/list.h"
#include "frontend/ops/texts.h"

namespace cameo::ops {
namespace {

DType target_of_map(const NodeView& n) {
  const std::string to = n.attr_string("cast_to");
  if (to == "TO_FLOAT") return DType::f32;
  if (to == "TO_INT64") return DType::i64;
  if (to != "TO_STRING")
    n.fail(Code::E0204,
           fmt::format("`cast_to` is `{}`, which is none of TO_FLOAT, TO_INT64 and TO_STRING", printable(to)));
  return DType::str;
}

bool is_sparse(const NodeView& n) {
  const std::string form = n.attr_string("map_form");
  if (form != "DENSE" && form != "SPARSE")
    n.fail(Code::E0204, fmt::format("`map_form` is `{}`, which is neither DENSE nor SPARSE", printable(form)));
  return form == "SPARSE";
}

void infer_cast_map(Infer& n) {
  const Type& values = element_of(n, 0, Kind::Map);
  if (n.type(0).key != DType::i64)
    n.fail(Code::E0301, fmt::format("X is {}, its keys must be integers", to_string(n.type(0))));
  Dim count = values.shape[0];
  if (is_sparse(n))
    count = count_attr(n, "max_map");
  else if (!count.is_static())
    count = n.fresh();
  n.output(0, target_of_map(n), {1, count});
}

/// Of each place from 0 on the position of the first key that is equal to it; how many keys there are where none is.
ValueId positions_of_places(Build& b, ValueId keys, int64_t places) {
  const ValueId all = b.op(
      "Range", {b.scalar(DType::i64, 0), b.scalar(DType::i64, static_cast<double>(places)), b.scalar(DType::i64, 1)});
  const ValueId found = b.cast(b.op("Equal", {b.unsqueeze(all, {1}), keys}), DType::i64);
  const ValueId closed = b.op("Pad", {found, b.ints({0, 0, 0, 1}), b.scalar(DType::i64, 1)});
  return b.op("ArgMax", {closed}, {{"axis", int64_t{1}}, {"keepdims", int64_t{0}}});
}

Meaning cast_map(const MeaningView& n) {
  Build b(n);
  const ValueId keys = take_element(b, b.in(0), b.scalar(DType::i64, 0));
  const ValueId values = b.cast(take_element(b, b.in(0), b.scalar(DType::i64, 1)), n.out_dtype());
  const auto in_order = [&] { return b.ops("TopK", {keys, b.op("Shape", {keys})}, {{"largest", int64_t{0}}}, 2)[1]; };
  if (!is_sparse(n)) return b.outputs({b.unsqueeze(b.gather(values, in_order()), {0})});
  const ValueId none = n.out_dtype() == DType::str ? texts(b, {"0.f"}) : b.cast(b.ints({0}), n.out_dtype());
  const ValueId positions = positions_of_places(b, keys, n.attr_int("max_map"));
  return b.outputs({b.unsqueeze(b.gather(b.concat({values, none}, 0), positions), {0})});
}

}  // namespace

Operator declare_ml_cast_map() {
  return {.name = "CastMap",
          .domain = "ai.onnx.ml",
          .since = {1},
          .inputs = {{.name = "X", .takes = InputSpec::Lists}},
          .attributes = {{"cast_to", "TO_FLOAT"}, {"map_form", "DENSE"}, {"max_map", 1}},
          .infer = infer_cast_map,
          .meaning = cast_map,
          .foldable = false};
}

}  // namespace cameo::ops
