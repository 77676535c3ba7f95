// What a model says where it finds no driver, an old one, no GPU, too little memory or no code for the card; and that
// a failure of any call of the driver is a status, leaks nothing and leaves the process as it was.
#include <dlfcn.h>

#include <cstdlib>

#include "tests/runtime/cuda/fixture.h"

namespace {

using namespace programs;
using cameo::test::load_mock;
using cameo::test::Mock;

// ---- which code a card takes
// ------------------------------------------------------------------------------------------

std::string chosen(std::initializer_list<const char*> architectures, int32_t capability, bool emulator = false) {
  static const char kPtx[] = "//\n.version 7.0\n.target sm_80\n.address_size 64\n";
  std::vector<rt::DeviceCode> codes;
  for (const char* a : architectures) codes.push_back({a, kPtx, sizeof kPtx});
  const rt::Device device = {&rt::cuda_driver, codes.data(), static_cast<uint32_t>(codes.size()), nullptr, 0};
  rt::cuda::Card card;
  card.capability = capability;
  card.emulator = emulator;
  const rt::DeviceCode* code = rt::cuda::choose_code(device, card);
  return code ? code->architecture : "none";
}

TEST(Card, TakesTheNearestCodeOfItsGeneration) {
  EXPECT_EQ(chosen({"sm_80", "sm_86", "ptx"}, 86), "sm_86");
  EXPECT_EQ(chosen({"sm_86", "sm_80", "ptx"}, 89), "sm_86");
  EXPECT_EQ(chosen({"sm_86", "sm_80", "ptx"}, 80), "sm_80");
  EXPECT_EQ(chosen({"sm_86", "ptx"}, 80), "ptx") << "code for a newer card does not run on an older one";
  EXPECT_EQ(chosen({"sm_80", "ptx"}, 90), "ptx") << "nor code of another generation";
  EXPECT_EQ(chosen({"sm_80"}, 90), "none");
  EXPECT_EQ(chosen({"sm_120", "ptx"}, 121), "sm_120");
  EXPECT_EQ(chosen({"sm_120"}, 90), "none");
}

TEST(Card, TakesSpecificCodeOnlyWhereItIsExact) {
  EXPECT_EQ(chosen({"sm_90", "sm_90a"}, 90), "sm_90a");
  EXPECT_EQ(chosen({"sm_90a"}, 100), "none");
  EXPECT_EQ(chosen({"sm_90a", "ptx"}, 100), "ptx");
}

TEST(Card, PtxRunsOnItsTargetAndLater) {
  EXPECT_EQ(chosen({"ptx"}, 80), "ptx");
  EXPECT_EQ(chosen({"ptx"}, 75), "none");
}

TEST(Card, OnlyAnEmulatorRunsHostCode) {
  EXPECT_EQ(chosen({"host", "ptx"}, 89), "ptx");
  EXPECT_EQ(chosen({"ptx", "sm_89", "host"}, 89, true), "host");
  EXPECT_EQ(chosen({"ptx", "sm_89"}, 89, true), "none");
}

// ---- what is said
// -----------------------------------------------------------------------------------------------------

struct Driver : testing::Test {
  Mock& mock = load_mock();
  Driver() { mock = Mock(); }
  ~Driver() override { EXPECT_EQ(mock.live, 0) << "things of the driver that were not released"; }

