// The demo's files: the picture that is shown (text) and the one that is run (PNG) are the same digit, and all fit the
// model.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_PNG
#include <stb/stb_image.h>

namespace {

const std::string kModels = std::string(CAMEO_SOURCE_DIR) + "/models/";

struct Picture {
  int width = 0, height = 0;
  std::vector<int> pixels;
  bool operator==(const Picture&) const = default;
};

Picture read_png(const std::string& path) {
  Picture picture;
  int channels = 0;
  unsigned char* data = stbi_load(path.c_str(), &picture.width, &picture.height, &channels, 0);
  EXPECT_TRUE(data) << path;
  EXPECT_EQ(channels, 1);
  if (data) picture.pixels.assign(data, data + picture.width * picture.height);
  stbi_image_free(data);
  return picture;
}

Picture read_text_pgm(const std::string& path) {
  std::ifstream file(path);
  std::string magic;
  int white = 0, pixel = 0;
  Picture picture;
  file >> magic >> picture.width >> picture.height >> white;
  EXPECT_EQ(magic, "P2") << path;
  EXPECT_EQ(white, 255);
  while (file >> pixel) picture.pixels.push_back(pixel);
  return picture;
}

TEST(Digit, ShownPictureIsTheOneThatRuns) {
  const Picture png = read_png(kModels + "digit.png");
  EXPECT_EQ(png.width, 8);
  EXPECT_EQ(png.height, 8);
  EXPECT_EQ(png, read_text_pgm(kModels + "digit.pgm"));
}

TEST(Digit, GoldenInputHoldsThePicture) {
  const Picture png = read_png(kModels + "digit.png");
  std::ifstream file(kModels + "digits_golden/test_data_set_0/input_0.pb", std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::string floats;
  for (int pixel : png.pixels) {
    const float value = static_cast<float>(pixel) / 255;
    floats.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  EXPECT_NE(bytes.find(floats), std::string::npos) << "input_0.pb is not digit.png divided by 255";
}

TEST(Digit, ModelIsSmall) { EXPECT_LT(std::filesystem::file_size(kModels + "digits.onnx"), 200'000u); }

TEST(Digit, OneLabelAClass) {
  std::ifstream file(kModels + "digits_labels.txt");
  std::vector<std::string> labels;
  for (std::string line; std::getline(file, line);) labels.push_back(line);
  EXPECT_EQ(labels.size(), 10u);
  EXPECT_EQ(labels.at(3), "three");
}

}  // namespace
