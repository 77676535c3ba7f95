// The wire form: what the bytes are when they are no model, and a walk over them before protobuf sees any. The walk
// follows the schema's messages only; it refuses lengths beyond their parent, over-long varints, deep nesting, a second
// graph, and messages so many that parsing them would take far more memory than the file.
#include <fmt/format.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/unknown_field_set.h>

#include <algorithm>

#include "frontend/import/import_internal.h"

namespace cameo::importing {
namespace {

constexpr int kMaxMessages = 200;  // levels of messages; three a nested graph

struct Child {
  Message parent;
  uint32_t field;
  Message child;
};
constexpr Child kChildren[] = {
    {Message::Model, 7, Message::Graph},       {Message::Model, 8, Message::Leaf},
    {Message::Model, 14, Message::Leaf},       {Message::Model, 20, Message::Training},
    {Message::Model, 25, Message::Function},   {Message::Graph, 1, Message::Node},
    {Message::Graph, 5, Message::Tensor},      {Message::Graph, 11, Message::ValueInfo},
    {Message::Graph, 12, Message::ValueInfo},  {Message::Graph, 13, Message::ValueInfo},
    {Message::Graph, 14, Message::Annotation}, {Message::Graph, 15, Message::Sparse},
    {Message::Node, 5, Message::Attribute},    {Message::Attribute, 5, Message::Tensor},
    {Message::Attribute, 6, Message::Graph},   {Message::Attribute, 10, Message::Tensor},
    {Message::Attribute, 11, Message::Graph},  {Message::Attribute, 14, Message::Type},
    {Message::Attribute, 15, Message::Type},   {Message::Attribute, 22, Message::Sparse},
    {Message::Attribute, 23, Message::Sparse}, {Message::Tensor, 3, Message::Leaf},
    {Message::Tensor, 13, Message::Leaf},      {Message::Sparse, 1, Message::Tensor},
    {Message::Sparse, 2, Message::Tensor},     {Message::ValueInfo, 2, Message::Type},
    {Message::Type, 1, Message::TensorType},   {Message::Type, 4, Message::Holder},
    {Message::Type, 5, Message::Map},          {Message::Type, 8, Message::TensorType},
    {Message::Type, 9, Message::Holder},       {Message::TensorType, 2, Message::Shape},
    {Message::Shape, 1, Message::Dim},         {Message::Holder, 1, Message::Type},
    {Message::Map, 2, Message::Type},          {Message::Function, 7, Message::Node},
    {Message::Function, 9, Message::Leaf},     {Message::Function, 11, Message::Attribute},
    {Message::Training, 1, Message::Graph},    {Message::Training, 2, Message::Graph},
    {Message::Training, 3, Message::Leaf},     {Message::Training, 4, Message::Leaf},
    {Message::Annotation, 2, Message::Leaf},
};
/// Fields of packed varints, and the bytes that one becomes: three times its element, as a list grows by doubling.
struct Packed {
  Message parent;
  uint32_t field;
  int64_t bytes;
};
constexpr Packed kPacked[] = {{Message::Tensor, 1, 24},  {Message::Tensor, 5, 12},    {Message::Tensor, 7, 24},
                              {Message::Tensor, 11, 24}, {Message::Attribute, 8, 24}, {Message::Sparse, 3, 24}};

constexpr std::string_view kNames[] = {
    "model", "graph", "node", "attribute", "tensor",   "sparse tensor", "value info", "type", "type",
    "shape", "dim",   "type", "map type",  "function", "training info", "annotation", "entry"};
std::string_view name_of(Message m) { return kNames[static_cast<int>(m)]; }

[[noreturn]] void fail(std::string message) { throw CompileError(Code::E0102, std::move(message)); }

/// Bytes of memory for each byte of a file. Lists of integers, two or three bytes each, take eight to twelve times as
/// much in memory while they grow: a forest of 100 trees of depth 12, 26 MB, takes 222.
constexpr int64_t kMostGrowth = 12;

class Walk {
 public:
  explicit Walk(std::span<const std::byte> bytes)
      : bytes_(bytes), memory_left_((int64_t{176} << 20) + kMostGrowth * static_cast<int64_t>(bytes.size())) {}