  std::string refusal(cameo_status expected, cameo_device device = {CAMEO_AUTO, 0}) {
    constexpr cameo_api api = rt::make_api<kGpuLinear>();
    cameo_options options = rt::default_options();
    options.device = device;
    Error error;
    cameo_model* model = nullptr;
    EXPECT_EQ(api.model_create(&options, &model, &error), expected);
    EXPECT_EQ(model, nullptr);
    return error.message;
  }
};

TEST_F(Driver, ThatIsTooOldSaysBothVersions) {
  mock.version = 11080;
  EXPECT_EQ(refusal(CAMEO_UNAVAILABLE),
            "NVIDIA's driver supports CUDA 11.8 and this library needs 12.0; install a newer driver");
}

TEST_F(Driver, WithoutTheGpuThatIsAskedFor) {
  EXPECT_EQ(refusal(CAMEO_UNAVAILABLE, {CAMEO_CUDA, 3}), "there is no GPU 3; this machine has 1, counted from 0");
  mock.devices = 0;
  EXPECT_EQ(refusal(CAMEO_UNAVAILABLE), "NVIDIA's driver failed: cuInit: mock error (100)");
}

TEST_F(Driver, WhoseCardHasNoCodeNamesBoth) {
  std::snprintf(mock.name, sizeof mock.name, "NVIDIA H200");
  mock.capability = 90;
  EXPECT_EQ(refusal(CAMEO_UNAVAILABLE),
            "GPU 0 (NVIDIA H200) has compute capability 9.0, and the library's code is for: host");
}

TEST_F(Driver, WithoutMemorySaysHowMuchThereIs) {
  mock.memory = 20;
  EXPECT_EQ(refusal(CAMEO_OUT_OF_MEMORY),
            "cannot allocate 64 bytes on GPU 0 (cameo emulator), which has 20 of 20 free");
}

TEST_F(Driver, IsNotTheCpus) {
  EXPECT_EQ(refusal(CAMEO_UNAVAILABLE, {CAMEO_CPU, 0}), "the library holds code for GPUs only, not for a CPU");
  EXPECT_EQ(refusal(CAMEO_UNAVAILABLE, {10, 0}),
            "device type 10 is not in this library, which runs on the CPU (1) and on GPUs (2)");
}

TEST_F(Driver, AutoFallsBackToTheCpuAndSaysWhy) {
  constexpr cameo_api api = rt::make_api<kBothLinear>();
  static std::string warnings;
  const auto device_of = [&](cameo_device device) {
    cameo_options options = rt::default_options();
    options.device = device;
    options.log = [](void*, int32_t level, const char* message) {
      if (level) warnings += message;
    };
    warnings.clear();
    Error error;
    cameo_model* model = nullptr;
    const int32_t status = api.model_create(&options, &model, &error);
    const int32_t type = status ? -status : model->options.device.device_type;
    api.model_release(model);
    return type;
  };
  EXPECT_EQ(device_of({CAMEO_AUTO, 0}), CAMEO_CUDA);
  EXPECT_EQ(device_of({CAMEO_CPU, 0}), CAMEO_CPU);
  EXPECT_EQ(warnings, "");
  mock.version = 11080;
  EXPECT_EQ(device_of({CAMEO_AUTO, 0}), CAMEO_CPU);
  EXPECT_EQ(
      warnings,
      "it runs on the CPU: NVIDIA's driver supports CUDA 11.8 and this library needs 12.0; install a newer driver");
  EXPECT_EQ(device_of({CAMEO_CUDA, 0}), -CAMEO_UNAVAILABLE);
}

// ---- code that the driver refuses
// --------------------------------------------------------------------------------------

/// `kGpuLinear` for a card of 8.9: an sm_89 that is none, and a library in the place of PTX.
struct Refused : Driver {
  static inline std::vector<rt::DeviceCode> codes;
  static inline std::string notes;
  static inline rt::Device device;
  static inline rt::Image image;
  static inline Program program;

  Refused() {
    std::snprintf(mock.name, sizeof mock.name, "NVIDIA L4");
    notes.clear();
  }
  static cameo_status run(std::vector<rt::DeviceCode> given, Error& error, std::vector<float>& y) {
    static constexpr cameo_api api = rt::make_api<program>();
    codes = std::move(given);
    device = *kGpuLinear.images[0].device;
    device.codes = codes.data();
    device.code_count = static_cast<uint32_t>(codes.size());
    image = kGpuLinear.images[0];
    image.device = &device;
    program = kGpuLinear;
    program.images = &image;
    cameo_options options = rt::default_options();
    options.log = [](void*, int32_t level, const char* message) { notes += level ? std::string(message) + "\n" : ""; };
    cameo_model* model = nullptr;
    cameo_context* context = nullptr;
    std::vector<float> x = {1, 2, 3, -1, 0, 1};
    std::vector<int64_t> x_dims = {2, 3}, y_dims = {2, 4};
    cameo_value in = value(x, x_dims), out[] = {value(y, y_dims), none()};
    cameo_status status = api.model_create(&options, &model, &error);
    if (!status) status = api.context_create(model, &context, &error);
    if (!status) status = api.run(context, &in, 1, out, 2, nullptr, &error);
    api.context_release(context);
    api.model_release(model);
    return status;
  }
  static rt::DeviceCode good(const char* architecture) {
    const rt::DeviceCode& host = kGpuLinear.images[0].device->codes[0];
    return {architecture, host.data, host.bytes};
  }
  static rt::DeviceCode bad(const char* architecture) { return {architecture, "\177NONE\0..", 8}; }
};

TEST_F(Refused, ACubinFallsBackToPtxAndSaysSo) {
  Error error;
  std::vector<float> y(8);
  EXPECT_EQ(run({bad("sm_89"), bad("sm_86"), good("ptx")}, error, y), CAMEO_OK) << error.message;
  EXPECT_EQ(y[0], 10.5f);
  EXPECT_EQ(notes,
            "it runs its code for `sm_86`, not that for `sm_89`: NVIDIA's driver does not take the code for `sm_89`: "
            "the mock takes x86-64 libraries\n"
            "it runs its code for `ptx`, not that for `sm_86`: NVIDIA's driver does not take the code for `sm_86`: the "
            "mock takes x86-64 libraries\n");
}

TEST_F(Refused, WithNothingElseItIsAnError) {
  Error error;
  std::vector<float> y(8);
  EXPECT_EQ(run({bad("sm_89"), bad("ptx")}, error, y), CAMEO_UNAVAILABLE);
  EXPECT_STREQ(error.message, "NVIDIA's driver does not take the code for `ptx`: the mock takes x86-64 libraries");
}

TEST_F(Refused, OtherFailuresAreNoReasonToTryAnother) {
  Error error;
  std::vector<float> y(8);
  std::snprintf(mock.fail, sizeof mock.fail, "cuModuleLoadDataEx");
  EXPECT_EQ(run({good("sm_89"), good("ptx")}, error, y), CAMEO_INTERNAL);
  EXPECT_EQ(notes, "");
}

// ---- no driver: in a process that never loaded the mock
// ---------------------------------------------------------------

bool is_loaded() { return dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD) != nullptr; }

