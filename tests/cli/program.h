// Runs programs as a user does, and keeps what they said; a folder of its own for each test.
#pragma once
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace cameo {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

struct Ended {
  int code = -1;   // of exit; -1: did not
  int signal = 0;  // that ended it
  std::string out, err;
  nlohmann::json json() const { return nlohmann::json::parse(out, nullptr, false); }
};

struct RunOptions {
  fs::path folder = ".";
  Words variables;  // NAME=VALUE, besides this process's
  int signal = 0;   // sent after `signal_ms`
  int signal_ms = 0;
  unsigned limit_seconds = 300;  // of processor time
};
Ended run_program(const std::string& program, const Words& arguments, const RunOptions& options = {});

/// A scratch folder, and a cache inside of it.
class CliTest : public testing::Test {
 protected:
  CliTest();
  ~CliTest() override;
  Ended cameo(const Words& arguments, RunOptions options = {});
  Ended run(const fs::path& program, const Words& arguments);  // in the folder
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string write(const std::string& name, const std::string& bytes);
  std::string read(const std::string& name) const;
  /// What lies in the folder, cache apart, sorted.
  Words files() const;
  /// Every file below the folder, cache apart, by its path, with its bytes.
  std::map<std::string, std::string> contents() const;

  fs::path folder_;
  const std::string digits_ = CAMEO_SOURCE_DIR "/models/digits.onnx";
  const std::string golden_ = CAMEO_SOURCE_DIR "/models/digits_golden";
};

/// Whether a shell finds the program.
bool is_there(const char* tool);
testing::AssertionResult has(const std::string& text, const std::string& part);

/// y = Relu(x * w + 1) with x f32[n x 3]; the nodes are `scale`, `shift` and `rectify`.
std::string small_model();

}  // namespace cameo
