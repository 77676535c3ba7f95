// What the table promises: descriptions, checks of everything that is passed in, who owns what, callbacks, state,
// goldens.
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>

#include "runtime/cpu.h"
#include "runtime/huge_pages.h"
#include "runtime/model.h"
#include "tests/runtime/harness.h"

namespace {

using namespace programs;
using Floats = std::vector<float>;
using Dims = std::vector<int64_t>;

struct Linear : testing::Test {
  Session<kLinear> s;
  Floats x = {1, 2, 3, -1, 0, 1}, y = Floats(8);
  std::vector<int64_t> sum = {0};
  Dims x_dims = {2, 3}, y_dims = {2, 4}, scalar;
  cameo_value in = value(x, x_dims);
  std::vector<cameo_value> out = {value(y, y_dims), value(sum, scalar)};

  cameo_status run() { return s.run({in}, out); }
  void expect_refused(const std::string& message) {
    EXPECT_EQ(run(), CAMEO_INVALID_ARGUMENT);
    EXPECT_EQ(s.error.message, message);
  }
};

TEST_F(Linear, Computes) {
  ASSERT_EQ(run(), CAMEO_OK) << s.error.message;
  EXPECT_EQ(y, (Floats{10.5f, 4, 4, 0, 2.5f, 0, 0, 0}));
  EXPECT_EQ(sum[0], 21);
}

TEST_F(Linear, DescribesItself) {
  size_t bytes = 0;
  EXPECT_STREQ(s.api.manifest(&bytes), kLinearManifest);
  EXPECT_EQ(bytes, sizeof kLinearManifest - 1);
  EXPECT_EQ(s.api.io_count(0), 1);
  EXPECT_EQ(s.api.io_count(1), 2);
  cameo_io io = {};
  io.struct_size = sizeof io;
  ASSERT_EQ(s.api.io_get(0, 0, &io), CAMEO_OK);
  EXPECT_STREQ(io.name, "x");
  EXPECT_EQ(io.dtype.code, 2);
  EXPECT_EQ(io.dtype.bits, 32);
  EXPECT_EQ(io.ndim, 2);
  EXPECT_EQ(io.dims[1], 3);
  EXPECT_EQ(io.dim_max[1], 3);
  EXPECT_STREQ(io.dim_names[0], "batch");
  EXPECT_EQ(io.struct_size, sizeof io);
  EXPECT_EQ(s.api.io_get(0, 1, &io), CAMEO_NOT_FOUND);
  EXPECT_EQ(s.api.io_get(1, -1, &io), CAMEO_NOT_FOUND);
  EXPECT_EQ(s.api.io_get(0, 0, nullptr), CAMEO_INVALID_ARGUMENT);
}

TEST_F(Linear, WritesNoMoreThanAnOlderCallersStructureHolds) {
  struct {
    cameo_io io;
    char guard[8];
  } small;
  std::memset(&small, 0x55, sizeof small);
  small.io.struct_size = offsetof(cameo_io, ndim);
  ASSERT_EQ(s.api.io_get(0, 0, &small.io), CAMEO_OK);
  EXPECT_STREQ(small.io.name, "x");
  EXPECT_EQ(small.io.ndim, 0x55555555);
  EXPECT_EQ(small.io.struct_size, offsetof(cameo_io, ndim));
}

TEST_F(Linear, NodesKeepTheirOnnxNames) {
  cameo_node node = {};
  node.struct_size = sizeof node;
  ASSERT_EQ(s.api.node_count(), 2);
  ASSERT_EQ(s.api.node_get(0, &node), CAMEO_OK);
  ASSERT_EQ(node.name_count, 2);
  EXPECT_STREQ(node.names[1], "/fc/Relu");
  EXPECT_STREQ(node.kernel, "k000_gemm_relu");
  EXPECT_EQ(node.flops, 48u);
  EXPECT_EQ(s.api.node_get(2, &node), CAMEO_NOT_FOUND);
}

TEST_F(Linear, RefusesAWrongRank) {
  Dims three = {1, 2, 3};
  in = value(x, three);
  expect_refused("input 0 `x` has rank 3, the model declares f32[2,3]");
}

TEST_F(Linear, RefusesAWrongSize) {
  x_dims[1] = 4;
  expect_refused("input 0 `x` is f32[2,4], the model declares f32[2,3]: dim 1 differs");
  x_dims = {-2, 3};
  EXPECT_EQ(run(), CAMEO_INVALID_ARGUMENT);
}

TEST_F(Linear, RefusesAWrongType) {
  in.tensor.dtype = {2, 64, 1};
  expect_refused("input 0 `x` has element type f64 (code 2, 64 bits, 1 lanes), the model declares f32");
}

TEST_F(Linear, RefusesAnotherDevice) {
  in.tensor.device.device_type = CAMEO_CUDA;
  expect_refused("input 0 `x` is on device type 2, expected 1 (CPU)");
}

TEST_F(Linear, RefusesNullPointers) {
  in.tensor.data = nullptr;
  expect_refused("input 0 `x`: data is null");
  in = value(x, x_dims);
  in.tensor.shape = nullptr;
  expect_refused("input 0 `x`: shape is null");
  EXPECT_EQ(s.api.run(nullptr, &in, 1, out.data(), 2, nullptr, &s.error), CAMEO_INVALID_ARGUMENT);
  EXPECT_EQ(s.api.run(s.context, nullptr, 1, out.data(), 2, nullptr, &s.error), CAMEO_INVALID_ARGUMENT);
  EXPECT_EQ(s.api.run(s.context, &in, 1, nullptr, 2, nullptr, &s.error), CAMEO_INVALID_ARGUMENT);
  EXPECT_EQ(s.api.run(s.context, &in, 1, nullptr, 2, nullptr, nullptr), CAMEO_INVALID_ARGUMENT);
}

TEST_F(Linear, RefusesWrongCounts) {
  EXPECT_EQ(s.api.run(s.context, &in, 2, out.data(), 2, nullptr, &s.error), CAMEO_INVALID_ARGUMENT);
  EXPECT_STREQ(s.error.message, "2 inputs given, the model has 1");
  EXPECT_EQ(s.api.run(s.context, &in, 1, out.data(), 1, nullptr, &s.error), CAMEO_INVALID_ARGUMENT);
  EXPECT_STREQ(s.error.message, "1 outputs given, the model has 2");
}

TEST_F(Linear, RefusesAStructureThatIsTooSmall) {
  in.struct_size = 16;
  EXPECT_EQ(run(), CAMEO_INVALID_ARGUMENT);
  EXPECT_EQ(std::string(s.error.message),
            "input 0 has struct_size 16, this library reads " + std::to_string(sizeof in));
}

TEST_F(Linear, RefusesOtherKinds) {
  in.kind = CAMEO_KIND_STRINGS;
  expect_refused("input 0 `x` has kind 2, expected a tensor (1)");
  in.kind = CAMEO_KIND_SEQUENCE;
  expect_refused("input 0 `x` has kind 3, expected a tensor (1)");
  in.kind = CAMEO_KIND_NONE;
  expect_refused("input 0 `x` has kind 0, expected a tensor (1)");
  in.kind = 77;
  EXPECT_EQ(run(), CAMEO_INVALID_ARGUMENT);
}

TEST_F(Linear, RefusesDataThatIsNotAlignedToItsElements) {
  Floats wide(16);
  in.tensor.data = reinterpret_cast<char*>(wide.data()) + 2;
  expect_refused("input 0 `x`: data is not aligned to its 32-bit elements");
}

TEST_F(Linear, TakesAByteOffset) {
  Floats wide = {9, 9, 1, 2, 3, -1, 0, 1};
  in.tensor.data = wide.data();
  in.tensor.byte_offset = 8;
  ASSERT_EQ(run(), CAMEO_OK);
  EXPECT_EQ(sum[0], 21);
}

TEST_F(Linear, RefusesOverlap) {
  Floats both(16);
  in.tensor.data = both.data();
  out[0].tensor.data = both.data() + 5;
  expect_refused("output 0 `y` overlaps input 0 `x`; give it a copy, or bind a state");
  out[0].tensor.data = both.data() + 6;
  EXPECT_EQ(run(), CAMEO_OK);
  out[1].tensor.data = both.data() + 12;
  expect_refused("output 1 `sum:0` overlaps output 0 `y`");
}

TEST_F(Linear, RefusesInputsInOutputsThatItWritesAnew) {
  out = {owned(), none()};
  ASSERT_EQ(run(), CAMEO_OK);
  in.tensor.data = out[0].tensor.data;
  const char* refusal = "output 0 `y` overlaps input 0 `x`; give it a copy, or bind a state";
  out[0] = owned();
  expect_refused(refusal);
  out[0] = none();
  expect_refused(refusal);  // it is written all the same
  out[0] = owned();
  out[0].tensor.data = in.tensor.data, out[0].tensor.ndim = 2, out[0].tensor.shape = y_dims.data();
  out[0].tensor.dtype = in.tensor.dtype;
  expect_refused("output 0 `y` overlaps input 0 `x`; give it a copy, or bind a state");
  out[0] = value(y, y_dims);
  EXPECT_EQ(run(), CAMEO_OK) << "the caller's memory is written instead";
}

TEST_F(Linear, RefusesUnknownRunFlags) {
  cameo_run_options options = {sizeof options, 0, 4, nullptr};
  EXPECT_EQ(s.api.run(s.context, &in, 1, out.data(), 2, &options, &s.error), CAMEO_INVALID_ARGUMENT);
  options.flags = 0;
  EXPECT_EQ(s.api.run(s.context, &in, 1, out.data(), 2, &options, &s.error), CAMEO_OK);
}

TEST_F(Linear, OwnsOutputsThatTheCallerDoesNotGive) {
  out = {owned(), none()};
  ASSERT_EQ(run(), CAMEO_OK) << s.error.message;
  ASSERT_EQ(out[0].tensor.ndim, 2);
  EXPECT_EQ(out[0].tensor.shape[1], 4);
  EXPECT_EQ(static_cast<float*>(out[0].tensor.data)[0], 10.5f);
  EXPECT_EQ(out[1].kind, static_cast<uint32_t>(CAMEO_KIND_NONE));
  out[1] = owned();
  out[0] = none();
  ASSERT_EQ(run(), CAMEO_OK);
  EXPECT_EQ(*static_cast<int64_t*>(out[1].tensor.data), 21);
  EXPECT_EQ(out[1].tensor.ndim, 0);
}

TEST_F(Linear, StridesNeedPrepareOnce) {
  Floats transposed = {1, -1, 2, 0, 3, 1};  // x as columns
  int64_t strides[] = {1, 2};
  in.tensor.data = transposed.data();
  in.tensor.strides = strides;
  EXPECT_EQ(run(), CAMEO_FAILED_PRECONDITION);
  EXPECT_NE(std::string(s.error.message).find("call prepare"), std::string::npos);
  ASSERT_EQ(s.api.prepare(s.context, &in, 1, &s.error), CAMEO_OK) << s.error.message;
  ASSERT_EQ(run(), CAMEO_OK) << s.error.message;
  EXPECT_EQ(sum[0], 21);
  EXPECT_EQ(s.api.prepare(s.context, nullptr, 0, &s.error), CAMEO_OK);
  x_dims[0] = 5;
  EXPECT_EQ(s.api.prepare(s.context, &in, 1, &s.error), CAMEO_INVALID_ARGUMENT);
}

TEST_F(Linear, StridesThatAreCompactNeedNothing) {
  int64_t strides[] = {3, 1};
  in.tensor.strides = strides;
  EXPECT_EQ(run(), CAMEO_OK);
  int64_t columns[] = {1, 2};
  out[0].tensor.strides = columns;
  expect_refused("output 0 `y` must be compact, its strides are not");
}

TEST_F(Linear, ErrorsFitIntoASmallBuffer) {
  struct {
    cameo_error error;
  } small = {};
  small.error.struct_size = offsetof(cameo_error, message) + 8;
  std::memset(small.error.message, 'z', sizeof small.error.message);
  EXPECT_EQ(s.api.run(s.context, &in, 2, out.data(), 2, nullptr, &small.error), CAMEO_INVALID_ARGUMENT);
  EXPECT_STREQ(small.error.message, "2 input");
  EXPECT_EQ(small.error.message[8], 'z');
}

TEST_F(Linear, MeasuresAndTypesWithoutRunning) {
  size_t bytes = 0, alignment = 0;
  ASSERT_EQ(s.api.workspace_size(s.model, nullptr, 0, &bytes, &alignment, &s.error), CAMEO_OK);
  EXPECT_GE(bytes, kLinearSchedule.arena_bytes + 40);
  EXPECT_EQ(alignment, 64u);
  std::vector<cameo_io> types(2);
  for (cameo_io& io : types) io.struct_size = sizeof io;
  ASSERT_EQ(s.api.output_types(s.model, nullptr, 0, types.data(), 2, &s.error), CAMEO_OK);
  EXPECT_STREQ(types[1].name, "sum:0");
  EXPECT_EQ(types[1].ndim, 0);
  EXPECT_EQ(s.api.output_types(s.model, nullptr, 0, types.data(), 1, &s.error), CAMEO_INVALID_ARGUMENT);
}

TEST_F(Linear, SaysThatWeightsCannotBeSwappedYet) {
  cameo_tensor tensor = {};
  EXPECT_EQ(s.api.weights_get(s.model, "w", &tensor, &s.error), CAMEO_UNIMPLEMENTED);
  EXPECT_EQ(s.api.weights_set(s.model, "w", &tensor, &s.error), CAMEO_UNIMPLEMENTED);
  EXPECT_EQ(s.api.weights_commit(s.model, &s.error), CAMEO_UNIMPLEMENTED);
  EXPECT_NE(std::string(s.error.message).find("cannot read or swap weights"), std::string::npos);
}

TEST_F(Linear, AllocatesOnlyThroughTheCallbackAndNothingInARun) {
  Counts counts;
  {
    Session<kLinear> counted(counting(counts));
    const int before = counts.allocations;
    EXPECT_GT(before, 0);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(counted.run({in}, out), CAMEO_OK);
    EXPECT_EQ(counts.allocations, before);
    EXPECT_FALSE(counts.live.empty());
  }
  EXPECT_TRUE(counts.live.empty());
}

TEST_F(Linear, SurvivesAnyFailedAllocation) {
  for (int budget = 0;; ++budget) {
    Counts counts;
    counts.budget = budget;
    cameo_options options = counting(counts);
    options.num_threads = 2;
    cameo_model* model = nullptr;
    cameo_context* context = nullptr;
    cameo_status status = s.api.model_create(&options, &model, &s.error);
    if (!status) status = s.api.context_create(model, &context, &s.error);
    EXPECT_TRUE(!status || status == CAMEO_OUT_OF_MEMORY) << s.error.message;
    s.api.context_release(context);
    s.api.model_release(model);
    EXPECT_TRUE(counts.live.empty()) << "after " << budget << " allocations";
    if (!status) return;
  }
}

// The flags that /proc/self/smaps has of the mapping that holds an address.
std::string flags_of_mapping(const void* address) {
  std::ifstream smaps("/proc/self/smaps");
  bool is_of = false;
  for (std::string line; std::getline(smaps, line);) {
    uintptr_t begin = 0, end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &begin, &end) == 2)
      is_of = begin <= reinterpret_cast<uintptr_t>(address) && reinterpret_cast<uintptr_t>(address) < end;
    if (is_of && line.starts_with("VmFlags:")) return line + " ";
  }
  return "";
}

