// How jobs and results travel between processes: one message is its length and then the fields, one after the other, as
// each struct lists them in `fields(archive)`. Both ends are the same program, so there is no version and no byte
// order.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace cameo {

class WireWriter {
 public:
  template <typename... Fields>
  void operator()(const Fields&... fields) {
    (put(fields), ...);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  template <typename T>
  void put(const T& value) {
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    } else {
      const_cast<T&>(value).fields(*this);  // the same list serves reading, which does change them
    }
  }
  void put(const std::string& text) {
    put(text.size());
    bytes_ += text;
  }
  template <typename T>
  void put(const std::vector<T>& items) {
    put(items.size());
    for (const T& item : items) put(item);
  }

  std::string bytes_;
};

class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : rest_(bytes) {}

  template <typename... Fields>
  void operator()(Fields&... fields) {
    (get(fields), ...);
  }

 private:
  std::string_view take(size_t size) {
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(taken.size());
    return taken;
  }
  template <typename T>
  void get(T& value) {
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      const std::string_view taken = take(sizeof value);
      std::memcpy(&value, taken.data(), taken.size());
    } else {
      value.fields(*this);
    }
  }
  void get(std::string& text) {
    size_t size = 0;
    get(size);
    text = take(size);
  }
  template <typename T>
  void get(std::vector<T>& items) {
    size_t size = 0;
    get(size);
    items.clear();
    for (size_t i = 0; i < size; ++i) get(items.emplace_back());
  }

  std::string_view rest_;
};

// Over a socket, whole messages at a time. False and nothing when the other end is gone.
bool send_message(int socket, std::string_view bytes);
std::optional<std::string> receive_message(int socket);

}  // namespace cameo