  void message(Message kind, size_t begin, size_t end, int depth) {
    if (depth > kMaxMessages)
      fail(fmt::format("messages nested more than {} deep at byte {}: graphs inside of graphs have a limit",
                       kMaxMessages, begin));
    spend(kind == Message::Node || kind == Message::Attribute || kind == Message::Tensor || kind == Message::Graph
              ? 512
              : 192);
    bool graph_seen = false;
    for (at_ = begin; at_ < end;) {
      size_t start = at_;
      uint64_t tag = varint(kind, end);
      uint64_t field = tag >> 3;
      if (field == 0 || field > 536870911)
        fail(fmt::format("byte {} in the {} starts no field: not a model, or damaged", start, name_of(kind)));
      switch (tag & 7) {
        case 0:
        case 1:
        case 5: number(kind, tag & 7, end); break;
        case 3: group(kind, field, end); break;
        case 2: {
          uint64_t length = varint(kind, end);
          if (length > end - at_)
            fail(fmt::format("truncated: field {} of the {} at byte {} says {} bytes, {} are left", field,
                             name_of(kind), start, length, end - at_));
          if (kind == Message::Model && field == 7 && std::exchange(graph_seen, true))
            fail(fmt::format("a second graph begins at byte {}: two models in one file", start));
          size_t next = at_ + length;
          if (const Child* c = child(kind, static_cast<uint32_t>(field)))
            message(c->child, at_, next, depth + 1);
          else
            spend(packed(kind, field, at_, next));
          at_ = next;
          break;
        }
        default:
          fail(fmt::format("byte {} in the {} has a wire type that models do not use: not a model, or damaged", start,
                           name_of(kind)));
      }
    }
  }

 private:
  static const Child* child(Message parent, uint32_t field) {
    for (const Child& c : kChildren)
      if (c.parent == parent && c.field == field) return &c;
    return nullptr;
  }
  /// What a field that is no message grows to.
  int64_t packed(Message kind, uint64_t field, size_t begin, size_t end) const {
    constexpr int64_t kText = 96;
    for (const Packed& p : kPacked)
      if (p.parent == kind && p.field == field)
        return kText + p.bytes * std::ranges::count_if(bytes_.subspan(begin, end - begin),
                                                       [](std::byte b) { return (b & std::byte{128}) == std::byte{}; });
    return kText;
  }
  uint64_t varint(Message kind, size_t end) {
    uint64_t value = 0;
    for (int i = 0; i < 10; ++i) {
      if (at_ >= end) fail(fmt::format("truncated: the {} ends inside of a number at byte {}", name_of(kind), at_));
      auto b = std::to_integer<uint64_t>(bytes_[at_++]);
      if (i == 9 && b > 1) break;
      value |= (b & 127) << (7 * i);
      if (b < 128) return value;
    }
    fail(fmt::format("a number longer than 64 bits before byte {} in the {}", at_, name_of(kind)));
  }
  void number(Message kind, uint64_t wire_type, size_t end) {
    constexpr int64_t kInteger = 24, kFloat = 12;  // three times an element, as a list grows by doubling
    spend(wire_type == 5 ? kFloat : kInteger);
    if (wire_type == 0)
      varint(kind, end);
    else
      skip(kind, wire_type == 1 ? 8 : 4, end);
  }
  /// No message of ONNX has groups: all is skipped up to the tag that ends the one whose first tag was just read.
  void group(Message kind, uint64_t field, size_t end) {
    std::vector<uint64_t> open{field};
    while (!open.empty()) {
      spend(48);
      size_t start = at_;
      uint64_t tag = varint(kind, end), type = tag & 7;
      if (type == 3 && open.size() < kMaxMessages)
        open.push_back(tag >> 3);
      else if (type == 4 && tag >> 3 == open.back())
        open.pop_back();
      else if (type == 2)
        skip(kind, varint(kind, end), end);
      else if (type == 0 || type == 1 || type == 5)
        number(kind, type, end);
      else
        fail(
            fmt::format("byte {} in a group of the {} starts no field: not a model, or damaged", start, name_of(kind)));
    }
  }
  void skip(Message kind, size_t n, size_t end) {
    if (n > end - at_) fail(fmt::format("truncated: the {} ends inside of a number at byte {}", name_of(kind), at_));
    at_ += n;
  }
  void spend(int64_t bytes) {
    if ((memory_left_ -= bytes) < 0)
      fail(fmt::format("the messages up to byte {} would take far more memory than the file has bytes", at_));
  }
  std::span<const std::byte> bytes_;
  int64_t memory_left_;
  size_t at_ = 0;
};

struct Magic {
  size_t offset;
  std::string_view bytes, what;
};
constexpr Magic kMagic[] = {
    {0, "version https://git-lfs",
     "a Git LFS pointer: the model itself was not downloaded (`git lfs pull` fetches it)"},
    {4, "ORTM", "an ONNX Runtime .ort file: convert the .onnx model it was made from"},
    {4, "TFL3", "a TensorFlow Lite model: tf2onnx converts it"},
    {0, "PK\3\4", "a zip archive (a PyTorch checkpoint, an npz?): export it to ONNX first"},
    {0, "\x1f\x8b", "gzip data: unpack it first"},
    {0, "\x28\xb5\x2f\xfd", "zstd data: unpack it first"},
    {0,
     "\xfd"
     "7zXZ",
     "xz data: unpack it first"},
    {0, "\x89HDF", "an HDF5 file (Keras?): export it to ONNX first"},
    {0, "\x80\2", "a Python pickle: export the model to ONNX first"},
    {0,
     "\x7f"
     "ELF",
     "a program or library"},
    {0, "\x93NUMPY", "a NumPy array"},
    {0, "GGUF", "a GGUF model"},
    {0, "<!DOCTYPE", "an HTML page: the download went wrong"},
    {0, "<html", "an HTML page: the download went wrong"},
};

/// What the bytes look like; empty when nothing comes to mind.
std::string_view guess(std::span<const std::byte> bytes) {
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), std::min<size_t>(bytes.size(), 4096));
  for (const Magic& m : kMagic)
    if (text.size() >= m.offset && text.substr(m.offset).starts_with(m.bytes)) return m.what;
  bool plain = std::ranges::all_of(
      text, [](unsigned char c) { return c == '\n' || c == '\r' || c == '\t' || (c >= 32 && c != 127); });
  if (!plain) return {};
  if (text.find("ir_version") != text.npos || text.find("opset_import") != text.npos)
    return "the text form of a model: only the binary form is read";
  if (text.starts_with("{")) return "JSON text";
  return "text";
}

}  // namespace