TEST(Model, AsksForHugePagesWhereABlockHasSeveral) {
  if (!std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled")) GTEST_SKIP() << "this system has no huge pages";
  using rt::kHugePage;
  const cameo_options options = rt::default_options();
  for (const auto& [bytes, asks] : {std::pair(3 * kHugePage + 100, true), std::pair(2 * kHugePage - 64, false)}) {
    void* const memory = rt::allocate(options, bytes);
    ASSERT_NE(memory, nullptr);
    std::memset(memory, 1, bytes);
    if (asks) { EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % kHugePage, 0u); }
    EXPECT_EQ(flags_of_mapping(memory).find(" hg ") != std::string::npos, asks) << flags_of_mapping(memory);
    rt::deallocate(options, memory, bytes);
  }
}

TEST_F(Linear, AContextKeepsItsModel) {
  s.api.model_retain(s.model);
  s.api.model_release(s.model);
  s.api.model_release(s.model);
  EXPECT_EQ(run(), CAMEO_OK);
  cameo_context* last = s.context;
  s.context = nullptr;
  s.model = nullptr;
  s.api.context_release(last);
}

TEST_F(Linear, SelftestPassesAndReports) {
  std::vector<cameo_check> checks;
  auto report = [](void* user, const cameo_check* c) { static_cast<std::vector<cameo_check>*>(user)->push_back(*c); };
  ASSERT_EQ(s.api.selftest(nullptr, report, &checks, &s.error), CAMEO_OK) << s.error.message;
  ASSERT_EQ(checks.size(), 2u);
  EXPECT_STREQ(checks[0].case_name, "case_0");
  EXPECT_EQ(checks[0].max_error, 0);
  EXPECT_NEAR(checks[0].tolerance, 32 * 8 * 0x1p-23, 1e-12);  // 32 ULP of 10.5 is more than the 1e-6 that is embedded
  EXPECT_EQ(checks[1].output, 1);
}

