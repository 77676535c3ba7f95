// Writes ONNX models as bytes, field by field: what tests need to say anything, also what no tool would write.
#pragma once
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "frontend/import/import_onnx.h"

namespace cameo::onnx_text {

using Bytes = std::string;

inline Bytes varint(uint64_t v) {
  Bytes s;
  for (; v >= 128; v >>= 7) s += static_cast<char>(v | 128);
  return s + static_cast<char>(v);
}
inline Bytes number(int field, int64_t v) {
  return varint(static_cast<uint64_t>(field) << 3) + varint(static_cast<uint64_t>(v));
}
inline Bytes bytes(int field, std::string_view s) {
  return varint(static_cast<uint64_t>(field) << 3 | 2) + varint(s.size()) + Bytes(s);
}
inline Bytes each(int field, const std::vector<Bytes>& list) {
  Bytes s;
  for (auto& x : list) s += bytes(field, x);
  return s;
}
inline Bytes real(int field, float v) {
  Bytes s = varint(static_cast<uint64_t>(field) << 3 | 5);
  s.append(reinterpret_cast<const char*>(&v), 4);
  return s;
}

// ---- attributes ---------------------------------------------------------------------------------------------------
inline Bytes attr(std::string_view name, int type, Bytes payload) {
  return bytes(1, name) + payload + number(20, type);
}
inline Bytes attr(std::string_view name, int64_t v) { return attr(name, 2, number(3, v)); }
inline Bytes attr(std::string_view name, float v) { return attr(name, 1, real(2, v)); }
inline Bytes attr(std::string_view name, const char* v) { return attr(name, 3, bytes(4, v)); }
inline Bytes attr(std::string_view name, std::vector<int64_t> v) {
  Bytes s;
  for (int64_t x : v) s += number(8, x);
  return attr(name, 7, s);
}
inline Bytes attr_tensor(std::string_view name, const Bytes& t) { return attr(name, 4, bytes(5, t)); }
inline Bytes attr_graph(std::string_view name, const Bytes& g) { return attr(name, 5, bytes(6, g)); }
inline Bytes attr_ref(std::string_view name, int type, std::string_view of) { return attr(name, type, bytes(21, of)); }

// ---- tensors, values, nodes ---------------------------------------------------------------------------------------
inline Bytes tensor_head(std::string_view name, int type, const std::vector<int64_t>& dims) {
  Bytes s;
  for (int64_t d : dims) s += number(1, d);
  return s + number(2, type) + bytes(8, name);
}
template <class T>
Bytes tensor(std::string_view name, int type, const std::vector<int64_t>& dims, const std::vector<T>& values) {
  return tensor_head(name, type, dims) +
         bytes(9, {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)});
}
inline Bytes external(std::string_view name, const std::vector<int64_t>& dims, std::string_view location,
                      std::string_view offset = "", std::string_view length = "") {
  auto entry = [](std::string_view k, std::string_view v) {
    return v.empty() ? Bytes() : bytes(13, bytes(1, k) + bytes(2, v));
  };
  return tensor_head(name, 1, dims) + entry("location", location) + entry("offset", offset) + entry("length", length) +
         number(14, 1);
}

using AnyDim = std::variant<int, const char*>;  // a number, or a name ("" for neither)
inline Bytes type(int elem, const std::vector<AnyDim>& dims) {
  Bytes shape;
  for (auto& d : dims) {
    if (auto* n = std::get_if<int>(&d))
      shape += bytes(1, number(1, *n));
    else
      shape += bytes(1, *std::get<const char*>(d) ? bytes(2, std::get<const char*>(d)) : Bytes());
  }
  return bytes(1, number(1, elem) + bytes(2, shape));
}
inline Bytes value(std::string_view name, int elem, const std::vector<AnyDim>& dims) {
  return bytes(1, name) + bytes(2, type(elem, dims));
}
inline Bytes value(std::string_view name) { return bytes(1, name); }

inline Bytes node(std::string_view op, const std::vector<Bytes>& in, const std::vector<Bytes>& out,
                  const std::vector<Bytes>& attrs = {}, std::string_view domain = "", std::string_view name = "") {
  return each(1, in) + each(2, out) + (name.empty() ? Bytes() : bytes(3, name)) + bytes(4, op) + each(5, attrs) +
         (domain.empty() ? Bytes() : bytes(7, domain));
}

struct GraphText {
  std::vector<Bytes> nodes, inputs, outputs, initializers = {}, infos = {}, sparse = {};
  operator Bytes() const {
    return each(1, nodes) + bytes(2, "g") + each(5, initializers) + each(11, inputs) + each(12, outputs) +
           each(13, infos) + each(15, sparse);
  }  // NOLINT
};
inline Bytes opset(std::string_view domain, int64_t version) { return bytes(1, domain) + number(2, version); }
inline Bytes function(std::string_view domain, std::string_view name, const std::vector<Bytes>& in,
                      const std::vector<Bytes>& out, const std::vector<Bytes>& attrs, const std::vector<Bytes>& nodes,
                      const std::vector<Bytes>& defaults = {}) {
  return bytes(1, name) + each(4, in) + each(5, out) + each(6, attrs) + each(7, nodes) + bytes(9, opset("", 18)) +
         bytes(9, opset("f", 1)) + bytes(10, domain) + each(11, defaults);
}
inline Bytes model(const Bytes& graph, const std::vector<Bytes>& opsets = {opset("", 18)},
                   const std::vector<Bytes>& functions = {}, int64_t ir = 8) {
  return number(1, ir) + bytes(7, graph) + each(8, opsets) + each(25, functions);
}

// ---- importing ----------------------------------------------------------------------------------------------------
struct Result {
  Model model;
  Diagnostics diagnostics;
  /// The codes of all diagnostics, in order: "E0401 W0002".
  std::string codes() const {
    std::string s;
    for (auto& d : diagnostics.all()) s += (s.empty() ? "" : " ") + std::string(code_name(d.code));
    return s;
  }
  std::string text() const {
    std::string s;
    for (auto& d : diagnostics.all()) s += to_string(d);
    return s;
  }
};
inline Result import(const Bytes& b, const ImportOptions& options = {},
                     const std::filesystem::path& folder = "/nonexistent") {
  Result r;
  r.model = import_onnx_bytes(std::as_bytes(std::span(b.data(), b.size())), folder, options, r.diagnostics);
  return r;
}

inline std::vector<double> values(const Tensor& t) {
  std::vector<double> v;
  for (int64_t i = 0; i < t.size(); ++i) v.push_back(t.get(i));
  return v;
}
inline Tensor floats(std::vector<int64_t> dims, std::vector<float> v) {
  return Tensor::of<float>(DType::f32, std::move(dims), v);
}

}  // namespace cameo::onnx_text
