// Weights in a file: what its header and its hash say, where it is found, how it is mapped, and what is said of one
// that does not fit.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "runtime/mapped_weights.h"
#include "tests/runtime/harness.h"

namespace {

namespace fs = std::filesystem;
using programs::kLinear;
using programs::kLinearWeights;

uint64_t hash_of(const std::string& text, size_t first = 0) {
  rt::PoolHash hash;
  hash.add(text.data(), first);
  hash.add(text.data() + first, text.size() - first);
  return hash.finish();
}

TEST(PoolHash, IsXxh64) {
  EXPECT_EQ(hash_of(""), 0xef46db3751d8e999u);
  EXPECT_EQ(hash_of("abc"), 0x44bc2cf5ad770999u);
  EXPECT_EQ(hash_of("xxhash"), 0x32dd38952c4bc720u);
  EXPECT_EQ(hash_of("Nobody inspects the spammish repetition"), 0xfbcea83c8a378bf1u);
}

TEST(PoolHash, PiecesAreAsTheWhole) {
  std::string text;
  for (int i = 0; i < 150; ++i) text += static_cast<char>(i * 37);
  for (size_t length : {1u, 31u, 32u, 33u, 64u, 100u, 150u})
    for (size_t first = 0; first <= length; ++first)
      EXPECT_EQ(hash_of(text.substr(0, length), first), hash_of(text.substr(0, length))) << length << " " << first;
}

const std::string kPool(reinterpret_cast<const char*>(kLinearWeights), sizeof kLinearWeights);
constexpr const char* kName = "no such folder/linear.weights";
rt::WeightsFile kFile = {kName, hash_of(kPool), &rt::weights_reader};

rt::Program in_a_file() {
  rt::Program program = kLinear;
  program.weights = nullptr;
  program.weights_file = &kFile;
  return program;
}
const rt::Program kOutside = in_a_file();

std::string header(uint64_t bytes = kPool.size(), uint64_t hash = hash_of(kPool)) {
  rt::WeightsHeader header;
  header.bytes = bytes;
  header.hash = hash;
  std::string page(rt::kPoolBegin, '\0');
  std::memcpy(page.data(), &header, sizeof header);
  return page;
}

std::string lines_with(const std::string& path) {
  std::ifstream maps("/proc/self/maps");
  std::string lines;
  for (std::string line; std::getline(maps, line);)
    if (line.find(path) != line.npos) lines += line + "\n";
  return lines;
}

class Weights : public testing::Test {
 protected:
  static constexpr cameo_api api = rt::make_api<kOutside>();