const float kWrongY[] = {10.5f, 4, 4.5f, 0, 2.5f, 0, 0, 0};
const void* const kWrongOut[] = {kWrongY, &kGoldenSum};
const rt::Golden kWrongGoldens[] = {{"wrong", kGoldenIn, kWrongOut, nullptr}, kLinearGoldens[0]};
Program wrong_program() {
  Program program = kLinear;
  program.goldens = kWrongGoldens;
  program.golden_count = 2;
  return program;
}
const Program kWrong = wrong_program();

TEST(Selftest, NamesWhatDiffersAndGoesOn) {
  constexpr cameo_api api = rt::make_api<kWrong>();
  int calls = 0;
  Error error;
  auto report = [](void* user, const cameo_check*) { ++*static_cast<int*>(user); };
  EXPECT_EQ(api.selftest(nullptr, report, &calls, &error), CAMEO_MISMATCH);
  EXPECT_EQ(calls, 4);
  EXPECT_STREQ(error.message,
               "case `wrong`: output 0 `y` differs by 0.5, tolerance 0.0105: 1 of 8 elements, the worst is 2, got 4, "
               "expected 4.5");
  constexpr cameo_api none = rt::make_api<kMix>();
  EXPECT_EQ(none.selftest(nullptr, nullptr, nullptr, &error), CAMEO_NOT_FOUND);
}

