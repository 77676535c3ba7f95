// `--precision=bf16`: what is built, how far it is off, how it is judged, and which nodes keep out of it.
#include "tests/cli/program.h"
#include "tests/frontend/import/onnx_writer.h"

namespace cameo {
namespace {

constexpr int kWide = 512;

/// y = Relu(x * w) * v: the products are called `hidden` and `y`.
std::string two_products(int rows = 9) {
  using namespace onnx_text;
  const auto weights = [](int64_t count, int64_t step) {
    std::vector<float> v(static_cast<size_t>(count));
    for (size_t i = 0; i < v.size(); ++i)
      v[i] = (static_cast<float>(i * static_cast<size_t>(step) % 1009) - 504) / 10007;
    return v;
  };
  GraphText g;
  g.inputs = {value("x", 1, {rows, kWide})};
  g.outputs = {value("y", 1, {rows, kWide})};
  g.initializers = {tensor<float>("w", 1, {kWide, kWide}, weights(kWide * kWide, 7)),
                    tensor<float>("v", 1, {kWide, kWide}, weights(kWide * kWide, 11))};
  g.nodes = {node("MatMul", {"x", "w"}, {"hidden"}), node("Relu", {"hidden"}, {"positive"}),
             node("MatMul", {"positive", "v"}, {"y"})};
  return model(g);
}

class Precision : public CliTest {
 protected:
  const std::string model_ = write("two.onnx", two_products());
  Ended build(const std::string& file, Words flags) {
    flags.insert(flags.begin(), {"build", model_, "-o", file});
    return cameo(flags);
  }
  int64_t size(const std::string& file) const { return static_cast<int64_t>(fs::file_size(path(file))); }
};

TEST_F(Precision, HalvesTheWeightsAndSaysHowFarItIsOff) {
  ASSERT_EQ(build("wide.so", {}).code, 0);
  const auto j = build("narrow.so", {"--precision=bf16", "--json"}).json();
  ASSERT_TRUE(j.is_object());
  EXPECT_NEAR(static_cast<double>(size("wide.so") - size("narrow.so")), 2 * 2 * kWide * kWide, 16384);
  EXPECT_GT(j["precision"]["largest_error"].get<double>(), 1e-4);
  EXPECT_LT(j["precision"]["largest_error"].get<double>(), 1.0 / 64);
  EXPECT_TRUE(has(build("narrow.so", {"--precision=bf16"}).out, "  precision bf16: largest error "));
  EXPECT_FALSE(build("wide.so", {"--precision=fp32", "--json"}).json().contains("precision"));
}

TEST_F(Precision, PartsOfF32TakeNoWeightsOfTheirOwn) {
  const std::string target = "--target=cpu:x86-64-v4-amx";
  const std::string tall = write("tall.onnx", two_products(72));
  ASSERT_EQ(cameo({"build", tall, "-o", "parts.so", target}).code, 0);
  ASSERT_EQ(cameo({"build", tall, "-o", "plain.so", target, "--mode=size"}).code, 0);
  EXPECT_NEAR(static_cast<double>(size("parts.so") - size("plain.so")), 0, 16384);
  EXPECT_TRUE(has(cameo({"explain", tall, "hidden", target}).out, "bf16x3 over 72x512"));
  EXPECT_TRUE(
      has(cameo({"explain", tall, "hidden", target, "--mode=size"}).out, "its code is larger than a plain sum's"));
}

TEST_F(Precision, KeepsTheProductsOfNodesThatAreNamed) {
  ASSERT_EQ(build("all.so", {"--precision=bf16"}).code, 0);
  ASSERT_EQ(build("one.so", {"--precision=bf16", "--keep-fp32=hidden"}).code, 0);
  EXPECT_NEAR(static_cast<double>(size("one.so") - size("all.so")), 2 * kWide * kWide, 16384);
  const auto both = build("none.so", {"--precision=bf16", "--keep-fp32=hidden,y", "--json"}).json();
  EXPECT_LT(both["precision"]["largest_error"].get<double>(), 1e-5);
  const auto explained = [&](const Words& flags) {
    Words words{"explain", model_, "hidden", "--target=cpu:x86-64-v4-bf16"};
    words.insert(words.end(), flags.begin(), flags.end());
    return cameo(words).out;
  };
  EXPECT_TRUE(has(explained({"--precision=bf16"}), "its operands are bf16, two products an instruction"));
  EXPECT_TRUE(has(explained({"--precision=bf16", "--keep-fp32=hidden"}), "its products stay f32"));
  const Ended e = build("a.so", {"--precision=bf16", "--keep-fp32=hiden"});
  EXPECT_EQ(e.code, 2);
  EXPECT_TRUE(has(e.err, "`--keep-fp32 hiden` names no node of the model"));
}

TEST_F(Precision, IsJudgedByWhatItsOwnRoundingMakes) {
  for (const char* target :
       {"x86-64-v2", "x86-64-v3", "x86-64-v4", "x86-64-v4-vnni", "x86-64-v4-bf16", "x86-64-v4-amx"}) {
    const Words flags{"--precision=bf16", "--golden=random:2", std::string("--target=cpu:") + target};
    ASSERT_EQ(build("a.so", flags).code, 0) << target;
    const Ended e = run(path("a.so"), {"test"});
    if (e.code == 8) continue;  // this processor lacks it, and that was said
    EXPECT_EQ(e.code, 0) << target << e.out << e.err;
  }
  EXPECT_EQ(cameo({"test", model_, "--precision=bf16"}).code, 0);
  ASSERT_EQ(build("wide.so", {"--golden=random:1"}).code, 0);
  const Ended wide = run(path("wide.so"), {"run", "-i", "x=rand:3", "-o", "y=@wide.npy"});
  ASSERT_EQ(wide.code, 0) << wide.err;
  ASSERT_EQ(build("narrow.so", {"--precision=bf16"}).code, 0);
  ASSERT_EQ(run(path("narrow.so"), {"run", "-i", "x=rand:3", "-o", "y=@narrow.npy"}).code, 0);
  EXPECT_NE(read("wide.npy"), read("narrow.npy")) << "they are kept apart";
}

TEST_F(Precision, IsTheSameForAnyNumberOfThreads) {
  ASSERT_EQ(build("a.so", {"--precision=bf16"}).code, 0);
  for (const char* threads : {"1", "2", "5"})
    ASSERT_EQ(
        run(path("a.so"), {"run", "-i", "x=rand:3", "--threads", threads, "-o", std::string("y=@y") + threads + ".npy"})
            .code,
        0);
  EXPECT_EQ(read("y1.npy"), read("y2.npy"));
  EXPECT_EQ(read("y1.npy"), read("y5.npy"));
}

TEST_F(Precision, IsNotMeasuredOfWeightsThatAreMadeUp) {
  const Ended e = build("a.so", {"--precision=bf16", "--weights=random:7"});
  EXPECT_EQ(e.code, 0) << e.err;
  EXPECT_TRUE(has(e.out, "  precision bf16: error not measured: the weights are made up\n"));
}

TEST_F(Precision, FlagsThatMakeNoSenseAreRefused) {
  EXPECT_TRUE(has(build("a.so", {"--precision=half"}).err, "--precision=fp32 (the default) or bf16"));
  EXPECT_EQ(build("a.so", {"--precision=half"}).code, 2);
  EXPECT_TRUE(has(build("a.so", {"--keep-fp32=y"}).err, "`--keep-fp32` needs `--precision=bf16`"));
  EXPECT_TRUE(has(build("a.so", {"--precision=bf16", "--target=cuda:ptx"}).err, "is for processors"));
}

}  // namespace
}  // namespace cameo
