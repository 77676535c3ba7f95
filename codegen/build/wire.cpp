// See wire.h.
#include "codegen/build/wire.h"

#include <sys/socket.h>

#include <cerrno>

namespace cameo {
namespace {

bool send_all(int socket, const char* data, size_t size) {
  while (size > 0) {
    const ssize_t sent = ::send(socket, data, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    data += sent;
    size -= sent;
  }
  return true;
}

bool receive_all(int socket, char* data, size_t size) {
  while (size > 0) {
    const ssize_t got = ::recv(socket, data, size, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    data += got;
    size -= got;
  }
  return true;
}

}  // namespace

bool send_message(int socket, std::string_view bytes) {
  const uint64_t size = bytes.size();
  return send_all(socket, reinterpret_cast<const char*>(&size), sizeof size) &&
         send_all(socket, bytes.data(), bytes.size());
}

std::optional<std::string> receive_message(int socket) {
  uint64_t size = 0;
  if (!receive_all(socket, reinterpret_cast<char*>(&size), sizeof size)) return {};
  std::string bytes(size, '\0');
  if (!receive_all(socket, bytes.data(), bytes.size())) return {};
  return bytes;
}

}  // namespace cameo