Program beyond_program() {
  Program program = kLinear;
  program.image_count = 1;  // the one that no processor has
  return program;
}
const Program kBeyond = beyond_program();

TEST(Model, SaysWhatTheProcessorLacks) {
  constexpr cameo_api api = rt::make_api<kBeyond>();
  Error error;
  cameo_model* model = nullptr;
  EXPECT_EQ(api.model_create(nullptr, &model, &error), CAMEO_UNAVAILABLE);
  EXPECT_EQ(model, nullptr);
  EXPECT_NE(std::string(error.message).find("which code for `x86-64-v9` needs"), std::string::npos) << error.message;
}

const rt::Image kTileImages[] = {{"x86-64-v4-amx", rt::kAmxTile, kLinearKernels, &kLinearSchedule},
                                 {"baseline", 0, kLinearKernels, &kLinearSchedule}};
Program tile_program(uint32_t images) {
  Program program = kLinear;
  program.images = kTileImages;
  program.image_count = images;
  return program;
}
const Program kTiles = tile_program(2), kTilesAlone = tile_program(1);

/// Whether the system has given this process tile registers, which it keeps.
bool holds_tile_registers() {
  constexpr long kGetPermission = 0x1022;
  uint64_t features = 0;
  return syscall(SYS_arch_prctl, kGetPermission, &features) == 0 && features >> 18 & 1;
}

