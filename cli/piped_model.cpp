// See piped_model.h.
#include "cli/piped_model.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "cli/console.h"

namespace cameo {
namespace {

constexpr int64_t kLargestModel = int64_t{2} << 30;  // no protobuf file is larger

[[noreturn]] void cannot_read(const std::string& word) {
  throw Failure(kUnsupported, fmt::format("cannot read a model from `{}`: {}", printable(word), std::strerror(errno)));
}

void copy_all(int from, int to, const std::string& word) {
  std::array<char, 1 << 16> buffer;
  int64_t sum = 0;
  for (;;) {
    const ssize_t got = ::read(from, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) cannot_read(word);
    if (got == 0) return;
    sum += got;
    if (sum > kLargestModel)
      throw Failure(kUnsupported, fmt::format("`{}` gives more than 2 GiB, and no ONNX file is so large: its weights "
                                              "are external data, beside a file with a name",
                                              printable(word)));
    for (ssize_t at = 0; at < got;) {
      const ssize_t written = ::write(to, buffer.data() + at, static_cast<size_t>(got - at));
      if (written < 0 && errno != EINTR) cannot_read(word);
      at += std::max<ssize_t>(written, 0);
    }
  }
}

}  // namespace

ModelFile model_file(const std::string& word) {
  const bool standard = word == "-" || word == "/dev/stdin";
  struct stat status = {};
  if (!standard && (::stat(word.c_str(), &status) != 0 || !S_ISFIFO(status.st_mode))) return {word, word};
  const int from = standard ? STDIN_FILENO : ::open(word.c_str(), O_RDONLY | O_CLOEXEC);
  const int to = ::memfd_create("model", MFD_CLOEXEC);
  if (from < 0 || to < 0) cannot_read(word);
  copy_all(from, to, word);
  if (!standard) ::close(from);
  return {fmt::format("/proc/self/fd/{}", to), "model"};  // open until this program ends
}

}  // namespace cameo
