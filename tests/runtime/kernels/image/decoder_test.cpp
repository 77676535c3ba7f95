// The decoders of pictures against what Pillow reads of the same files (tests/fuzz/corpus/pictures: NAME, NAME.ppm),
// and on files that are cut off or damaged. What reads or writes outside of its memory, sanitizers see.
#include "runtime/kernels/image/decoder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
const fs::path kPictures = fs::path(CAMEO_SOURCE_DIR) / "tests/fuzz/corpus/pictures";

using Pixels = std::vector<uint8_t>;

struct Decoded {
  std::string wrong;
  int64_t height = 0, width = 0;
  Pixels pixels;
};

Decoded decoded(const std::string& file, rt::PixelFormat format = rt::PixelFormat::kRgb) {
  constexpr int64_t kMost = 1 << 24;
  const std::vector<uint8_t> copy(file.begin(), file.end());  // nothing behind it
  const rt::Bytes bytes(copy.data(), static_cast<int64_t>(copy.size()));
  rt::PictureSize size;
  if (const rt::Wrong wrong = rt::declare_picture(bytes, &size)) return {wrong, 0, 0, {}};
  if (3 * size.height * size.width + size.room > kMost) return {"larger than a test takes", 0, 0, {}};
  std::vector<uint8_t> room(static_cast<size_t>(size.room));
  Decoded d{"", size.height, size.width, {}};
  d.pixels.resize(static_cast<size_t>(size.height * size.width * (format == rt::PixelFormat::kGrayscale ? 1 : 3)));
  const rt::Canvas canvas{d.pixels.data(), size.height, size.width, format};
  if (const rt::Wrong wrong = rt::decode_picture(bytes, canvas, {room.data(), size.room})) d.wrong = wrong;
  return d;
}

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
/// All files but those of what is expected.
std::vector<fs::path> pictures() {
  std::vector<fs::path> list;
  for (const auto& entry : fs::directory_iterator(kPictures))
    if (entry.path().extension() != ".ppm") list.push_back(entry.path());
  std::sort(list.begin(), list.end());
  return list;
}

TEST(Pictures, ArePixelForPixelWhatPillowReads) {
  ASSERT_GT(pictures().size(), 30u);
  for (const fs::path& path : pictures()) {
    const Decoded d = decoded(read(path));
    const std::string expected = read(path.string() + ".ppm");
    ASSERT_EQ(d.wrong, "") << path;
    ASSERT_EQ(expected.find("P6\n" + std::to_string(d.width) + " " + std::to_string(d.height) + "\n255\n"), 0u) << path;
    EXPECT_EQ(Pixels(expected.end() - std::ssize(d.pixels), expected.end()), d.pixels) << path;
  }
}

TEST(Pictures, StandInTheOrderThatIsAskedFor) {
  const std::string file = "P6 2 1 255 " + std::string("\x0a\x14\x1e\xff\xff\xff", 6);
  EXPECT_EQ(decoded(file).pixels, (Pixels{10, 20, 30, 255, 255, 255}));
  EXPECT_EQ(decoded(file, rt::PixelFormat::kBgr).pixels, (Pixels{30, 20, 10, 255, 255, 255}));
  EXPECT_EQ(decoded(file, rt::PixelFormat::kGrayscale).pixels, (Pixels{18, 255}));
}

TEST(Pictures, ThatAreCutOffAreRefused) {
  for (const fs::path& path : pictures()) {
    const std::string file = read(path);
    const Decoded whole = decoded(file);
    for (size_t bytes = 0; bytes < file.size(); bytes += 1 + bytes / 64) {
      const Decoded d = decoded(file.substr(0, bytes));
      EXPECT_TRUE(!d.wrong.empty() || d.pixels == whole.pixels) << path << ", " << bytes;
    }
    EXPECT_NE(decoded(file.substr(0, file.size() / 2)).wrong, "") << path;
  }
}

TEST(Pictures, ThatAreDamagedEndInASentenceOrInPixels) {
  std::mt19937 numbers(1);
  for (const fs::path& path : pictures()) {
    const std::string file = read(path);
    for (int round = 0; round < 300; ++round) {
      std::string damaged = file;
      for (uint32_t edits = 1 + numbers() % 4; edits > 0; --edits)
        damaged[numbers() % (numbers() % 2 ? damaged.size() : std::min<size_t>(damaged.size(), 200))] =
            static_cast<char>(numbers());
      const Decoded d = decoded(damaged, static_cast<rt::PixelFormat>(round % 3));
      EXPECT_TRUE(!d.wrong.empty() || d.height * d.width > 0) << path;
    }
  }
}

// 2^48 precincts, four components and 16,384 layers: 2^64 packets.
TEST(Pictures, OfMorePacketsThanBytesAreRefused) {
  const std::string side("\x01\0\0\0", 4), zero(4, '\0'), component("\x07\x01\x01", 3);
  std::string file("\xff\x4f\xff\x51\0\x32\0\0", 8);
  file += side + side + zero + zero + side + side + zero + zero + std::string("\0\x04", 2);
  file += component + component + component + component;
  file += std::string("\xff\x52\0\x0d\x01\0\x40\0\0\0\x04\x04\0\x01\0", 15);
  file += std::string("\xff\x5c\0\x04\x20\x40\xff\x90\0\x0a\0\0\0\0\0\0\0\x01\xff\x93\xff\xd9", 22);
  EXPECT_EQ(decoded(file).wrong, rt::kTruncatedPicture);
}

TEST(Pictures, ATiffWhoseBytesAreReversedIsRefused) {
  std::string file("II*\0\x08\0\0\0\x05\0", 10);
  for (const auto& [tag, value] : {std::pair('\0', '\1'), {'\1', '\1'}, {'\2', '\x08'}, {'\6', '\1'}, {'\n', '\2'}})
    file += {tag, 1, 3, 0, 1, 0, 0, 0, value, 0, 0, 0};
  EXPECT_EQ(decoded(file).wrong, "the data is a TIFF whose bytes begin with their lowest bit, which is not decoded");
}

TEST(Pictures, ThatAreNotDecodedSaySo) {
  EXPECT_EQ(decoded("GIF89a").wrong, "the data is a GIF, which ONNX does not have");
  EXPECT_EQ(decoded(std::string("RIFF\x20\0\0\0WEBPVP8L\x10\0\0\0", 20)).wrong,
            "the data is a lossless WebP, which is not decoded");
  EXPECT_EQ(decoded("").wrong, decoded("plain text").wrong);
  EXPECT_EQ(decoded("P5 70000 1 255 ").wrong.find("the data is a picture that is too large"), 0u);
  EXPECT_EQ(decoded("P5 0 1 255 ").wrong, "the data is a picture without pixels");
}

}  // namespace
