// The tables of one compiled model: constant data that the compiler prints and `execute` walks. No system header, so
// that emitted text can be compiled anywhere. Every index below was checked by the compiler; the runtime trusts it.
#pragma once

#include "runtime/call.h"

namespace rt {

enum class RowKind : uint8_t {
  Kernel,       // kernel(refs), split in `chunks`
  Jump,         // go to row `target`
  JumpIfFalse,  // go to row `target` unless the bool at ref 0
  LoopBegin,    // state `a`, LoopFlags in `b`; refs: trip i64, or the number of trips; then [condition bool] [counter
                // i64], those the flags name, in this order; `target`: the row to go on at when it is over
  LoopEnd,      // `target`: the row of its LoopBegin, which counts, tests the condition again and goes round or on
  Swap,         // bases[a] <-> bases[b]
  SetBase,      // bases[a] = address of ref 0
  Advance,      // bases[a] += as many bytes as the number in ref 0, which may be negative
  Copy,         // ref 0 <- ref 1, as many bytes as the number in ref 2, not overlapping
  Sizes,        // the symbols from place `a` on are the elements of ref 0, of type `target`; all of them take as many
                // bytes as the number in ref 1
  End,
};

enum LoopFlags : uint32_t { kTripRef = 1, kConditionRef = 2, kCounterRef = 4 };
inline constexpr int64_t kNoTripLimit = kLargestNumber;

enum class Order : uint8_t {
  Waits,    // all rows before it must have ended
  Beside,   // a Kernel that may run beside the row before it and all that this one may run beside: threads share such
            // a stretch as one job
  Follows,  // a Kernel behind the row before it, on the same thread: both are parts of one chunk, so `chunks` is 0
};

struct Row {
  RowKind kind = RowKind::End;
  Order order = Order::Waits;
  uint16_t chunks = 1;  // of a Kernel; fixed by the plan, so that results do not depend on the number of threads
  uint32_t target = 0;  // of a Kernel: its index into Image::kernels; of rows that may jump: where to; of Sizes: a type
  uint32_t refs = 0;    // the first one in the schedule's array
  uint32_t node = 0;
  // Of a Kernel, Copy or Advance `b` is one more than the place of a size that stands for `chunks` or for the bytes; 0:
  // none.
  // Of a Kernel that computes the same in any number of chunks, each of which does some work anew, `a` is 1: one thread
  // has one chunk.
  uint32_t a = 0, b = 0;
};

// x86-64 features, as bits of Image::cpu_features; cpu.cpp lists them in this order.
enum Cpu : uint64_t {
  kSse3 = 1u << 0,
  kSsse3 = 1u << 1,
  kSse41 = 1u << 2,
  kSse42 = 1u << 3,
  kPopcnt = 1u << 4,
  kAvx = 1u << 5,
  kAvx2 = 1u << 6,
  kFma = 1u << 7,
  kF16c = 1u << 8,
  kBmi1 = 1u << 9,
  kBmi2 = 1u << 10,
  kLzcnt = 1u << 11,
  kMovbe = 1u << 12,
  kAvx512f = 1u << 13,
  kAvx512bw = 1u << 14,
  kAvx512cd = 1u << 15,
  kAvx512dq = 1u << 16,
  kAvx512vl = 1u << 17,
  kAvx512vnni = 1u << 18,
  kAvx512bf16 = 1u << 19,
  kAvx512fp16 = 1u << 20,
  kAmxTile = 1u << 21,
  kAmxInt8 = 1u << 22,
  kAmxBf16 = 1u << 23,
  kAvxVnni = 1u << 24,
  kAvx512vbmi = 1u << 25,
  kX86V2 = kSse3 | kSsse3 | kSse41 | kSse42 | kPopcnt,
  kX86V3 = kX86V2 | kAvx | kAvx2 | kFma | kF16c | kBmi1 | kBmi2 | kLzcnt | kMovbe,
  kX86V4 = kX86V3 | kAvx512f | kAvx512bw | kAvx512cd | kAvx512dq | kAvx512vl,
};

inline constexpr int32_t kLearned = -2, kRoom = -3;

// Sizes that only a run knows stand in a table of i64 that each context has: the program's symbols first, which the
// dims of the inputs give, then what Program::sizes computes of them. A size is named by its place there.
struct Symbol {
  const char* name = nullptr;
  int64_t low = 0, high = 0;  // bounds, both included; high -1: open
  // An element of an input, which has few of them, instead of a dim; it has no bounds. Likewise kLearned: of a value
  // that a run computes, known after a Sizes row; kRoom: of an Append, 0 where nothing says it.
  int32_t input = -1;
  uint32_t element = 0;
};

struct Io {
  const char* name = nullptr;
  uint32_t kind = 1;   // CAMEO_KIND_*: a tensor, of numbers or strings. Of a list type, rank and dims are those of its
                       // number in memory
  uint32_t dtype = 0;  // ONNX TensorProto.DataType
  int32_t rank = 0;    // kAnyRank: of elements of a list, where it is not known
  const int64_t* dims = nullptr;  // -1: known only at run time
  const int64_t* dim_min = nullptr;
  const int64_t* dim_max = nullptr;        // -1: open. Both null: as dims
  const int32_t* dim_sizes = nullptr;      // where the size of each dim stands; -1: it is a number. Null: all are
  const char* const* dim_names = nullptr;  // may be null, and so may its entries
  uint32_t learned = 0;                    // one past the last learned symbol that dims are made of; 0: none
  uint32_t key = 0;                        // of a map: the type of its keys
  const Io* of = nullptr;  // of a sequence or an optional its elements, of a map its values; -1: any dim
};
inline constexpr int32_t kAnyRank = -1;

// `text` below: a name's place in Program::text. Each pointer in a table costs a relocation of 24 bytes.

struct Node {          // one step; what profile, tap and faults speak of
  uint32_t names = 0;  // the first's place in Program::node_names
  uint32_t name_count = 0;
  uint32_t kernel = 0;  // text
  uint64_t flops = 0, bytes = 0;
};

struct TapAxis {  // below 0: ~place of a size
  int64_t extent = 0;
  int64_t stride = 0;  // in elements
};

struct Tap {  // after row `row` the value stands at refs[ref]; sorted by row
  uint32_t row = 0, ref = 0;
  uint32_t name = 0;  // text
  uint32_t dtype = 0;
  int32_t rank = 0;
  uint32_t axes = 0;  // the first one in the schedule's array
};

enum class Side : uint32_t {
  Kernels,  // where they read and write: on the model's GPU, else the host's
  Host,     // which a GPU copies to and from
};

// Memory without a bound: bases[base] has as many bytes as the table of sizes says at `size`, before rows run.
struct Block {
  uint32_t base = 0, size = 0;
  uint32_t learned = 0;       // as of an Io: it is taken once that is known
  Side side = Side::Kernels;  // Host: of a GPU's plan, for steps on the host
};

// A plan: its rows, and the memory they ask for.
struct Schedule {
  const Row* rows = nullptr;  // ends with End
  uint32_t row_count = 0;
  const Ref* refs = nullptr;
  const Tap* taps = nullptr;
  uint32_t tap_count = 0;
  const TapAxis* tap_axes = nullptr;
  uint32_t base_count = 0;     // kFirstIo + inputs + outputs + slots
  uint32_t loop_count = 0;     // loop states: the largest Row::a of a LoopBegin, and one
  uint64_t arena_bytes = 0;    // 64-byte aligned
  uint64_t scratch_bytes = 0;  // for each thread
  // Of a GPU's plan with steps on the host: the host's memory that they work in, which Copy rows fill and empty, and
  // the base that it is. Their other operands are not theirs to touch.
  uint64_t host_bytes = 0;
  uint32_t host_base = 0;
  uint32_t sizes_base = 0;  // the base that is the context's table of sizes; 0: no row asks it
  const Block* blocks = nullptr;
  uint32_t block_count = 0;
  uint32_t scratch_size = 0;  // one more than the place of a size that stands for `scratch_bytes`; 0: none
};

struct DeviceCode {                    // kernels for one GPU architecture
  const char* architecture = nullptr;  // sm_80, sm_90a: a cubin; ptx: text that the driver compiles; host: a library
  const void* data = nullptr;
  uint64_t bytes = 0;           // at `data`
  uint64_t unpacked_bytes = 0;  // of the code, of which `data` is a block of LZ4; 0: it stands there as it is
};

struct DeviceEntry {      // the function of one Row::kernel; it takes the row's refs, then a Fault*
  uint32_t name = 0;      // text
  uint32_t operands = 0;  // refs of each row that launches it
};

struct DeviceDriver;                                                          // device.h
extern __attribute__((visibility("hidden"))) const DeviceDriver cuda_driver;  // linked where a table names it

// How a GPU's rows are launched; `--mode`.
enum class Mode : uint32_t {
  Default,         // one by one
  ReduceOverhead,  // stretches of them as graphs, which are built when a context is opened
};

struct Device {  // of an image whose kernels run on a GPU
  const DeviceDriver* driver = nullptr;
  const DeviceCode* codes = nullptr;  // 8-byte aligned
  uint32_t code_count = 0;
  const DeviceEntry* entries = nullptr;
  uint32_t entry_count = 0;
  Mode mode = Mode::Default;
};

// Sizes that images have schedules of their own for.
struct Bucket {
  const char* name = nullptr;      // `batch=1, seq=64`
  const int64_t* sizes = nullptr;  // of each of the program's symbols; -1: any
};

// An output that is an input with more behind it along an axis. Their memory has room for more indices there than a run
// has: as many as the table of sizes says at these places, none in tensors of a caller. Where a state is in place, both
// are one memory, and the rows that would copy the input into the output have no chunks.
struct Append {
  uint32_t input = 0, output = 0, axis = 0;
  uint32_t input_room = 0, output_room = 0;
};

struct Image {  // a plan for one machine, and its code; a program lists the best first
  const char* name = nullptr;
  uint64_t cpu_features = 0;
  const Kernel* kernels = nullptr;     // of a GPU's plan: those that run on the host, null for the others; or no array
  const Schedule* schedule = nullptr;  // equal ones are one
  const Device* device = nullptr;      // null: the CPU runs it
  const Schedule* const* bucket_schedules =
      nullptr;                      // one for each of the program's buckets; the others' sizes: `schedule`
  const Append* appends = nullptr;  // of each input and each output at most one
  uint32_t append_count = 0;
};

// Compact tensors of the program's own types and dims; of strings where each one ends, as i64, and then their bytes.
struct Golden {
  const char* name = nullptr;
  const void* const* inputs = nullptr;  // bytes; of a list a cameo_value
  const void* const* outputs = nullptr;
  const double* tolerances =
      nullptr;                       // absolute, one for each tensor of the outputs; null or negative: the default rule
  const int64_t* symbols = nullptr;  // the size of each of the program's symbols; null where it has none
  const int64_t* dims = nullptr;     // of all outputs; null where they follow from the symbols that inputs give
};

struct MadeUp {                    // weights that the file does not hold
  uint64_t offset = 0, count = 0;  // bytes; elements
  uint32_t dtype = 0;              // f32, f16 or bf16
  float mean = 0, deviation = 0;
};

inline constexpr uint32_t kProgramVersion = 1;

// A condition on sizes, 0 in the table where it does not hold: the node has no meaning then.
struct Requirement {
  uint32_t size = 0, node = 0;
  uint32_t learned = 0;        // as of an Io: it is asked once that is known
  const char* condition = "";  // as text, where it is short
};

struct WeightsReader;  // mapped_weights.h; linked where a table names it
extern __attribute__((visibility("hidden"))) const WeightsReader weights_reader;
struct WeightsFile {           // of weights that the library does not hold
  const char* name = nullptr;  // absolute, or counted from the folder of the library or program that has this
  uint64_t hash = 0;           // PoolHash
  const WeightsReader* reader = nullptr;
};

struct Sizing;  // sizes.h; linked where a table names it
extern __attribute__((visibility("hidden"))) const Sizing sizing;

struct Listing;  // lists.h; linked where a table names it
extern __attribute__((visibility("hidden"))) const Listing listing;
namespace program {
struct ListFiles;  // array.h; linked where a table names it, with the program: null in a library that is none
extern __attribute__((visibility("hidden"), weak)) const ListFiles list_files;
struct ComplexTexts;  // literal.cpp; likewise
extern __attribute__((visibility("hidden"), weak)) const ComplexTexts complex_texts;
struct StringFiles;  // npy.cpp; likewise
extern __attribute__((visibility("hidden"), weak)) const StringFiles string_files;
}  // namespace program

struct StringFunctions;  // string_heap.h; linked where a table names it
extern __attribute__((visibility("hidden"))) const StringFunctions string_functions;
struct StringTable {               // of a program whose values are strings somewhere
  const char* text = nullptr;      // of its constant strings, one behind the other: those with the codes 1, 2 ..
  const uint64_t* ends = nullptr;  // where each of them ends there
  uint64_t count = 0;
  const StringFunctions* functions = nullptr;
  const program::StringFiles* files = nullptr;
};

struct Program {
  uint32_t version = kProgramVersion;
  const char* name = nullptr;
  const char* manifest = nullptr;
  uint64_t manifest_bytes = 0;
  const Io* inputs = nullptr;
  uint32_t input_count = 0;
  const Io* outputs = nullptr;
  uint32_t output_count = 0;
  const Node* nodes = nullptr;  // of all images
  uint32_t node_count = 0;
  const uint32_t* node_names = nullptr;  // text
  const char** named = nullptr;          // the names of the nodes that were asked for: zeros need no room in a file
  const char* text = "";
  const Image* images = nullptr;
  uint32_t image_count = 0;
  const void* weights = nullptr;  // 64-byte aligned; null with weights_bytes: in a file, or the host reads them
  uint64_t weights_bytes = 0;
  const MadeUp* made_up = nullptr;  // by offset; `weights` holds the bytes between them, one piece behind the other
  uint32_t made_up_count = 0;
  uint64_t made_up_seed = 0;
  const Golden* goldens = nullptr;
  uint32_t golden_count = 0;
  int32_t threads = 0;  // 0: as many as the process may use
  const Symbol* symbols = nullptr;
  uint32_t symbol_count = 0;
  uint32_t size_count = 0;         // of the table, symbols included
  const Sizing* sizing = nullptr;  // null: it has none
  Kernel sizes = nullptr;  // fills in the sizes behind the symbols: its one operand is the table; null: there are none
  const Bucket* buckets = nullptr;  // a run takes the first one that has its sizes
  uint32_t bucket_count = 0;
  const Requirement* requirements = nullptr;
  uint32_t requirement_count = 0;
  const WeightsFile* weights_file = nullptr;
  const Listing* lists = nullptr;  // null: no value is a sequence, an optional or a map
  const program::ListFiles* list_files = nullptr;
  const StringTable* strings = nullptr;            // null: no value is of strings
  const program::ComplexTexts* complex = nullptr;  // null: no input is complex
};

}  // namespace rt

extern "C" __attribute__((visibility("hidden"))) const rt::Program cameo_program;
