// What building steps answer with: `Status` says whether something worked and if not why, in one clear sentence;
// `Outcome` adds the bytes that a job made. Nothing in this folder throws: LLVM's callbacks could not carry it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace cameo {

struct [[nodiscard]] Status {
  std::string message;  // empty: it worked

  bool ok() const { return message.empty(); }
};

struct [[nodiscard]] Outcome {
  bool ok = false;
  std::string bytes;         // the object, text or file asked for; empty where it went to an output path
  std::string message;       // warnings, or why it failed
  uint64_t nanoseconds = 0;  // spent on the job itself
  bool stop_worker = false;  // the process that did this must not do another

  static Outcome success(std::string bytes, std::string message = {}) {
    return {true, std::move(bytes), std::move(message)};
  }
  static Outcome failure(std::string message) { return {false, {}, std::move(message)}; }
};

}  // namespace cameo
