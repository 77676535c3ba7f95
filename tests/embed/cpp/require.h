// What the programs here ask of the library. What is not so ends one with a sentence.
#pragma once
#include <cameo/cameo.hpp>
#include <functional>
#include <stdexcept>
#include <string>

/// Allocates nothing where it is so.
inline void require(bool condition, const char* what) {
  if (!condition) throw std::runtime_error(std::string("not so: ") + what);
}

/// The call throws a cameo::Error with this code, whose message holds the sentence.
inline void require_refused(cameo_status code, const std::string& sentence, const std::function<void()>& call) {
  try {
    call();
  } catch (const cameo::Error& e) {
    if (e.code == code && std::string(e.what()).find(sentence) != std::string::npos) return;
    throw std::runtime_error("refused with " + std::to_string(e.code) + ": " + e.what());
  }
  throw std::runtime_error("was not refused: " + sentence);
}
inline void require_refused(const std::string& sentence, const std::function<void()>& call) {
  require_refused(CAMEO_INVALID_ARGUMENT, sentence, call);
}