TEST(Model, TakesTheNextImageWhereTileRegistersAreDenied) {
  if (!(rt::host_cpu_features() & rt::kAmxTile)) GTEST_SKIP() << "this processor has no tile registers (AMX)";
  if (holds_tile_registers()) GTEST_SKIP() << "this process has been given tile registers";
  static char small[4096];  // no room for them when a signal comes
  const stack_t stack = {.ss_sp = small, .ss_flags = 0, .ss_size = sizeof small};
  stack_t before;
  ASSERT_EQ(sigaltstack(&stack, &before), 0);
  constexpr cameo_api alone = rt::make_api<kTilesAlone>(), api = rt::make_api<kTiles>();
  Error error;
  cameo_model* model = nullptr;
  EXPECT_EQ(alone.model_create(nullptr, &model, &error), CAMEO_UNAVAILABLE);
  EXPECT_NE(std::string(error.message).find("(or the system denies) amx-tile, which code for `x86-64-v4-amx` needs"),
            std::string::npos)
      << error.message;
  EXPECT_EQ(api.model_create(nullptr, &model, &error), CAMEO_OK) << error.message;
  if (model) {
    EXPECT_EQ(model->image, &kTileImages[1]);
    api.model_release(model);
  }
  EXPECT_EQ(sigaltstack(&before, nullptr), 0);
}

