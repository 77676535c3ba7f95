// TensorProto to Tensor: inline bytes are moved, external ones stay mapped, typed fields are converted; every payload
// must have exactly the elements that the dims say, which is checked before anything is allocated.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "frontend/import/import_internal.h"
#include "frontend/ir/limits.h"

namespace cameo::importing {
namespace {

[[noreturn]] void fail(const onnx::TensorProto& t, std::string_view what) {
  throw CompileError(Code::E0104, fmt::format("{} {}", tensor_title(t), what));
}

struct Header {
  DType dtype;
  std::vector<int64_t> dims;
  int64_t count;
  int64_t bytes;  // as ONNX stores them: 4- and 2-bit elements packed
};

Header read_header(const onnx::TensorProto& t) {
  DType dtype = dtype_of(t.data_type());
  if (dtype == DType::undefined) fail(t, fmt::format("has the unknown element type {}", t.data_type()));
  std::vector<int64_t> dims(t.dims().begin(), t.dims().end());
  if (std::string limit = beyond_limits(dtype, dims); !limit.empty()) fail(t, limit);
  int64_t count = element_count(dims).value();
  if (t.has_segment()) fail(t, "is stored in segments, which nothing writes");
  return {dtype, std::move(dims), count, static_cast<int64_t>(packed_bytes(dtype, count))};
}

Tensor from_bytes(const onnx::TensorProto& t, const Header& h, std::span<const std::byte> bytes,
                  std::shared_ptr<const void> owner) {
  if (static_cast<int64_t>(bytes.size()) != h.bytes)
    fail(t, fmt::format("has {} bytes, its dims [{}] of {} need {}", bytes.size(), fmt::join(h.dims, ", "),
                        name(h.dtype), h.bytes));
  if (is_packed(h.dtype)) return unpacked(h.dtype, h.dims, bytes);
  if (h.dtype == DType::b1 &&
      std::ranges::any_of(bytes, [](std::byte b) { return b > std::byte{1}; })) {  // any other byte is true
    std::vector<std::byte> bits;
    for (std::byte b : bytes) bits.push_back(std::byte{b != std::byte{0}});
    return Tensor::of<std::byte>(h.dtype, h.dims, bits);
  }
  bool aligned = reinterpret_cast<uintptr_t>(bytes.data()) % byte_size(h.dtype) == 0;
  if (aligned && !bytes.empty()) return Tensor(h.dtype, h.dims, bytes, std::move(owner));
  return Tensor::of(h.dtype, h.dims, bytes);
}

// ---- typed fields -------------------------------------------------------------------------------------------------

/// Copies a typed field, each entry narrowed to `To`; `per` entries make an element.
template <class To, class Field>
Tensor from_field(const onnx::TensorProto& t, const Header& h, const Field& field, int per = 1) {
  if (field.size() != h.count * per)
    fail(t, fmt::format("has {} values, its dims [{}] need {}", field.size(), fmt::join(h.dims, ", "), h.count * per));
  Tensor out(h.dtype, h.dims);
  auto* to = reinterpret_cast<To*>(out.mutable_bytes().data());
  for (int i = 0; i < field.size(); ++i) to[i] = static_cast<To>(field.Get(i));
  return out;
}

/// Gives the memory back, which clearing a field does not.
template <class T>
void drop(google::protobuf::RepeatedField<T>* field) {
  google::protobuf::RepeatedField<T>().Swap(field);
}

Tensor from_packed_int32(const onnx::TensorProto& t, const Header& h) {
  std::vector<std::byte> bytes;
  for (int32_t v : t.int32_data()) bytes.push_back(static_cast<std::byte>(v));
  return from_bytes(t, h, bytes, nullptr);
}

Tensor from_strings(const onnx::TensorProto& t, const Header& h) {
  if (t.string_data_size() != h.count)
    fail(t,
         fmt::format("has {} strings, its dims [{}] need {}", t.string_data_size(), fmt::join(h.dims, ", "), h.count));
  return Tensor::of_strings(h.dims, std::vector<std::string>(t.string_data().begin(), t.string_data().end()));
}

Tensor from_fields(const onnx::TensorProto& t, const Header& h) {
  switch (h.dtype) {
    case DType::f32: return from_field<float>(t, h, t.float_data());
    case DType::c64: return from_field<float>(t, h, t.float_data(), 2);
    case DType::f64: return from_field<double>(t, h, t.double_data());
    case DType::c128: return from_field<double>(t, h, t.double_data(), 2);
    case DType::i64: return from_field<int64_t>(t, h, t.int64_data());
    case DType::u64: return from_field<uint64_t>(t, h, t.uint64_data());
    case DType::u32: return from_field<uint32_t>(t, h, t.uint64_data());
    case DType::i32: return from_field<int32_t>(t, h, t.int32_data());
    case DType::i16:
    case DType::u16:
    case DType::f16:
    case DType::bf16: return from_field<uint16_t>(t, h, t.int32_data());
    case DType::str: return from_strings(t, h);
    case DType::b1: return from_field<bool>(t, h, t.int32_data());
    default: return is_packed(h.dtype) ? from_packed_int32(t, h) : from_field<uint8_t>(t, h, t.int32_data());
  }
}

/// How many of the payload fields hold something.
int payloads(const onnx::TensorProto& t) {
  return t.has_raw_data() + (t.float_data_size() > 0) + (t.int32_data_size() > 0) + (t.string_data_size() > 0) +
         (t.int64_data_size() > 0) + (t.double_data_size() > 0) + (t.uint64_data_size() > 0);
}

// ---- external data ------------------------------------------------------------------------------------------------

int64_t read_number(const onnx::TensorProto& t, const std::string& key, const std::string& text) {
  int64_t v = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
  if (error != std::errc() || end != text.data() + text.size() || v < 0)
    throw CompileError(Code::E0103, fmt::format("{} has external data with the {} `{}`, which is no size",
                                                tensor_title(t), key, printable(text)));
  return v;
}

Tensor from_file(const onnx::TensorProto& t, const Header& h, TensorReader& reader) {
  if (h.dtype == DType::str) fail(t, "holds strings, which external data cannot");
  if (payloads(t)) fail(t, "has external data and a payload in the model");
  if (!reader.folder)
    throw CompileError(Code::E0103, fmt::format("{} has external data, which is not read here", tensor_title(t)));
  std::string location;
  int64_t offset = 0, length = h.bytes;
  for (const auto& e : t.external_data()) {
    if (e.key() == "location") location = e.value();
    if (e.key() == "offset") offset = read_number(t, e.key(), e.value());
    if (e.key() == "length") length = read_number(t, e.key(), e.value());
  }
  const MappedFile& file = reader.folder->open(location);
  int64_t end;
  if (__builtin_add_overflow(offset, length, &end) || end > static_cast<int64_t>(file.bytes.size()))
    throw CompileError(Code::E0103, fmt::format("{} reads {} bytes at {} of `{}`, which has {}", tensor_title(t),
                                                length, offset, printable(location), file.bytes.size()));
  return from_bytes(t, h, file.bytes.subspan(offset, length), file.owner);
}

}  // namespace

std::string tensor_title(const onnx::TensorProto& t) {
  return t.name().empty() ? "a tensor" : fmt::format("tensor `{}`", printable(t.name()));
}

Tensor read_tensor(onnx::TensorProto& t, TensorReader& reader) {
  Header h = read_header(t);
  if (t.data_location() == onnx::TensorProto::EXTERNAL) return from_file(t, h, reader);
  if (payloads(t) > 1) fail(t, "has more than one payload");
  if (!t.has_raw_data()) {
    Tensor out = from_fields(t, h);
    drop(t.mutable_float_data()), drop(t.mutable_int32_data()), drop(t.mutable_int64_data());
    drop(t.mutable_double_data()), drop(t.mutable_uint64_data());
    return out;
  }
  if (h.dtype == DType::str) fail(t, "holds strings in raw_data");
  auto bytes = std::make_shared<const std::string>(std::move(*t.mutable_raw_data()));
  return from_bytes(t, h, std::as_bytes(std::span(*bytes)), bytes);
}

// ---- sparse tensors -----------------------------------------------------------------------------------------------
namespace {

/// The row-major position of the i-th value.
int64_t position(const Tensor& indices, int64_t i, std::span<const int64_t> dims, int64_t count) {
  if (indices.rank() == 1) {
    int64_t at = indices.get_int(i);
    return at >= 0 && at < count ? at : -1;
  }
  int64_t at = 0;
  for (size_t d = 0; d < dims.size(); ++d) {
    int64_t k = indices.get_int(i * static_cast<int64_t>(dims.size()) + static_cast<int64_t>(d));
    if (k < 0 || k >= dims[d]) return -1;
    at = at * dims[d] + k;
  }
  return at;
}

}  // namespace

Tensor read_sparse(onnx::SparseTensorProto& s, TensorReader& reader) {
  std::string title = fmt::format("sparse {}", tensor_title(s.values()));
  auto fail = [&](std::string_view what) { throw CompileError(Code::E0104, fmt::format("{} {}", title, what)); };
  std::vector<int64_t> dims(s.dims().begin(), s.dims().end());
  if (std::string limit = beyond_limits(DType::u8, dims); !limit.empty()) fail(limit);
  int64_t count = element_count(dims).value();
  Tensor values = read_tensor(*s.mutable_values(), reader), indices = read_tensor(*s.mutable_indices(), reader);
  if (values.rank() != 1 || byte_size(values.dtype()) == 0) fail("needs its values as a list of numbers");
  bool pairs = indices.rank() == 2 && indices.dims()[0] == values.size() &&
               indices.dims()[1] == static_cast<int64_t>(dims.size());
  if (indices.dtype() != DType::i64 || !(pairs || (indices.rank() == 1 && indices.size() == values.size())))
    fail(fmt::format("has {} values, but its indices are {}[{}]", values.size(), name(indices.dtype()),
                     fmt::join(indices.dims(), "x")));
  int64_t width = byte_size(values.dtype());
  if (count > reader.dense_bytes / width)
    throw CompileError(Code::E0405, fmt::format("{} would grow to {} elements", title, count));
  reader.dense_bytes -= count * width;
  Tensor dense(values.dtype(), dims);
  int64_t last = -1;
  for (int64_t i = 0; i < values.size(); ++i) {
    int64_t at = position(indices, i, dims, count);
    if (at < 0) fail(fmt::format("has index {} outside of its dims [{}]", i, fmt::join(dims, ", ")));
    if (at <= last) fail(fmt::format("has indices that do not ascend, at {}", i));
    std::memcpy(dense.mutable_bytes().data() + at * width, values.bytes().data() + i * width, width);
    last = at;
  }
  return dense;
}

}  // namespace cameo::importing

namespace cameo {
NamedTensor tensor_from_pb(std::span<const std::byte> bytes) {
  onnx::TensorProto t;
  if (bytes.empty()) throw CompileError(Code::E0101, "the file is empty");
  importing::parse_message(bytes, importing::Message::Tensor, t);
  importing::TensorReader reader;
  std::string name = t.name();
  return {name, importing::read_tensor(t, reader)};
}
}  // namespace cameo
