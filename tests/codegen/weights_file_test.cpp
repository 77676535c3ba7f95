// What an artifact calls its file of weights, and what that file holds.
#include "codegen/weights_file.h"

#include <gtest/gtest.h>

#include <cstring>

#include "runtime/weights_file.h"

namespace cameo {
namespace {

namespace fs = std::filesystem;

std::string name_of(const fs::path& path, const fs::path& folder) { return weights_file({}, path, folder).name; }

TEST(WeightsFile, IsNamedAsItLeadsThereFromTheArtifact) {
  const fs::path here = fs::weakly_canonical(".");
  EXPECT_EQ(name_of("a.weights", ""), "a.weights");
  EXPECT_EQ(name_of("./out/a.weights", "out"), "a.weights");
  EXPECT_EQ(name_of("a.weights", "out/lib"), "../../a.weights");
  EXPECT_EQ(name_of("out/parts/a.weights", "out/"), "parts/a.weights");
  EXPECT_EQ(name_of(here / "out/a.weights", "out"), "a.weights") << "an absolute path into the artifact's folder";
  EXPECT_EQ(name_of("/models/a.weights", "out"), "/models/a.weights");
  EXPECT_TRUE(weights_file({}, "a.weights", "").is_beside());
  EXPECT_FALSE(weights_file({}, "a.weights", "out").is_beside());
  EXPECT_FALSE(weights_file({}, "/models/a.weights", "out").is_beside());
}

TEST(WeightsFile, BeginsWithOnePageOfHeader) {
  Module m;
  const float numbers[] = {1, 2, 3};
  m.weights.add(std::make_shared<const Tensor>(Tensor::of<float>(DType::f32, {3}, numbers)));
  const WeightsFile file = weights_file(m, "a.weights", "");
  const std::string page = weights_header(m, file);
  rt::WeightsHeader header;
  ASSERT_EQ(page.size(), rt::kPoolBegin);
  std::memcpy(&header, page.data(), sizeof header);
  EXPECT_EQ(std::string(header.magic, 8), "cameoWTS");
  EXPECT_EQ(header.bytes, static_cast<uint64_t>(m.weights.bytes));
  rt::PoolHash hash;
  std::string pool(header.bytes, '\0');
  std::memcpy(pool.data(), numbers, sizeof numbers);
  hash.add(pool.data(), pool.size());
  EXPECT_EQ(header.hash, hash.finish());
  EXPECT_EQ(file.hash, header.hash);
}

}  // namespace
}  // namespace cameo
