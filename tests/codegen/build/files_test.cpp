// Output files appear whole or not at all, and say clearly why not.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "tests/codegen/build/build_helpers.h"

namespace cameo {
namespace {

class files : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string content(const std::string& path) const {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  size_t entries() const {
    return std::distance(std::filesystem::directory_iterator(folder_), std::filesystem::directory_iterator());
  }

  std::string folder_ = testing::TempDir() + "cameo_files." + std::to_string(getpid()) + "/";
};

TEST_F(files, appears_at_commit) {
  Status status;
  OutputFile file = OutputFile::create(folder_ + "out", true, status);
  ASSERT_TRUE(status.ok()) << status.message;
  ASSERT_TRUE(file.write(as_bytes("abc")).ok());
  EXPECT_EQ(entries(), 0u);
  ASSERT_TRUE(file.commit().ok());
  EXPECT_EQ(entries(), 1u);
  EXPECT_EQ(content(folder_ + "out"), "abc");
  struct stat info;
  stat((folder_ + "out").c_str(), &info);
  EXPECT_TRUE(info.st_mode & S_IXUSR);
}

TEST_F(files, replaces_the_old_one_only_when_done) {
  std::ofstream(folder_ + "out") << "old";
  Status status;
  {
    OutputFile given_up = OutputFile::create(folder_ + "out", false, status);
    ASSERT_TRUE(given_up.write(as_bytes("half")).ok());
  }
  EXPECT_EQ(content(folder_ + "out"), "old");
  OutputFile file = OutputFile::create(folder_ + "out", false, status);
  ASSERT_TRUE(file.write(as_bytes("new")).ok());
  ASSERT_TRUE(file.commit().ok());
  EXPECT_EQ(content(folder_ + "out"), "new");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(files, follows_links) {
  std::ofstream(folder_ + "real") << "old";
  std::filesystem::create_symlink("real", folder_ + "out");
  Status status;
  OutputFile file = OutputFile::create(folder_ + "out", false, status);
  ASSERT_TRUE(file.write(as_bytes("new")).ok());
  ASSERT_TRUE(file.commit().ok());
  EXPECT_EQ(content(folder_ + "real"), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder_ + "out"));
}

TEST_F(files, unwritable_places_are_named) {
  Status status;
  (void)OutputFile::create(folder_ + "none/out", false, status);
  EXPECT_EQ(status.message, "cannot write `" + folder_ + "none/out`: the folder `" + folder_ + "none` does not exist");
  (void)OutputFile::create(folder_, false, status);
  EXPECT_NE(status.message.find("a folder has that name"), std::string::npos) << status.message;
  (void)OutputFile::create("/proc/out", false, status);
  EXPECT_NE(status.message.find("cannot write `/proc/out`"), std::string::npos) << status.message;
  std::ofstream(folder_ + "file") << "x";
  (void)OutputFile::create(folder_ + "file/out", false, status);
  EXPECT_NE(status.message.find("Not a directory"), std::string::npos) << status.message;
  (void)OutputFile::create(folder_ + std::string(256, 'x'), false, status);
  EXPECT_NE(status.message.find("File name too long"), std::string::npos) << status.message;
}

TEST_F(files, hidden_names_are_names_of_one_file) {
  const std::string longest(255, 'x');
  EXPECT_LE(hidden_name(longest).size(), 255u);
  EXPECT_NE(hidden_name(longest), hidden_name(longest.substr(1)));
  EXPECT_TRUE(hidden_name("out").starts_with(".out.cameo-"));
}

TEST_F(files, devices_are_written_into) {
  Status status;
  OutputFile file = OutputFile::create("/dev/null", false, status);
  ASSERT_TRUE(status.ok()) << status.message;
  ASSERT_TRUE(file.write(as_bytes("abc")).ok());
  EXPECT_TRUE(file.commit().ok());
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST_F(files, full_device_is_named) {
  Status status;
  OutputFile file = OutputFile::create("/dev/full", false, status);
  ASSERT_TRUE(file.write(as_bytes("abc")).ok());
  EXPECT_EQ(file.commit().message, "cannot write `/dev/full`: No space left on device");
}

// A limit on the size of files stands for a full disk: the link says so and nothing remains.
TEST_F(files, link_into_a_full_disk) {
  const LinkInput object =
      compiled("big", "extern \"C\" __attribute__((visibility(\"default\"))) const char big[100000] = {1};");
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);  // inherited by the worker; writing then fails instead
    const rlimit limit = {150000, 150000};
    setrlimit(RLIMIT_FSIZE, &limit);
    Status status;
    OutputFile file = OutputFile::create(folder_ + "out.so", true, status);
    LinkJob job = link_shared({object, object}, "out.so", "", {"big"});
    job.inputs[1] =
        compiled("more", "extern \"C\" __attribute__((visibility(\"default\"))) const char more[100000] = {1};");
    job.exports.push_back("more");
    job.output_path = file.scratch_path();
    const Outcome outcome = run_one(job);
    const bool as_wanted =
        status.ok() && !outcome.ok && outcome.message == "cannot write the linked file: File too large";
    if (!as_wanted) std::fprintf(stderr, "got: %s\n", outcome.message.c_str());
    _exit(as_wanted ? 0 : 1);
  }
  int result = 0;
  waitpid(child, &result, 0);
  EXPECT_EQ(result, 0);
  EXPECT_EQ(entries(), 0u);
}

TEST_F(files, a_killed_build_leaves_nothing) {
  const pid_t child = fork();
  if (child == 0) {
    Status status;
    OutputFile file = OutputFile::create(folder_ + "out.so", true, status);
    (void)file.write(as_bytes("half"));
    raise(SIGKILL);
  }
  waitpid(child, nullptr, 0);
  EXPECT_EQ(entries(), 0u);
}

}  // namespace
}  // namespace cameo
