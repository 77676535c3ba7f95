// The entry points. What goes to a stream is done at the latest legal moment, when something waits for the stream, so
// that memory which is used again too early shows; memory is the device's or the host's, and a call that takes one for
// the other fails and says so.
#include "runtime/cuda/driver.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/call.h"
#include "tests/gpu/mock/kernels.h"
#include "tests/gpu/mock/memory.h"
#include "tests/gpu/mock/mock.h"

namespace cameo::test {
namespace {

enum : int32_t {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kInvalidContext = 201,
  kNoBinary = 209,
  kNotFound = 500,
  kLaunchFailed = 719,
  kInjected = 999
};

struct Stream {
  std::vector<std::function<int32_t()>> queue;
};
struct Event {
  uint64_t at = 0;
  void* stream = nullptr;  // on which it was recorded last
};
struct Module {
  void* library;
};
/// What a node does is copied when it is added or set: nothing of the caller's is kept.
struct Node {
  std::function<int32_t()> operation;
  std::vector<size_t> after;
  bool is_kernel;
  bool enabled = true;
};
struct Graph {
  std::vector<Node> nodes;
};
struct Executable {
  void* graph;
  std::vector<Node> nodes;
};

struct Driver {
  std::recursive_mutex mutex;
  Mock mock;
  Memory memory;
  std::set<void*> streams, events, modules, graphs, executables;
  std::vector<Kernel*> functions;
  std::string complaint;
  int32_t retained = 0;
  int32_t failed = 0;  // of what was queued; the primary context keeps it until its end
  uint64_t time = 0;   // an operation takes one microsecond
  char primary = 0;

