// Values of test data that are no tensors: SequenceProto, OptionalProto and MapProto. Which of them a file holds its
// bytes do not say: the model does. The walk takes nothing for granted: lengths, field types, depth.
#include <fmt/format.h>

#include "frontend/import/import_internal.h"
#include "frontend/ir/string_codes.h"

namespace cameo::importing {
namespace {

using Bytes = std::span<const std::byte>;

[[noreturn]] void fail(std::string_view what) {
  throw CompileError(Code::E0102, fmt::format("a sequence, an optional or a map: {}", what));
}

/// The fields of a message, one after the other.
class Fields {
 public:
  explicit Fields(Bytes bytes) : left_(bytes) {}
  uint64_t number = 0, value = 0;  // of the field; the value of one that is a number
  Bytes bytes;                     // of one that is not
  bool next() {
    if (left_.empty()) return false;
    const uint64_t key = varint();
    number = key >> 3;
    bytes = {};
    value = 0;
    switch (key & 7) {
      case 0: value = varint(); break;
      case 1: take(8); break;
      case 2: bytes = take(varint()); break;
      case 5: take(4); break;
      default: fail(fmt::format("field {} has a wire type that messages do not use", number));
    }
    return true;
  }

 private:
  Bytes take(uint64_t count) {
    if (count > left_.size()) fail(fmt::format("field {} is longer than what is left", number));
    const Bytes taken = left_.first(count);
    left_ = left_.subspan(count);
    return taken;
  }
  uint64_t varint() {
    uint64_t v = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = std::to_integer<uint64_t>(take(1)[0]);
      v |= (byte & 127) << shift;
      if (byte < 128) return v;
    }
    fail("a number of more than ten bytes");
  }
  Bytes left_;
};

/// The number of the field of SequenceProto and of OptionalProto that holds such values.
uint64_t field_of(Kind kind) {
  switch (kind) {
    case Kind::Sequence: return 5;
    case Kind::Map: return 6;
    case Kind::Optional: return 7;
    default: return 3;
  }
}

std::string_view text_of(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

NamedTensor value_of(Bytes bytes, const Type& declared);

NamedTensor list_of(Bytes bytes, const Type& declared) {
  NamedTensor list;
  std::vector<Tensor> items;
  for (Fields f(bytes); f.next();) {
    if (f.number == 1) list.name = text_of(f.bytes);
    if (f.number == field_of(declared.of->kind))
      items.push_back(value_of(f.bytes, *declared.of).tensor);
    else if (f.number > 2)
      fail(fmt::format("holds other values than {} has", to_string(declared)));
  }
  if (declared.kind == Kind::Optional && items.size() > 1) fail("an optional of several values");
  list.tensor = Tensor::of_items(std::move(items));
  return list;
}

/// MapProto: name, the type of the keys, keys that are integers, keys that are strings, values, a SequenceProto's.
NamedTensor map_of(Bytes bytes, const Type& declared) {
  NamedTensor map;
  const bool of_strings = declared.key == DType::str;
  std::vector<int64_t> keys;  // of strings their codes
  Tensor values;
  for (Fields f(bytes); f.next();) {
    if (f.number == 1) map.name = text_of(f.bytes);
    if (f.number == 3 && f.bytes.empty() && !of_strings) keys.push_back(static_cast<int64_t>(f.value));
    if (f.number == 4 && of_strings) keys.push_back(code_of(text_of(f.bytes)));
    if (f.number == 5) values = value_of(f.bytes, Type::list(Kind::Sequence, *declared.of)).tensor;
  }
  Tensor all(declared.of->dtype, {std::ssize(keys)});
  const size_t size = static_cast<size_t>(byte_size(all.dtype()));
  const size_t given = values.is_list() ? values.items().size() : 0;
  if (given != keys.size()) fail(fmt::format("a map of {} keys and {} values", keys.size(), given));
  for (size_t i = 0; i < given; ++i) {
    const Tensor& value = values.items()[i];
    if (value.dtype() != all.dtype() || value.size() != 1) fail("a map whose values are no scalars of one type");
    std::memcpy(all.mutable_bytes().data() + i * size, value.bytes().data(), size);
  }
  map.tensor = Tensor::of_items({Tensor::of<int64_t>(declared.key, {std::ssize(keys)}, keys), all});
  return map;
}

NamedTensor value_of(Bytes bytes, const Type& declared) {
  switch (declared.kind) {
    case Kind::Sequence:
    case Kind::Optional: return list_of(bytes, declared);
    case Kind::Map: return map_of(bytes, declared);
    default: return tensor_from_pb(bytes);
  }
}

Type declared_type(const onnx::TypeProto& t) {
  try {
    return is_list(t) ? type_of_element(t) : Type();
  } catch (CompileError&) { return Type::error(); }
}

}  // namespace
}  // namespace cameo::importing

namespace cameo {

NamedTensor value_from_pb(std::span<const std::byte> bytes, const Type& declared) {
  return importing::value_of(bytes, declared);
}

DeclaredTypes declared_types(const std::filesystem::path& file) {
  DeclaredTypes types;
  onnx::ModelProto model;
  const MappedFile mapped = map_file(file);
  importing::parse_message(mapped.bytes, importing::Message::Model, model);
  std::set<std::string_view> constants;
  for (const auto& t : model.graph().initializer()) constants.insert(t.name());
  for (const auto& v : model.graph().input())
    if (!constants.contains(v.name())) types.inputs.push_back(importing::declared_type(v.type()));
  for (const auto& v : model.graph().output()) types.outputs.push_back(importing::declared_type(v.type()));
  return types;
}

}  // namespace cameo
