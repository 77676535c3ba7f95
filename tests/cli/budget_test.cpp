// What compiling may cost: seconds, bytes of memory over all processes, bytes of the artifact beyond its weights.
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "tests/cli/program.h"
#include "tests/frontend/import/onnx_writer.h"

namespace cameo {
namespace {

using Budget = CliTest;

/// A convolutional network on an image of `size` squared.
class Net {
 public:
  explicit Net(int size) { graph_.inputs = {onnx_text::value("image", 1, {1, 3, size, size})}; }

  void conv(int out, int kernel, int stride, bool relu = true) { value_ = add_conv(value_, out, kernel, stride, relu); }
  /// 1x1, 3x3, 1x1 around a shortcut.
  void bottleneck(int width, int stride) {
    const std::string from = value_;
    const int channels = channels_;
    conv(width, 1, 1);
    conv(width, 3, stride);
    conv(4 * width, 1, 1, false);
    channels_ = channels;
    const bool same = stride == 1 && channels == 4 * width;
    const std::string shortcut = same ? from : add_conv(from, 4 * width, 1, stride, false);
    channels_ = 4 * width;
    value_ = op("Relu", {op("Add", {value_, shortcut})});
  }
  void max_pool() {
    const std::vector<int64_t> three{3, 3}, two{2, 2}, pads{1, 1, 1, 1};
    value_ =
        op("MaxPool", {value_},
           {onnx_text::attr("kernel_shape", three), onnx_text::attr("strides", two), onnx_text::attr("pads", pads)});
  }
  std::string classify(int classes) {
    const std::string flat = op("Flatten", {op("GlobalAveragePool", {value_})});
    value_ = op("Gemm", {flat, weight({channels_, classes}), weight({classes})});
    graph_.outputs = {onnx_text::value(value_, 1, {1, classes})};
    return onnx_text::model(graph_);
  }
  int64_t weight_bytes() const { return weight_bytes_; }

 private:
  std::string add_conv(const std::string& from, int out, int kernel, int stride, bool relu) {
    const std::string w = weight({out, channels_, kernel, kernel}), b = weight({out});
    channels_ = out;
    const int64_t pad = kernel / 2;
    const std::vector<int64_t> strides{stride, stride}, pads{pad, pad, pad, pad};
    const std::string to =
        op("Conv", {from, w, b}, {onnx_text::attr("strides", strides), onnx_text::attr("pads", pads)});
    return relu ? op("Relu", {to}) : to;
  }
  std::string op(const char* type, const std::vector<std::string>& in, const std::vector<std::string>& attrs = {}) {
    const std::string out = "v" + std::to_string(graph_.nodes.size());
    graph_.nodes.push_back(onnx_text::node(type, in, {out}, attrs));
    return out;
  }
  std::string weight(const std::vector<int64_t>& dims) {
    int64_t count = 1;
    for (int64_t d : dims) count *= d;
    std::vector<float> values(static_cast<size_t>(count));
    for (float& v : values)
      v = static_cast<float>(static_cast<int32_t>(random_ = random_ * 1664525 + 1013904223)) * 1e-11f;
    weight_bytes_ += count * 4;
    const std::string name = "w" + std::to_string(graph_.initializers.size());
    graph_.initializers.push_back(onnx_text::tensor<float>(name, 1, dims, values));
    return name;
  }

