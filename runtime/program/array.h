// A compact tensor in the program's memory, and what the formats it is read from and written to have in common.
#pragma once

#include "runtime/dtype.h"
#include "runtime/errors.h"
#include "runtime/program/tool.h"

namespace rt::program {

/// Or a list of such: what a sequence or an optional holds, the keys and the values of a map.
struct Array {
  Slice name;
  uint32_t kind = CAMEO_KIND_TENSOR;
  Array* items = nullptr;  // of a list, `item_count` of them; `data` says that it is there
  int64_t item_count = 0;
  uint32_t dtype = kUndefined;
  int32_t rank = 0;
  int64_t dims[kMaxRank] = {};
  char* data = nullptr;

  int64_t count() const {
    int64_t n = 1;
    for (int32_t i = 0; i < rank; ++i) n *= dims[i];
    return n;
  }
  int64_t numbers() const;  // of complex elements their parts
  bool is_strings() const { return dtype == kString; }
  Slice* texts() const { return reinterpret_cast<Slice*>(data); }  // the elements of strings
  uint64_t bytes() const {
    return is_strings() ? static_cast<uint64_t>(count()) * sizeof(Slice)
                        : static_cast<uint64_t>(bytes_of(dtype, count()));
  }
  int64_t stride() const { return is_strings() ? static_cast<int64_t>(sizeof(Slice)) : element_bytes(dtype); }
  uint64_t bytes_apart() const {
    return static_cast<uint64_t>(count() * element_bytes(dtype));
  }  // one an element at least
  TypeText type() const { return {dtype, rank, dims}; }
};

struct Arrays {
  Array* items = nullptr;
  size_t count = 0;
};

bool parse_dtype(Slice name, uint32_t* dtype);    // f32, float32, int64 ...
bool sized(const Array& array, uint64_t* bytes);  // false: negative, or more than 2^62 bytes
bool allocate(Tool& tool, Array* array, Slice what);
Array array_of(const Io& io);  // without data
Array view(const cameo_tensor& tensor, Slice name);
Array view(Tool& tool, const cameo_value& value, Slice name);  // of any kind
cameo_value value_of(Tool& tool, const Array& array);          // CAMEO_KIND_NONE of one without data
bool is_list(const Array& array);

// A format is read in two steps: `declare_*` reads type, dims and name, which the caller compares with what the model
// takes (`fits`); then `read_*` allocates and fills `data`. So a file cannot make a run larger than the model does.

/// Of an array that was declared: bytes that are elements of some type, which the model knows.
inline constexpr uint32_t kOpaqueByte = kTypeCount;
/// An npy file names no type of 8 bits and less that NumPy lacks: its bytes, or integers, are elements of `dtype`.
void take_type(uint32_t dtype, Array* array);

// NumPy; the header of a file is at most this long
inline constexpr uint64_t kNpyHeader = 1 << 16;
bool declare_npy(Tool& tool, Slice file, Slice what, Array* array);  // the header is enough of the file
bool read_npy(Tool& tool, Slice file, Slice what, Array* array);
bool write_npy(Tool& tool, const Array& array, Text* to);

// zip archives of npy files
struct NpzEntry {
  Slice name;  // without .npy
  uint64_t method = 0, crc = 0, packed = 0, size = 0, offset = 0;
};
struct NpzEntries {
  NpzEntry* items = nullptr;
  size_t count = 0;
};
bool list_npz(Tool& tool, Slice file, Slice what, NpzEntries* entries);
bool declare_npz(Tool& tool, Slice file, const NpzEntry& entry, Slice what, Array* array);
bool read_npz(Tool& tool, Slice file, const NpzEntry& entry, Slice what, Array* array);
bool write_npz(Tool& tool, Arrays arrays, Text* to);

// ONNX TensorProto
uint64_t most_pb_bytes(const Io& io);  // of a file with a tensor of that type
bool declare_pb(Tool& tool, Slice file, Slice what, Array* array);
bool read_pb(Tool& tool, Slice file, Slice what, Array* array);
void write_pb(const Array& array, Text* to);
// ONNX SequenceProto, OptionalProto or MapProto, of which the model says which it is
bool read_list_pb(Tool& tool, const Io& io, Slice file, Slice what, Array* array);
void write_list_pb(Tool& tool, const Array& array, Text* to);  // of a tensor a TensorProto
struct ComplexTexts {  // what only programs with complex inputs hold (Program::complex)
  bool (*read)(Slice word, uint32_t dtype, char* data, int64_t index);
};
struct ListFiles {  // what only programs with lists hold (Program::list_files)
  bool (*read)(Tool& tool, const Io& io, Slice file, Slice what, Array* array);
  void (*write)(Tool& tool, const Array& array, Text* to);
};

uint32_t crc32(Slice bytes, uint32_t crc = 0);

}  // namespace rt::program