  Driver();
  ~Driver();
};
Driver& driver() {
  static Driver d;
  return d;
}
thread_local std::vector<void*> current;

template <class T>
void from_environment(const char* name, T* value) {
  if (const char* text = std::getenv(name)) *value = static_cast<T>(std::strtoull(text, nullptr, 10));
}
void from_environment(const char* name, char (*value)[64]) {
  if (const char* text = std::getenv(name)) std::snprintf(*value, sizeof *value, "%s", text);
}

Driver::Driver() {
  from_environment("CAMEO_MOCK_FAIL", &mock.fail);
  from_environment("CAMEO_MOCK_VERSION", &mock.version);
  from_environment("CAMEO_MOCK_DEVICES", &mock.devices);
  from_environment("CAMEO_MOCK_CAPABILITY", &mock.capability);
  from_environment("CAMEO_MOCK_NAME", &mock.name);
  from_environment("CAMEO_MOCK_MEMORY", &mock.memory);
  if (char* colon = std::strchr(mock.fail, ':')) mock.fail_at = std::atoi(colon + 1), *colon = 0;
}

Driver::~Driver() {
  if (mock.live == 0) return;
  std::fprintf(stderr, "mock: %d things of the driver were not released\n", mock.live);
  std::fflush(nullptr);
  _exit(97);
}

int32_t complain(int32_t result, const std::string& text) {
  driver().complaint = text;
  return result;
}

// ---- streams
// ----------------------------------------------------------------------------------------------------------

int32_t drain(Stream& s) {
  std::vector<std::function<int32_t()>> queue;
  queue.swap(s.queue);
  for (const auto& operation : queue) {
    driver().time += 1000;
    if (!driver().failed) driver().failed = operation();
  }
  return driver().failed;
}

/// What the legacy default stream, null, waits for: it is in order with all others.
int32_t drain_all() {
  for (void* stream : driver().streams) drain(*static_cast<Stream*>(stream));
  return driver().failed;
}

int32_t enqueue(void* stream, std::function<int32_t()> operation) {
  Driver& d = driver();
  if (current.empty()) return kInvalidContext;
  if (!d.streams.contains(stream)) return complain(kInvalidValue, "no such stream");
  static_cast<Stream*>(stream)->queue.push_back(std::move(operation));
  return d.failed;
}

bool on_device(const void* memory, size_t bytes) { return driver().memory.holds(Memory::Kind::Device, memory, bytes); }

// A copy or a fill whose sides on the device and in pinned memory are known to be there when it is done.
int32_t enqueue_copy(void* stream, void* to, Memory::Kind to_kind, const void* from, Memory::Kind from_kind,
                     size_t bytes) {
  Driver& d = driver();
  ++d.mock.copies;
  if (!d.memory.holds(to_kind, to, bytes)) return complain(kInvalidValue, "a copy to memory of another kind");
  if (!d.memory.holds(from_kind, from, bytes)) return complain(kInvalidValue, "a copy from memory of another kind");
  return enqueue(stream, [=, &d] {
    if (!d.memory.holds(to_kind, to, bytes) || !d.memory.holds(from_kind, from, bytes))
      return complain(kInvalidValue, "memory of a queued copy was freed");
    std::memcpy(to, from, bytes);
    return 0;
  });
}

int32_t enqueue_fill(void* stream, void* to, uint32_t value, size_t width, size_t count) {
  if (!on_device(to, width * count)) return complain(kInvalidValue, "a fill of memory that is not the device's");
  return enqueue(stream, [=] {
    for (size_t i = 0; i < count; ++i) std::memcpy(static_cast<char*>(to) + i * width, &value, width);
    return 0;
  });
}

// ---- libraries and launches
// -------------------------------------------------------------------------------------------

// A size by value: what no address of this process is.
bool is_number(const void* parameter) {
  const auto value = reinterpret_cast<uintptr_t>(parameter);
  return value < uintptr_t{1} << 40 || value >= uintptr_t{1} << 47;
}

int32_t run_kernel(const Kernel& kernel, int blocks, const std::vector<void*>& parameters) {
  for (void* p : parameters)
    if (!is_number(p) && !on_device(p, 0))
      return complain(kLaunchFailed, "a kernel's parameter does not point into the device's memory");
  try {
    kernel.run(blocks, parameters);
  } catch (const std::exception& e) { return complain(kLaunchFailed, e.what()); }
  return 0;
}

std::function<int32_t()> launch_of(void* function, uint32_t blocks, void* const* extra) {
  void* const* values = static_cast<void* const*>(extra[1]);
  const size_t bytes = *static_cast<const size_t*>(extra[3]);
  return [blocks, kernel = *static_cast<Kernel*>(function), p = std::vector(values, values + bytes / 8)] {
    return run_kernel(kernel, static_cast<int>(blocks), p);
  };
}

bool is_plain(const rt::cuda::KernelNode& n) {
  const bool one_axis =
      n.grid_x && n.grid_y * n.grid_z == 1 && n.block_x == rt::kBlockThreads && n.block_y * n.block_z == 1;
  return one_axis && n.function && !n.shared_bytes && !n.parameters && n.extra;
}

bool is_plain(const rt::cuda::CopyNode& c) {
  rt::cuda::CopyNode plain;  // what a copy of `width` bytes within the device's memory says
  std::memset(&plain, 0, sizeof plain);
  plain.from.memory_type = plain.to.memory_type = 2;
  plain.from.device = c.from.device, plain.to.device = c.to.device;
  plain.width = c.width, plain.height = plain.depth = 1;
  return std::memcmp(&plain, &c, sizeof plain) == 0 && c.width && on_device(c.from.device, c.width) &&
         on_device(c.to.device, c.width);
}

std::function<int32_t()> copy_of(const rt::cuda::CopyNode& c) {
  return [to = c.to.device, from = c.from.device, bytes = c.width] {
    if (!on_device(to, bytes) || !on_device(from, bytes)) return complain(kInvalidValue, "memory of a copy was freed");
    std::memcpy(const_cast<void*>(to), from, bytes);
    return 0;
  };
}

// ---- graphs: a node's handle is its number and one
// -----------------------------------------------------------------

size_t number_of(void* node) { return reinterpret_cast<size_t>(node) - 1; }

int32_t add_node(void** node, void* graph, void* const* after, size_t count, bool is_kernel,
                 std::function<int32_t()> operation) {
  if (!driver().graphs.contains(graph)) return complain(kInvalidValue, "no such graph");
  std::vector<Node>& nodes = static_cast<Graph*>(graph)->nodes;
  Node fresh = {std::move(operation), {}, is_kernel};
  for (size_t i = 0; i < count; ++i) {
    if (number_of(after[i]) >= nodes.size()) return complain(kInvalidValue, "a node after one that there is not");
    fresh.after.push_back(number_of(after[i]));
  }
  nodes.push_back(std::move(fresh));
  return *node = reinterpret_cast<void*>(nodes.size()), kSuccess;
}

Node* node_of(void* executable, void* node) {
  if (!driver().executables.contains(executable)) return nullptr;
  Executable& e = *static_cast<Executable*>(executable);
  return driver().graphs.contains(e.graph) && number_of(node) < e.nodes.size() ? &e.nodes[number_of(node)] : nullptr;
}

/// Of all legal orders the one that is the farthest from that in which the nodes were added.
int32_t run_nodes(const std::vector<Node>& nodes) {
  std::vector<bool> done(nodes.size());
  const auto is_ready = [&](size_t i) {
    return !done[i] && std::ranges::all_of(nodes[i].after, [&](size_t before) { return done[before]; });
  };
  for (size_t left = nodes.size(); left; --left) {
    size_t i = nodes.size() - 1;
    while (!is_ready(i)) --i;
    done[i] = true;
    driver().time += 1000;
    if (const int32_t result = nodes[i].enabled ? nodes[i].operation() : 0) return result;
  }
  return kSuccess;
}

}  // namespace

// ---- the driver's functions: one for each row of CAMEO_CUDA_ENTRIES
// ---------------------------------------------------
namespace mock {

int32_t cuInit(uint32_t) { return driver().mock.devices ? kSuccess : kNoDevice; }
int32_t cuDriverGetVersion(int32_t* version) { return *version = driver().mock.version, kSuccess; }
int32_t cuGetErrorString(int32_t result, const char** text) {
  Driver& d = driver();
  *text = result == kInjected ? "injected" : d.complaint.empty() ? "mock error" : d.complaint.c_str();
  return kSuccess;
}
int32_t cuDeviceGetCount(int32_t* count) { return *count = driver().mock.devices, kSuccess; }
int32_t cuDeviceGet(int32_t* device, int32_t ordinal) {
  if (ordinal < 0 || ordinal >= driver().mock.devices) return kInvalidDevice;
  return *device = ordinal, kSuccess;
}
int32_t cuDeviceGetName(char* name, int32_t bytes, int32_t) {
  std::snprintf(name, static_cast<size_t>(bytes), "%s", driver().mock.name);
  return kSuccess;
}
int32_t cuDeviceGetAttribute(int32_t* value, int32_t attribute, int32_t) {
  if (attribute != 75 && attribute != 76) return kInvalidValue;
  *value = attribute == 75 ? driver().mock.capability / 10 : driver().mock.capability % 10;
  return kSuccess;
}
int32_t cuDevicePrimaryCtxRetain(void** context, int32_t) {
  Driver& d = driver();
  ++d.mock.live;
  if (!d.retained++) d.failed = 0, d.complaint.clear();
  return *context = &d.primary, kSuccess;
}
int32_t cuDevicePrimaryCtxRelease(int32_t) { return --driver().retained, --driver().mock.live, kSuccess; }
int32_t cuCtxPushCurrent(void* context) {
  if (context != &driver().primary) return kInvalidContext;
  return current.push_back(context), kSuccess;
}
int32_t cuCtxPopCurrent(void** context) {
  if (current.empty()) return kInvalidContext;
  *context = current.back();
  return current.pop_back(), kSuccess;
}

int32_t cuModuleLoadDataEx(void** module, const void* code, uint32_t options, const int32_t* names, void** values) {
  if (current.empty()) return kInvalidContext;
  void* library = load_library(code);
  for (uint32_t i = 0; !library && i < options; ++i)
    if (names[i] == 5) std::strcpy(static_cast<char*>(values[i]), "the mock takes x86-64 libraries");
  if (!library) return kNoBinary;
  *module = new Module{library};
  driver().modules.insert(*module);
  return ++driver().mock.live, kSuccess;
}
int32_t cuModuleUnload(void* module) {
  if (!driver().modules.erase(module)) return kInvalidValue;
  dlclose(static_cast<Module*>(module)->library);
  delete static_cast<Module*>(module);
  return --driver().mock.live, kSuccess;
}
int32_t cuModuleGetFunction(void** function, void* module, const char* name) {
  if (!driver().modules.contains(module)) return kInvalidValue;
  const Kernel kernel = find_kernel(static_cast<Module*>(module)->library, name);
  if (!kernel.entry) return complain(kNotFound, std::string("the library has no `") + name + "`");
  driver().functions.push_back(new Kernel(kernel));
  return *function = driver().functions.back(), kSuccess;
}

int32_t cuMemGetInfo(size_t* free, size_t* total) {
  const Mock& m = driver().mock;
  return *free = m.memory - m.used, *total = m.memory, kSuccess;
}
int32_t cuMemAlloc(void** memory, size_t bytes) {
  Driver& d = driver();
  if (current.empty()) return kInvalidContext;
  if (!bytes) return kInvalidValue;
  if (bytes > d.mock.memory - d.mock.used) return kOutOfMemory;
  d.mock.used += bytes;
  ++d.mock.live;
  return *memory = d.memory.take(Memory::Kind::Device, bytes), kSuccess;
}
int32_t cuMemFree(void* memory) {
  size_t bytes = 0;
  drain_all();  // as the driver's waits
  if (!driver().memory.give_back(Memory::Kind::Device, memory, &bytes))
    return complain(kInvalidValue, "no device memory");
  driver().mock.used -= bytes;
  return --driver().mock.live, kSuccess;
}
int32_t cuMemHostAlloc(void** memory, size_t bytes, uint32_t) {
  if (current.empty()) return kInvalidContext;
  ++driver().mock.live;
  return *memory = driver().memory.take(Memory::Kind::Pinned, bytes), kSuccess;
}
int32_t cuMemFreeHost(void* memory) {
  size_t bytes = 0;
  if (!driver().memory.give_back(Memory::Kind::Pinned, memory, &bytes))
    return complain(kInvalidValue, "no pinned memory");
  return --driver().mock.live, kSuccess;
}

int32_t cuMemcpyHtoD(void* to, const void* from, size_t bytes) {
  if (current.empty()) return kInvalidContext;
  if (!on_device(to, bytes) || on_device(from, 0)) return complain(kInvalidValue, "a copy to memory of another kind");
  std::memcpy(to, from, bytes);
  return kSuccess;
}
int32_t cuMemcpyHtoDAsync(void* to, const void* from, size_t bytes, void* stream) {
  return enqueue_copy(stream, to, Memory::Kind::Device, from, Memory::Kind::Pinned, bytes);
}
int32_t cuMemcpyDtoHAsync(void* to, const void* from, size_t bytes, void* stream) {
  if (driver().memory.holds(Memory::Kind::Pinned, to, bytes))
    return enqueue_copy(stream, to, Memory::Kind::Pinned, from, Memory::Kind::Device, bytes);
  if (!on_device(from, bytes) || on_device(to, 0)) return complain(kInvalidValue, "a copy from memory of another kind");
  // to pageable memory: it is there when the call returns
  if (!stream) return drain_all() ? driver().failed : (std::memcpy(to, from, bytes), kSuccess);
  const int32_t result = enqueue(stream, [=] { return std::memcpy(to, from, bytes), 0; });
  return result ? result : drain(*static_cast<Stream*>(stream));
}
// The driver sees where either address is.
int32_t cuMemcpyAsync(void* to, const void* from, size_t bytes, void* stream) {
  const auto kind_of = [&](const void* memory) {
    return on_device(memory, bytes) ? Memory::Kind::Device : Memory::Kind::Pinned;
  };
  return enqueue_copy(stream, to, kind_of(to), from, kind_of(from), bytes);
}
int32_t cuMemsetD8Async(void* to, uint8_t value, size_t count, void* stream) {
  return enqueue_fill(stream, to, value, 1, count);
}
int32_t cuMemsetD32Async(void* to, uint32_t value, size_t count, void* stream) {
  return enqueue_fill(stream, to, value, 4, count);
}

int32_t cuStreamCreate(void** stream, uint32_t) {
  if (current.empty()) return kInvalidContext;
  *stream = new Stream;
  driver().streams.insert(*stream);
  return ++driver().mock.live, kSuccess;
}
int32_t cuStreamSynchronize(void* stream) {
  if (current.empty()) return kInvalidContext;
  if (!stream) return drain_all();
  return driver().streams.contains(stream) ? drain(*static_cast<Stream*>(stream)) : kInvalidValue;
}
int32_t cuStreamDestroy(void* stream) {
  if (!driver().streams.contains(stream)) return kInvalidValue;
  drain(*static_cast<Stream*>(stream));
  driver().streams.erase(stream);
  delete static_cast<Stream*>(stream);
  return --driver().mock.live, kSuccess;
}
int32_t cuEventCreate(void** event, uint32_t) {
  if (current.empty()) return kInvalidContext;
  *event = new Event;
  driver().events.insert(*event);
  return ++driver().mock.live, kSuccess;
}
int32_t cuEventRecord(void* event, void* stream) {
  if (!driver().events.contains(event)) return kInvalidValue;
  static_cast<Event*>(event)->stream = stream;
  return enqueue(stream, [event] {
    if (driver().events.contains(event)) static_cast<Event*>(event)->at = driver().time;
    return 0;
  });
}
int32_t cuEventSynchronize(void* event) {
  if (!driver().events.contains(event)) return kInvalidValue;
  void* stream = static_cast<Event*>(event)->stream;
  return driver().streams.contains(stream) ? drain(*static_cast<Stream*>(stream)) : driver().failed;  // gone: drained
}
int32_t cuEventElapsedTime(float* milliseconds, void* begun, void* ended) {
  const uint64_t ns = static_cast<Event*>(ended)->at - static_cast<Event*>(begun)->at;
  return *milliseconds = static_cast<float>(ns) * 1e-6f, kSuccess;
}
int32_t cuEventDestroy(void* event) {
  if (!driver().events.erase(event)) return kInvalidValue;
  delete static_cast<Event*>(event);
  return --driver().mock.live, kSuccess;
}

int32_t cuLaunchKernel(void* function, uint32_t grid_x, uint32_t grid_y, uint32_t grid_z, uint32_t block_x,
                       uint32_t block_y, uint32_t block_z, uint32_t shared_bytes, void* stream, void** parameters,
                       void** extra) {
  if (!is_plain({function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, parameters, extra, {}, {}}))
    return complain(kInvalidValue, "the mock launches grids of one axis, with a buffer of parameters");
  ++driver().mock.launches;
  return enqueue(stream, launch_of(function, grid_x, extra));
}

int32_t cuGraphCreate(void** graph, uint32_t flags) {
  if (flags) return kInvalidValue;
  *graph = new Graph;
  driver().graphs.insert(*graph);
  return ++driver().mock.live, kSuccess;
}
int32_t cuGraphAddKernelNode(void** node, void* graph, void* const* after, size_t count,
                             const rt::cuda::KernelNode* n) {
  if (!is_plain(*n)) return complain(kInvalidValue, "the mock takes nodes of one axis, with a buffer of parameters");
  return add_node(node, graph, after, count, true, launch_of(n->function, n->grid_x, n->extra));
}
int32_t cuGraphAddMemcpyNode(void** node, void* graph, void* const* after, size_t count, const rt::cuda::CopyNode* c,
                             void* context) {
  if (context != &driver().primary) return kInvalidContext;
  if (!is_plain(*c)) return complain(kInvalidValue, "the mock's graphs copy bytes within the device's memory");
  return add_node(node, graph, after, count, false, copy_of(*c));
}
int32_t cuGraphInstantiateWithFlags(void** executable, void* graph, uint64_t flags) {
  if (current.empty()) return kInvalidContext;
  if (flags || !driver().graphs.contains(graph)) return kInvalidValue;
  *executable = new Executable{graph, static_cast<Graph*>(graph)->nodes};
  driver().executables.insert(*executable);
  return ++driver().mock.live, kSuccess;
}
int32_t cuGraphUpload(void* executable, void* stream) {
  if (!driver().executables.contains(executable)) return kInvalidValue;
  return enqueue(stream, [] { return 0; });
}
// Launches that are queued keep what was set before.
int32_t cuGraphExecKernelNodeSetParams(void* executable, void* node, const rt::cuda::KernelNode* n) {
  Node* of = node_of(executable, node);
  if (!of || !of->is_kernel || !is_plain(*n)) return complain(kInvalidValue, "no kernel's node");
  return of->operation = launch_of(n->function, n->grid_x, n->extra), kSuccess;
}
int32_t cuGraphExecMemcpyNodeSetParams(void* executable, void* node, const rt::cuda::CopyNode* c, void* context) {
  Node* of = node_of(executable, node);
  if (context != &driver().primary) return kInvalidContext;
  if (!of || of->is_kernel || !is_plain(*c)) return complain(kInvalidValue, "no copy's node");
  return of->operation = copy_of(*c), kSuccess;
}
int32_t cuGraphNodeSetEnabled(void* executable, void* node, uint32_t enabled) {
  Node* of = node_of(executable, node);
  if (!of || enabled > 1) return complain(kInvalidValue, "no node");
  return of->enabled = enabled, kSuccess;
}
int32_t cuGraphLaunch(void* executable, void* stream) {
  if (!driver().executables.contains(executable)) return kInvalidValue;
  ++driver().mock.graph_launches;
  return enqueue(stream, [nodes = static_cast<Executable*>(executable)->nodes] { return run_nodes(nodes); });
}
int32_t cuGraphExecDestroy(void* executable) {
  if (!driver().executables.erase(executable)) return kInvalidValue;
  delete static_cast<Executable*>(executable);
  return --driver().mock.live, kSuccess;
}
int32_t cuGraphDestroy(void* graph) {
  if (!driver().graphs.erase(graph)) return kInvalidValue;
  delete static_cast<Graph*>(graph);
  return --driver().mock.live, kSuccess;
}

}  // namespace mock

// ---- failures on order
// ------------------------------------------------------------------------------------------------
namespace {

bool is_release(std::string_view name) {
  for (const char* part : {"Free", "Destroy", "Unload", "Release", "Pop"})
    if (name.find(part) != name.npos) return true;
  return false;
}

bool is_to_fail(std::string_view name) {
  Mock& m = driver().mock;
  return m.fail[0] && (name == m.fail || std::string_view(m.fail) == "*") && --m.fail_at == 0;
}

template <auto kBody>
struct Wrapped;
template <class... P, int32_t (*kBody)(P...)>
struct Wrapped<kBody> {
  static inline const char* name = "";
  static int32_t call(P... p) {
    Driver& d = driver();
    const std::lock_guard lock(d.mutex);
    ++d.mock.calls;
    const bool fails = is_to_fail(name);
    d.memory.open();
    const int32_t result = fails && !is_release(name) ? 0 : kBody(p...);
    d.memory.close();
    return fails ? kInjected : result;
  }
};

void* entry_of(std::string_view name) {
#define MOCK_ENTRY(entry, ...)                                  \
  if (name == #entry) {                                         \
    Wrapped<mock::entry>::name = #entry;                        \
    return reinterpret_cast<void*>(Wrapped<mock::entry>::call); \
  }
  CAMEO_CUDA_ENTRIES(MOCK_ENTRY)
#undef MOCK_ENTRY
  return nullptr;
}

}  // namespace
}  // namespace cameo::test

extern "C" {
__attribute__((visibility("default"))) cameo::test::Mock* cameo_mock() { return &cameo::test::driver().mock; }
__attribute__((visibility("default"))) int32_t cuDriverGetVersion(int32_t* version) {
  cameo::test::entry_of("cuDriverGetVersion");
  return cameo::test::Wrapped<cameo::test::mock::cuDriverGetVersion>::call(version);
}
__attribute__((visibility("default"))) int32_t cuGetProcAddress_v2(const char* name, void** entry, int32_t, uint64_t,
                                                                   int32_t*) {
  if (cameo::test::is_to_fail("cuGetProcAddress")) return cameo::test::kInjected;
  *entry = cameo::test::entry_of(name);
  return *entry ? cameo::test::kSuccess : cameo::test::kNotFound;
}
}