  onnx_text::GraphText graph_;
  std::string value_ = "image";
  int channels_ = 3;
  uint32_t random_ = 1;
  int64_t weight_bytes_ = 0;
};

// ---- measuring ------------------------------------------------------------------------------------------------------

double processor_seconds_of_children() {
  rusage used{};
  ::getrusage(RUSAGE_CHILDREN, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}
/// By the clock, or by the processors where that is less: then the work stood in line behind other programs.
double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  const double before = processor_seconds_of_children();
  work();
  const double clock = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const double processors = processor_seconds_of_children() - before;
  std::printf("%.2f s by the clock, %.2f s of processors\n", clock, processors);
  return std::min(clock, processors);
}

/// Resident bytes of a process and all that it started; what they share counts for each.
int64_t resident_bytes(const std::string& process) {
  int64_t pages = 0, unused = 0;
  std::ifstream("/proc/" + process + "/statm") >> unused >> pages;
  int64_t total = pages * ::sysconf(_SC_PAGESIZE);
  std::error_code error;
  for (const auto& task : fs::directory_iterator("/proc/" + process + "/task", error)) {
    std::ifstream children(task.path() / "children");
    for (std::string child; children >> child;) total += resident_bytes(child);
  }
  return total;
}
int64_t peak_of_children(const std::function<void()>& work) {
  int64_t peak = 0;
  std::jthread sampler([&](std::stop_token stop) {
    while (!stop.stop_requested()) {
      int64_t own = 0, unused = 0;
      std::ifstream("/proc/self/statm") >> unused >> own;
      peak = std::max(peak, resident_bytes("self") - own * ::sysconf(_SC_PAGESIZE));
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  });
  work();
  sampler.request_stop();
  sampler.join();
  return peak;
}

// ---- budgets --------------------------------------------------------------------------------------------------------

TEST_F(Budget, AModelOf100KilobytesIn1500Milliseconds) {
  Net net(32);
  net.conv(16, 3, 2);
  net.conv(32, 3, 2);
  net.conv(64, 3, 2);
  const std::string bytes = net.classify(10);
  write("small.onnx", bytes);
  double best = 1e9;
  for (int i = 0; i < 5 && best >= 1; ++i)
    best = std::min(best, seconds_of([&] { EXPECT_EQ(cameo({"build", "small.onnx"}).code, 0); }));
  std::printf("%.1f kB: %.2f s\n", static_cast<double>(bytes.size()) / 1e3, best);
  EXPECT_GE(bytes.size(), 90'000u);
  EXPECT_LT(best, 1.5);
}

TEST_F(Budget, AResNet50In10SecondsAndThreeTimesItsWeights) {
  Net net(224);
  net.conv(64, 7, 2);
  net.max_pool();
  const int blocks[] = {3, 4, 6, 3};
  for (int stage = 0; stage < 4; ++stage)
    for (int i = 0; i < blocks[stage]; ++i) net.bottleneck(64 << stage, i == 0 && stage > 0 ? 2 : 1);
  write("resnet50.onnx", net.classify(1000));
  const int64_t weights = net.weight_bytes();
  EXPECT_GT(weights, 100'000'000);

  int64_t peak = 0;
  double best = 1e9;
  for (int i = 0; i < 3 && best >= 10; ++i)
    best = std::min(best, seconds_of([&] {
                      peak = std::max(peak,
                                      peak_of_children([&] { EXPECT_EQ(cameo({"build", "resnet50.onnx"}).code, 0); }));
                    }));
  const int64_t shipped = run(path("resnet50.so"), {"inspect", "--json"}).json()["weights_bytes"];
  const int64_t beyond = static_cast<int64_t>(fs::file_size(path("resnet50.so"))) - shipped;
  std::printf("%.1f MB of weights: %.1f s, peak %.0f MB, %.0f kB beyond the weights\n",
              static_cast<double>(weights) / 1e6, best, static_cast<double>(peak) / 1e6,
              static_cast<double>(beyond) / 1e3);
  EXPECT_LT(best, 10);
  EXPECT_GT(peak, weights) << "nothing was measured";
  EXPECT_LT(peak, 3 * weights + 1'000'000'000);
  EXPECT_LE(beyond, 400'000);
  EXPECT_LT(shipped, weights * 101 / 100);
  ASSERT_EQ(cameo({"build", "resnet50.onnx", "--mode=size"}).code, 0);
  EXPECT_LE(static_cast<int64_t>(fs::file_size(path("resnet50.so"))), weights + 400'000);
}

}  // namespace
}  // namespace cameo