TEST(Model, ChecksItsOptions) {
  constexpr cameo_api api = rt::make_api<kLinear>();
  Error error;
  cameo_model* model = nullptr;
  cameo_options options = {};
  options.struct_size = sizeof options;
  api.options_init(&options);
  EXPECT_EQ(options.device.device_type, CAMEO_AUTO);
  options.device.device_type = CAMEO_CUDA;
  EXPECT_EQ(api.model_create(&options, &model, &error), CAMEO_UNAVAILABLE);
  api.options_init(&options);
  options.num_threads = -1;
  EXPECT_EQ(api.model_create(&options, &model, &error), CAMEO_INVALID_ARGUMENT);
  EXPECT_EQ(api.model_create(nullptr, nullptr, &error), CAMEO_INVALID_ARGUMENT);
  EXPECT_EQ(api.context_create(nullptr, nullptr, &error), CAMEO_INVALID_ARGUMENT);
  EXPECT_STREQ(api.status_string(CAMEO_UNAVAILABLE), "unavailable on this processor or device");
}

Program outside_program() {
  Program program = kLinear;
  program.weights = nullptr;  // 64 bytes that the host must bring
  return program;
}
const Program kOutside = outside_program();

TEST(Model, ReadsWeightsThroughTheHost) {
  constexpr cameo_api api = rt::make_api<kOutside>();
  Error error;
  cameo_model* model = nullptr;
  EXPECT_EQ(api.model_create(nullptr, &model, &error), CAMEO_FAILED_PRECONDITION);
  cameo_options options = rt::default_options();
  options.read_weights = [](void*, uint64_t, void*, size_t) { return 1; };
  EXPECT_EQ(api.model_create(&options, &model, &error), CAMEO_DATA_LOSS);
  options.read_weights = [](void*, uint64_t offset, void* to, size_t bytes) {
    std::memcpy(to, reinterpret_cast<const char*>(kLinearWeights) + offset, bytes);
    return 0;
  };
  EXPECT_EQ(api.selftest(&options, nullptr, nullptr, &error), CAMEO_OK) << error.message;
}

const int64_t kOpenDims[] = {-1, 3};
const Io kOpenInputs[] = {tensor("x", rt::kF32, 2, kOpenDims)};
Program open_program() {
  Program program = kLinear;
  program.inputs = kOpenInputs;
  return program;
}
const Program kOpenProgram = open_program();

TEST(Model, SaysThatSizesWhichNoInputGivesAreNotRunHere) {
  constexpr cameo_api api = rt::make_api<kOpenProgram>();
  Error error;
  cameo_model* model = nullptr;
  EXPECT_EQ(api.model_create(nullptr, &model, &error), CAMEO_UNIMPLEMENTED);
  EXPECT_STREQ(
      error.message,
      "dim 0 of input 0 `x` is known only when the run has ended; this runtime runs only what the inputs' sizes give");
}

struct State : testing::Test {
  Session<kMix> s;
  Floats x = Floats(kMixLength), past = {10};
  Dims n = {kMixLength}, one = {1};
  float step(cameo_value state) {
    std::vector<cameo_value> out = {none(), owned()};
    EXPECT_EQ(s.run({value(x, n), state}, out), CAMEO_OK) << s.error.message;
    return *static_cast<float*>(out[1].tensor.data);
  }
};

TEST_F(State, AnOutputIsTheNextRunsInput) {
  ASSERT_EQ(s.api.bind_state(s.context, 1, 1, &s.error), CAMEO_OK) << s.error.message;
  EXPECT_EQ(step(none()), 1);
  EXPECT_EQ(step(none()), 2);
  EXPECT_EQ(step(value(past, one)), 11) << "a tensor sets the state anew";
  EXPECT_EQ(step(none()), 12);
  Floats present(1);
  std::vector<cameo_value> out = {none(), value(present, one)};
  ASSERT_EQ(s.run({value(x, n), none()}, out), CAMEO_OK);
  EXPECT_EQ(present[0], 13);
  EXPECT_EQ(step(none()), 14);
}

TEST_F(State, BindingChecksBothEnds) {
  EXPECT_EQ(s.api.bind_state(s.context, 1, 0, &s.error), CAMEO_INVALID_ARGUMENT);
  EXPECT_STREQ(s.error.message, "output `present` is f32[1], but input `x` is f32[6208]");
  EXPECT_EQ(s.api.bind_state(s.context, 2, 0, &s.error), CAMEO_NOT_FOUND);
  EXPECT_EQ(s.api.bind_state(s.context, 0, -1, &s.error), CAMEO_NOT_FOUND);
  ASSERT_EQ(s.api.bind_state(s.context, 1, 1, &s.error), CAMEO_OK);
  EXPECT_EQ(s.api.bind_state(s.context, 0, 1, &s.error), CAMEO_FAILED_PRECONDITION);
}

}  // namespace
