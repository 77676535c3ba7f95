// What the user sees: results on stdout (one JSON document with --json), all else on stderr, a progress line on a
// terminal only. Knows the times of the stages and the exit code that a diagnostic ends with.
#pragma once
#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/ir/diagnostic.h"

namespace cameo {

using Json = nlohmann::ordered_json;

enum Exit : int {
  kOk = 0,
  kBug = 1,
  kUsage = 2,
  kUnsupported = 3,
  kToolchain = 4,
  kAccuracy = 5,
  kBadData = 7,
  kDeviceMissing = 8,
  kMemory = 9,
};

/// Ends a verb with a sentence on stderr; `what()` is the sentence.
struct Failure : std::runtime_error {
  Failure(int exit_code, const std::string& message, std::string hint = {})
      : std::runtime_error(message), code(exit_code), help(std::move(hint)) {}
  int code;
  std::string help;
};

class Console {
 public:
  bool json = false, quiet = false;
  std::string verb;  // names the document: `cameo.VERB`

  void begin(std::string_view stage);  // ends the one before
  void end();
  void end_as(std::string_view stage);  // under another name: what it was is known only now
  bool progress(std::string_view stage, size_t done, size_t total);  // false: interrupted
  struct Stage {
    std::string name;
    double seconds;
  };
  const std::vector<Stage>& stages() const { return stages_; }
  Json stages_json() const;
  void print_stages();  // on stderr

  void print(std::string_view text);  // a result; with --json kept for the document
  /// All is written: `code`, or kUsage where stdout did not take it.
  int finish(int code);
  const std::string& kept() const { return kept_; }
  void note(std::string_view text);  // on stderr, unless quiet
  void report(const Diagnostics& diagnostics);
  void report(const Failure& failure);
  /// In a catch block: reports what was thrown, and gives the exit code that it ends with.
  int report_exception();
  /// The document of --json: `schema` and `version` first, what was reported last.
  void document(const Json& body, int exit_code);
  void owe_document() const;  // from here on an interrupt ends with one, too
  bool documented() const { return documented_; }

 private:
  void clear_line();
  std::string document_of(const Json& body, int exit_code) const;
  void write(std::string_view text);  // to stdout; `finish` tells of a failure
  void print_error(const std::string& text);

  std::vector<Stage> stages_;
  std::string stage_, kept_;
  std::chrono::steady_clock::time_point since_;
  bool line_ = false, documented_ = false, told_of_interrupt_ = false;
  int write_error_ = 0;  // errno
  Json reported_ = Json::array();
};

int exit_code_of(const Diagnostics& diagnostics);
std::string human_bytes(uint64_t bytes);
/// Quoted for a shell where it must be.
std::string shell_word(std::string_view word);

/// The known word that was most likely meant, or nothing.
std::string nearest(std::string_view word, const std::vector<std::string>& known);
/// "; did you mean `NAME`?" or a list of what there is.
std::string suggestion(std::string_view word, const std::vector<std::string>& known);

}  // namespace cameo
