// See program.h.
#include "tests/cli/program.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <sstream>

#include "tests/frontend/import/onnx_writer.h"
#include "tests/support/time_limit.h"

namespace cameo {
namespace {

using Clock = std::chrono::steady_clock;

void start(const std::string& program, const Words& arguments, const RunOptions& options, int out, int err) {
  ::dup2(out, 1);
  ::dup2(err, 2);
  const int null = ::open("/dev/null", O_RDONLY);
  ::dup2(null, 0);
  for (const std::string& v : options.variables) ::putenv(const_cast<char*>(v.c_str()));
  if (::chdir(options.folder.c_str()) != 0) ::_exit(126);
  std::vector<char*> argv{const_cast<char*>(program.c_str())};
  for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  test::limit_time(options.limit_seconds);
  ::execvp(program.c_str(), argv.data());
  ::_exit(127);
}

bool drain(int pipe, std::string& into) {
  char buffer[1 << 16];
  const ssize_t got = ::read(pipe, buffer, sizeof buffer);
  if (got > 0) into.append(buffer, static_cast<size_t>(got));
  return got > 0;
}

}  // namespace

Ended run_program(const std::string& program, const Words& arguments, const RunOptions& options) {
  int out[2], err[2], status = 0;
  Ended ended;
  if (::pipe2(out, O_CLOEXEC) != 0 || ::pipe2(err, O_CLOEXEC) != 0) return ended;
  const pid_t child = ::fork();
  if (child == 0) start(program, arguments, options, out[1], err[1]);
  ::close(out[1]);
  ::close(err[1]);
  const auto began = Clock::now();
  pollfd pipes[2] = {{out[0], POLLIN, 0}, {err[0], POLLIN, 0}};
  bool signalled = false;
  while (pipes[0].fd >= 0 || pipes[1].fd >= 0) {
    ::poll(pipes, 2, 10);
    const auto elapsed = Clock::now() - began;
    if (options.signal && !signalled && elapsed >= std::chrono::milliseconds(options.signal_ms)) {
      ::kill(child, options.signal);
      signalled = true;
    }
    if (pipes[0].revents && !drain(out[0], ended.out)) pipes[0].fd = -1;
    if (pipes[1].revents && !drain(err[0], ended.err)) pipes[1].fd = -1;
  }
  ::close(out[0]);
  ::close(err[0]);
  ::waitpid(child, &status, 0);
  if (WIFEXITED(status)) ended.code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) ended.signal = WTERMSIG(status);
  return ended;
}

CliTest::CliTest() {
  std::string pattern = (fs::temp_directory_path() / "cameo_cli_XXXXXX").string();
  folder_ = ::mkdtemp(pattern.data());
}
CliTest::~CliTest() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

Ended CliTest::cameo(const Words& arguments, RunOptions options) {
  options.folder = folder_;
  options.variables.push_back("XDG_CACHE_HOME=" + (folder_ / "cache").string());
  return run_program(CAMEO_PROGRAM, arguments, options);
}
Ended CliTest::run(const fs::path& program, const Words& arguments) {
  RunOptions options;
  options.folder = folder_;
  return run_program(program.string(), arguments, options);
}

std::string CliTest::write(const std::string& name, const std::string& bytes) {
  fs::create_directories((folder_ / name).parent_path());
  std::ofstream(folder_ / name, std::ios::binary) << bytes;
  return path(name);
}
std::string CliTest::read(const std::string& name) const {
  std::ostringstream text;
  text << std::ifstream(folder_ / name, std::ios::binary).rdbuf();
  return text.str();
}
Words CliTest::files() const {
  Words names;
  for (const auto& e : fs::directory_iterator(folder_))
    if (e.path().filename() != "cache") names.push_back(e.path().filename());
  std::ranges::sort(names);
  return names;
}
std::map<std::string, std::string> CliTest::contents() const {
  std::map<std::string, std::string> bytes;
  for (const std::string& name : files()) {
    if (fs::is_regular_file(folder_ / name)) bytes[name] = read(name);
    if (!fs::is_directory(folder_ / name)) continue;
    bytes[name] = "";
    for (const auto& e : fs::recursive_directory_iterator(folder_ / name))
      if (e.is_regular_file()) bytes[fs::relative(e.path(), folder_)] = read(fs::relative(e.path(), folder_));
  }
  return bytes;
}

bool is_there(const char* tool) {
  return std::system((std::string("command -v ") + tool + " >/dev/null").c_str()) == 0;
}

testing::AssertionResult has(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "no `" << part << "` in:\n" << text;
}

std::string small_model() {
  using namespace onnx_text;
  GraphText g;
  g.inputs = {value("x", 1, {"n", 3})};
  g.outputs = {value("y", 1, {"n", 3})};
  g.initializers = {tensor<float>("w", 1, {3}, {1, -2, 3}), tensor<float>("one", 1, {}, {1})};
  g.nodes = {node("Mul", {"x", "w"}, {"scaled"}, {}, "", "scale"),
             node("Add", {"scaled", "one"}, {"shifted"}, {}, "", "shift"),
             node("Relu", {"shifted"}, {"y"}, {}, "", "rectify")};
  return model(g);
}

}  // namespace cameo