TEST(NoDriver, IsOneSentenceAndTheCpuNeverLooks) {
  if (is_loaded()) {
    const std::string command = "/proc/" + std::to_string(getpid()) + "/exe --gtest_filter=NoDriver.* > /dev/null";
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
    return;
  }
  Session<kLinear> cpu;
  EXPECT_FALSE(is_loaded());
  constexpr cameo_api api = rt::make_api<kGpuLinear>();
  Error error;
  cameo_model* model = nullptr;
  const cameo_status status = api.model_create(nullptr, &model, &error);
  api.model_release(model);
  if (is_loaded()) GTEST_SKIP() << "this machine has a driver";
  EXPECT_EQ(status, CAMEO_UNAVAILABLE);
  EXPECT_STREQ(error.message,
               "there is no NVIDIA driver (`libcuda.so.1` cannot be loaded); running on a GPU needs one for CUDA 12.0 "
               "or newer");
}

// ---- every call fails once
// --------------------------------------------------------------------------------------------

/// A loop, timed, in a context of a model; then a state; then weights. What fails first.
cameo_status run_rows() {
  constexpr cameo_api loop = rt::make_api<kGpuLoop>(), step = rt::make_api<kGpuStep>(),
                      linear = rt::make_api<kGpuLinear>();
  cameo_model* models[3] = {};
  cameo_context* contexts[2] = {};
  std::vector<int64_t> trips = {2}, scalar, four = {4}, one = {1};
  std::vector<float> x = {1, 2, 3, 4}, limit = {1e9f}, y(4), past(1);
  cameo_value in[] = {value(trips, scalar), value(x, four), value(limit, scalar)};
  cameo_value out[] = {value(y, four), none(), none()}, state = none(), present = value(past, one);
  uint64_t ns = 0;
  cameo_status status = loop.model_create(nullptr, &models[0], nullptr);
  if (!status) status = loop.context_create(models[0], &contexts[0], nullptr);
  if (!status) status = loop.profile(contexts[0], &ns, 0, nullptr);
  if (!status) status = loop.run(contexts[0], in, 3, out, 3, nullptr, nullptr);
  EXPECT_TRUE(status || y == (std::vector<float>{13, 17, 21, 25}));
  if (!status) status = step.model_create(nullptr, &models[1], nullptr);
  if (!status) status = step.context_create(models[1], &contexts[1], nullptr);
  if (!status) status = step.bind_state(contexts[1], 0, 0, nullptr);
  if (!status) status = step.run(contexts[1], &state, 1, &present, 1, nullptr, nullptr);
  EXPECT_TRUE(status || past[0] == 1);
  if (!status) status = linear.model_create(nullptr, &models[2], nullptr);
  for (cameo_context* context : contexts) loop.context_release(context);
  for (cameo_model* model : models) loop.model_release(model);
  return status;
}

/// A graph with a copy; one with a state, waited for and not.
cameo_status run_graphs() {
  constexpr cameo_api chain = rt::make_api<kGraphChain>(), step = rt::make_api<kGraphStep>();
  cameo_model* models[2] = {};
  cameo_context* contexts[2] = {};
  std::vector<int64_t> one = {1};
  std::vector<float> past(1);
  cameo_value state = none(), present = value(past, one), unwanted = none();
  const cameo_run_options async = {sizeof async, 0, CAMEO_RUN_ASYNC, nullptr};
  cameo_status status = chain.model_create(nullptr, &models[0], nullptr);
  if (!status) status = chain.context_create(models[0], &contexts[0], nullptr);
  if (!status) status = step.model_create(nullptr, &models[1], nullptr);
  if (!status) status = step.context_create(models[1], &contexts[1], nullptr);
  if (!status) status = step.bind_state(contexts[1], 0, 0, nullptr);
  if (!status) status = step.run(contexts[1], &state, 1, &present, 1, nullptr, nullptr);
  EXPECT_TRUE(status || past[0] == 2);
  if (!status) status = step.run(contexts[1], &state, 1, &unwanted, 1, &async, nullptr);
  if (!status) status = step.synchronize(contexts[1], nullptr);
  for (cameo_context* context : contexts) step.context_release(context);
  for (cameo_model* model : models) step.model_release(model);
  return status;
}

