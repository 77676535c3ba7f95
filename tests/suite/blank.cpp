// without_shapes: the wire form of a model rewritten, field by field.
#include "tests/suite/suite.h"

namespace cameo::suite {
namespace {

/// Fields of messages by which a shape is reached: ModelProto.graph, GraphProto.output or value_info,
/// ValueInfoProto.type, TypeProto.tensor_type, TypeProto.Tensor.shape.
constexpr std::initializer_list<uint64_t> kPaths[] = {{7, 12, 2, 1, 2}, {7, 13, 2, 1, 2}};
using Path = std::span<const uint64_t>;

uint64_t take_varint(std::string_view& bytes) {
  uint64_t value = 0;
  for (int shift = 0; !bytes.empty() && shift < 64; shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes[0]);
    bytes.remove_prefix(1);
    value |= uint64_t{byte & 127u} << shift;
    if (byte < 128) break;
  }
  return value;
}
std::string varint(uint64_t value) {
  std::string bytes;
  for (; value > 127; value >>= 7) bytes += static_cast<char>(value | 128);
  return bytes + static_cast<char>(value);
}

/// The message without the fields that the path leads to.
std::string without(std::string_view message, Path path) {
  std::string kept;
  while (!message.empty()) {
    const std::string_view field = message;
    const uint64_t tag = take_varint(message), wire = tag & 7;
    const bool nested = wire == 2;
    const uint64_t bytes = nested ? take_varint(message) : wire == 1 ? 8 : wire == 5 ? 4 : 0;
    if (wire == 0) take_varint(message);
    const std::string_view content = message.substr(0, bytes);
    message.remove_prefix(content.size());
    if (!nested || tag >> 3 != path[0]) {
      kept += field.substr(0, field.size() - message.size());
    } else if (path.size() > 1) {
      const std::string rest = without(content, path.subspan(1));
      kept += varint(tag) + varint(rest.size()) + rest;
    }
  }
  return kept;
}

}  // namespace

std::string without_shapes(std::span<const std::byte> model) {
  std::string bytes(reinterpret_cast<const char*>(model.data()), model.size());
  for (const auto& path : kPaths) bytes = without(bytes, Path(path.begin(), path.size()));
  return bytes;
}

}  // namespace cameo::suite
