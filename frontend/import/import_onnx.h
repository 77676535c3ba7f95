// The ONNX importer: bytes to Graph. It never throws for a bad model: every independent problem ends in `diagnostics`,
// in one pass, and a model with errors has an incomplete graph. Dims that the options give are bound when an input is
// made, so all that follows is static; those that have a range become symbols with bounds; the others stay open
// symbols. Equal names are equal expressions.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "frontend/ir/diagnostic.h"
#include "frontend/ir/graph.h"

namespace cameo {

/// What a flag says of an extent: a number, or a range of those that a run may have.
struct SizeRange : Interval {
  SizeRange(int64_t number) : Interval{number, number} {}  // NOLINT: a number is a range
  explicit SizeRange(Interval range) : Interval(range) {}
  bool is_number() const { return low == high; }
};

struct ImportOptions {
  std::map<std::string, int64_t> dims = {};                   // by name, or `INPUT[AXIS]`
  std::map<std::string, Interval> ranges = {};                // likewise, of dims that only a run knows
  std::map<std::string, std::vector<SizeRange>> shapes = {};  // by name of an input, or by its number
  std::map<std::string, std::string> constants = {};          // inputs folded in: `16000`, `[[1,2],[3,4]]`
  std::vector<std::string> outputs = {};                      // values that become the outputs; empty: the model's own
  std::vector<std::string> open = {};  // inputs that stay inputs, though they have an initializer
  std::vector<std::string> fed = {};   // likewise, if there are inputs of these names: data comes for them
  bool lenient = false;                // goes on where a model breaks a rule, but its meaning is clear

  std::vector<const Operator*> custom = {};  // operators beside cameo's own (frontend/custom)
};

/// An axis of an input whose extent nothing gives yet.
struct UnboundDim {
  std::string input;
  int axis;
  std::string dim;  // the name to bind: --dim NAME=N
  int64_t low = 1;  // the least extent that it may well have: 0 for `past` where an input or output has `past + 1`
};

/// A whole file, mapped; and what it was when it was opened.
struct MappedFile {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
  std::filesystem::path path;
  struct State {
    uint64_t device, inode;
    int64_t bytes, modified_ns, changed_ns;
    bool operator==(const State&) const = default;
  } state{};
};
/// Throws CompileError when it is not a readable regular file.
MappedFile map_file(const std::filesystem::path& file);
/// No other file has taken its place since, and nothing was written to it.
bool is_unchanged(const MappedFile& file);

struct Model {
  Graph graph;
  std::vector<MappedFile> files;  // all that it was read from: its own (not where it came as bytes), external data
  int64_t ir_version = 0;
  std::map<std::string, int64_t> opsets;  // domain ("" for ai.onnx) to version
  std::string producer, graph_name;
  std::vector<UnboundDim> unbound;
  std::vector<std::string> constant_inputs;  // whose initializer counts
};

Model import_onnx(const std::filesystem::path& file, const ImportOptions& options, Diagnostics& diagnostics);
/// `folder` is where external data may lie.
Model import_onnx_bytes(std::span<const std::byte> bytes, const std::filesystem::path& folder,
                        const ImportOptions& options, Diagnostics& diagnostics);

/// One file of a test data set: a serialized TensorProto, and the name it carries (often empty). Throws CompileError.
struct NamedTensor {
  std::string name;
  Tensor tensor;
};
NamedTensor tensor_from_pb(std::span<const std::byte> bytes);
/// The same of a value that the model declares to be of this kind: a SequenceProto, an OptionalProto or a MapProto
/// holds a list. An empty file is one without elements.
NamedTensor value_from_pb(std::span<const std::byte> bytes, const Type& declared);
/// What a model declares its inputs and outputs to be; of a tensor only that it is one.
struct DeclaredTypes {
  std::vector<Type> inputs, outputs;
};
DeclaredTypes declared_types(const std::filesystem::path& file);

/// The values of `model`'s unbound dims, told by the shapes of data for its inputs (by input name). Throws CompileError
/// when the data does not fit: another rank, another static extent, or two extents for one name.
std::map<std::string, int64_t> dims_from_data(const Model& model,
                                              const std::map<std::string, std::vector<int64_t>>& shapes);

}  // namespace cameo