/// A graph of other sizes with each run, whose memory grows.
cameo_status run_sized_graphs() {
  constexpr cameo_api api = rt::make_api<kGraphDecided>();
  cameo_model* model = nullptr;
  cameo_context* context = nullptr;
  std::vector<int64_t> shape = {2, 3}, two = {2}, scalar;
  std::vector<int32_t> number = {5};
  std::vector<unsigned char> flag = {1};
  cameo_value in[] = {value(shape, two), value(number, scalar), value(flag, scalar)}, out = owned();
  cameo_status status = api.model_create(nullptr, &model, nullptr);
  if (!status) status = api.context_create(model, &context, nullptr);
  for (int64_t rows : {2, 0, 7}) {
    shape[0] = rows;
    if (!status) status = api.run(context, in, 3, &out, 1, nullptr, nullptr);
    for (int64_t i = 0; i < 3 * rows && !status; ++i) EXPECT_EQ(static_cast<float*>(out.tensor.data)[i], 5);
    out = owned();
  }
  api.context_release(context);
  api.model_release(model);
  return status;
}

void fail_call(Mock& mock, const char* name, int32_t at) {
  mock = Mock();
  std::snprintf(mock.fail, sizeof mock.fail, "%s", name);
  mock.fail_at = at;
}

bool may_fail_unseen(const std::string& name) {  // nothing can be done about it, or it only helps to describe a failure
  for (const char* part : {"Free", "Destroy", "Unload", "Release", "Pop", "GetErrorString", "MemGetInfo"})
    if (name.find(part) != name.npos) return true;
  return false;
}

TEST_F(Driver, EveryEntryPointMayFail) {
#define CAMEO_ENTRY(entry, ...) #entry,
  for (const char* name : {CAMEO_CUDA_ENTRIES(CAMEO_ENTRY) "cuGetProcAddress"}) {
    SCOPED_TRACE(name);
    fail_call(mock, name, 1);
    cameo_status status = run_rows();
    if (!status) status = run_graphs();
    if (!status) status = run_sized_graphs();
    const bool called = mock.fail_at <= 0;
    EXPECT_EQ(mock.live, 0);
    EXPECT_TRUE(may_fail_unseen(name) || (called && status != CAMEO_OK)) << status;
  }
#undef CAMEO_ENTRY
  mock = Mock();
  EXPECT_EQ(run_rows(), CAMEO_OK);
  EXPECT_EQ(run_graphs(), CAMEO_OK);
  EXPECT_EQ(run_sized_graphs(), CAMEO_OK);
}

TEST_F(Driver, EveryCallMayFail) {
  for (cameo_status (*const work)() : {run_rows, run_graphs, run_sized_graphs}) {
    int32_t at = 1, failures = 0;
    for (bool fired = true; fired && at < 2000; ++at) {
      fail_call(mock, "*", at);
      failures += work() != CAMEO_OK;
      fired = mock.fail_at <= 0;
      ASSERT_EQ(mock.live, 0) << "call " << at;
    }
    EXPECT_GT(at, 60);
    EXPECT_LT(at, 2000);
    EXPECT_GT(failures, at * 2 / 3);
  }
}

TEST_F(Driver, AFailedRunLeavesTheContextUsable) {
  Session<kGpuLinear> s;
  std::vector<float> x = {1, 2, 3, -1, 0, 1}, y(8);
  std::vector<int64_t> x_dims = {2, 3}, y_dims = {2, 4};
  std::vector<cameo_value> out = {value(y, y_dims), none()};
  std::snprintf(mock.fail, sizeof mock.fail, "cuLaunchKernel");
  mock.fail_at = 2;
  EXPECT_EQ(s.run({value(x, x_dims)}, out), CAMEO_INTERNAL);
  EXPECT_STREQ(s.error.message, "NVIDIA's driver failed: cuLaunchKernel: injected (999)");
  EXPECT_EQ(s.run({value(x, x_dims)}, out), CAMEO_OK) << s.error.message;
  EXPECT_EQ(y[0], 10.5f);
}

}  // namespace