  Weights() {
    std::string pattern = (fs::temp_directory_path() / "weights_XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    path_ = (folder_ / "a.weights").string();
    options_.weights_path = path_.c_str();
  }
  ~Weights() override { fs::remove_all(folder_); }

  void write(const std::string& bytes) { std::ofstream(path_, std::ios::binary) << bytes; }
  cameo_status open() {
    cameo_model* model = nullptr;
    const cameo_status status = api.model_create(&options_, &model, &error_);
    api.model_release(model);
    return status;
  }
  testing::AssertionResult is_refused(const std::string& sentence) {
    const cameo_status status = open();
    if (status == CAMEO_DATA_LOSS && std::string(error_.message).find(sentence) != std::string::npos &&
        lines_with(path_).empty())
      return testing::AssertionSuccess();
    return testing::AssertionFailure() << status << ": " << error_.message << lines_with(path_);
  }

  fs::path folder_;
  std::string path_;
  cameo_options options_ = rt::default_options();
  Error error_;
};

TEST_F(Weights, OfAFileAreMappedAndShared) {
  write(header() + kPool);
  Counts counts;
  options_ = counting(counts);
  options_.weights_path = path_.c_str();
  options_.num_threads = 1;
  cameo_model* model = nullptr;
  ASSERT_EQ(api.model_create(&options_, &model, &error_), CAMEO_OK) << error_.message;
  EXPECT_NE(lines_with(path_).find(" r--s "), std::string::npos) << lines_with(path_);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(model->weights) % 64, 0u);
  EXPECT_EQ(counts.allocations, 1) << "the model, and no copy of its weights";
  api.model_release(model);
  EXPECT_EQ(lines_with(path_), "");
  EXPECT_TRUE(counts.live.empty());
  EXPECT_EQ(api.selftest(&options_, nullptr, nullptr, &error_), CAMEO_OK) << error_.message;
}

TEST_F(Weights, AreLookedForBesideTheLibrary) {
  options_.weights_path = nullptr;
  EXPECT_EQ(open(), CAMEO_DATA_LOSS);
  const std::string folder = fs::read_symlink("/proc/self/exe").parent_path().string();
  EXPECT_EQ(error_.message, "cannot open the weights `" + folder + "/" + kName +
                                "`: No such file or directory; put the file there, or name it in options.weights_path "
                                "(`--weights FILE`)");
  write(header() + kPool);
  kFile.name = path_.c_str();  // an absolute name
  EXPECT_EQ(open(), CAMEO_OK) << error_.message;
  kFile.name = kName;
}

TEST_F(Weights, OfAnotherKindOrBuildOrLengthAreRefused) {
  EXPECT_TRUE(is_refused("a.weights`: No such file or directory; put the file there"));
  write("some text");
  EXPECT_TRUE(is_refused("a.weights` is no file of weights that `cameo build --weights=file` wrote"));
  write(std::string(5000, 'x'));
  EXPECT_TRUE(is_refused("is no file of weights"));
  std::string later = header();
  later[8] = 9;
  write(later + kPool);
  EXPECT_TRUE(is_refused("is a file of weights of version 9, and this library reads 1"));
  write(header(kPool.size(), 7) + kPool);
  EXPECT_TRUE(is_refused("holds other weights (hash 0000000000000007) than this library was built with ("));
  write(header() + kPool.substr(1));
  EXPECT_TRUE(is_refused("has 4159 bytes and was written with 4160: it is damaged; copy it again"));
  write(header() + kPool + "x");
  EXPECT_TRUE(is_refused("has 4161 bytes and was written with 4160"));
  write(header(0));
  EXPECT_TRUE(is_refused("has 4096 bytes and was written with 4160"));
  fs::remove(path_);
  fs::create_directory(path_);
  EXPECT_TRUE(is_refused("is no file of weights"));
  const std::string long_path(5000, 'x');
  options_.weights_path = long_path.c_str();
  EXPECT_TRUE(is_refused("is too long"));
}

TEST_F(Weights, ThatTheHostReadsAreComparedToo) {
  options_.read_weights = [](void*, uint64_t offset, void* to, size_t bytes) {
    std::memcpy(to, kPool.data() + offset, bytes);
    return 0;
  };
  EXPECT_EQ(open(), CAMEO_OK) << error_.message << "; the path is not asked";
  options_.read_weights = [](void*, uint64_t, void* to, size_t bytes) { return std::memset(to, 1, bytes), 0; };
  EXPECT_TRUE(
      is_refused("what options.read_weights gave are other weights than this library was built with; in a file "
                 "of `--weights=file` they begin at byte 4096"));
}

TEST_F(Weights, OfACallerThatKnowsNoPathAreLookedForBesideTheLibrary) {
  write(header() + kPool);
  options_.struct_size = offsetof(cameo_options, weights_path);  // as before minor version 3
  EXPECT_TRUE(is_refused(kName));
}

TEST_F(Weights, AreVerifiedByReadingThem) {
  rt::MappedWeights file;
  std::string damaged = header() + kPool;
  damaged.back() ^= 1;
  write(damaged);
  ASSERT_EQ(rt::weights_reader.open(kOutside, path_.c_str(), &file, &error_), CAMEO_OK) << error_.message;
  EXPECT_FALSE(rt::weights_reader.are_right(kOutside, file.pool()));
  const int open_file = ::open(path_.c_str(), O_WRONLY);  // what is mapped is the file itself
  EXPECT_EQ(::pwrite(open_file, kPool.data(), kPool.size(), rt::kPoolBegin), static_cast<ssize_t>(kPool.size()));
  ::close(open_file);
  EXPECT_TRUE(rt::weights_reader.are_right(kOutside, file.pool()));
  rt::libc::munmap(file.memory, file.bytes);
}

}  // namespace