void check_wire(std::span<const std::byte> bytes, Message root) { Walk(bytes).message(root, 0, bytes.size(), 0); }

void parse_message(std::span<const std::byte> bytes, Message root, google::protobuf::Message& into) {
  if (bytes.empty()) throw CompileError(Code::E0101, "the file is empty");
  if (bytes.size() > size_t{INT32_MAX})
    throw CompileError(Code::E0102, fmt::format("{} bytes: protobuf's limit for one file is 2 GiB", bytes.size()),
                       "save the model with external data");
  if (auto what = guess(bytes); !what.empty()) fail(fmt::format("this is {}", what));
  check_wire(bytes, root);
  google::protobuf::SetLogHandler(nullptr);
  google::protobuf::io::CodedInputStream in(reinterpret_cast<const uint8_t*>(bytes.data()),
                                            static_cast<int>(bytes.size()));
  in.SetRecursionLimit(kMaxMessages + 20);
  in.SetTotalBytesLimit(INT32_MAX);
  if (!into.ParseFromCodedStream(&in) || !in.ConsumedEntireMessage())
    fail(fmt::format("the bytes do not parse as a {}", name_of(root)));
}

std::vector<std::string> newer_strings(const google::protobuf::Message& m, int field) {
  std::vector<std::string> values;
  const auto* r = m.GetReflection();
  if (const auto* f = m.GetDescriptor()->FindFieldByNumber(field)) {
    bool text = f->cpp_type() == google::protobuf::FieldDescriptor::CPPTYPE_STRING;
    if (f->is_repeated()) {
      for (int i = 0; i < r->FieldSize(m, f); ++i)
        values.push_back(text ? r->GetRepeatedString(m, f, i) : r->GetRepeatedMessage(m, f, i).SerializeAsString());
    } else if (r->HasField(m, f)) {
      values.push_back(text ? r->GetString(m, f) : r->GetMessage(m, f).SerializeAsString());
    }
    return values;
  }
  const auto& unknown = r->GetUnknownFields(m);
  for (int i = 0; i < unknown.field_count(); ++i)
    if (unknown.field(i).number() == field &&
        unknown.field(i).type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED)
      values.push_back(unknown.field(i).length_delimited());
  return values;
}
std::string newer_string(const google::protobuf::Message& m, int field) {
  auto values = newer_strings(m, field);
  return values.empty() ? std::string() : values.back();
}

}  // namespace cameo::importing
