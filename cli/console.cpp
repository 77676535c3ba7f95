// See console.h.
#include "cli/console.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <new>

#include "cli/interrupt.h"
#include "runtime/program/file.h"
#include "runtime/program/text.h"

namespace cameo {
namespace {

bool on_terminal() {
  static const bool yes = ::isatty(2) && !(std::getenv("TERM") && std::string_view(std::getenv("TERM")) == "dumb");
  return yes;
}

bool coloured() {
  const char* no = std::getenv("NO_COLOR");
  return on_terminal() && !(no && *no);
}

/// The word before the first `[` or `:` in bold red or yellow.
std::string paint(const std::string& text) {
  if (!coloured()) return text;
  const size_t end = text.find(": ");
  const char* colour = text.starts_with("warning") ? "\x1b[1;33m" : "\x1b[1;31m";
  return end == std::string::npos ? text : fmt::format("{}{}\x1b[0m{}", colour, text.substr(0, end), text.substr(end));
}

Json to_json(const Diagnostic& d) {
  Json j{{"code", code_name(d.code)}, {"title", code_title(d.code)}, {"message", d.message}};
  j["severity"] = is_warning(d.code) ? "warning" : "error";
  if (!d.file.empty()) j["file"] = d.file;
  if (!d.node.empty()) j["node"] = d.node;
  if (!d.notes.empty()) j["notes"] = d.notes;
  if (!d.help.empty()) j["help"] = d.help;
  return j;
}

int exit_code_of(Code code) {
  const std::string_view name = code_name(code);
  const bool of_a_flag = name.starts_with("E05") || code == Code::E0701 || code == Code::E0702;
  if (of_a_flag || code == Code::E0602) return kUsage;
  return code == Code::E0601 || code == Code::E0603 ? kToolchain : kUnsupported;
}

/// What is no Failure and no problem of the model.
Failure failure_of(const std::exception& e) {
  if (const auto* on_disk = dynamic_cast<const std::filesystem::filesystem_error*>(&e))
    return {kUsage,
            fmt::format("cannot reach `{}`: {}", printable(on_disk->path1().string()), on_disk->code().message())};
  if (dynamic_cast<const std::bad_alloc*>(&e)) return {kMemory, "out of memory"};
  return {kBug, fmt::format("internal error: {}", e.what()), "this is a bug of cameo, not of your model"};
}

}  // namespace

void Console::begin(std::string_view stage) {
  end();
  stage_ = stage;
  since_ = std::chrono::steady_clock::now();
  progress(stage, 0, 0);
}

void Console::end() {
  if (stage_.empty()) return;
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - since_).count();
  const auto known = std::ranges::find(stages_, stage_, &Stage::name);
  if (known == stages_.end())
    stages_.push_back({stage_, seconds});
  else
    known->seconds += seconds;
  stage_.clear();
  clear_line();
}

void Console::end_as(std::string_view stage) {
  stage_ = stage;
  end();
}

bool Console::progress(std::string_view stage, size_t done, size_t total) {
  if (stage != stage_) begin(stage);
  if (interrupted()) return false;
  if (quiet || !on_terminal()) return true;
  std::string line;
  for (const Stage& s : stages_)
    if (s.seconds >= 0.1) line += fmt::format("{} {:.1f} s  ", s.name, s.seconds);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - since_).count();
  line += fmt::format("{}{} {:.1f} s", stage, total > 1 ? fmt::format(" {}/{}", done, total) : "", seconds);
  fmt::print(stderr, "\r\x1b[K{}", line.substr(0, 100));
  std::fflush(stderr);
  line_ = true;
  return true;
}

void Console::clear_line() {
  if (line_) fmt::print(stderr, "\r\x1b[K");
  line_ = false;
}

Json Console::stages_json() const {
  Json j = Json::object();
  for (const Stage& s : stages_) j[s.name + "_ns"] = static_cast<int64_t>(s.seconds * 1e9);
  return j;
}

void Console::print_stages() {
  clear_line();
  for (const Stage& s : stages_) fmt::print(stderr, "{:>10.3f} s  {}\n", s.seconds, s.name);
}

void Console::print(std::string_view text) {
  clear_line();
  if (json)
    kept_ += text;
  else
    write(text);
}

void Console::write(std::string_view text) {
  if (write_error_) return;
  if (!rt::program::write_all(STDOUT_FILENO, {text.data(), text.size()})) write_error_ = errno;
}

int Console::finish(int code) {
  if (!write_error_ || code != kOk) return code;
  report(Failure(kUsage, fmt::format("cannot write to stdout: {}", std::strerror(write_error_))));
  return kUsage;
}

void Console::note(std::string_view text) {
  clear_line();
  if (!quiet) fmt::print(stderr, "{}\n", text);
}

void Console::print_error(const std::string& text) {
  clear_line();
  fmt::print(stderr, "{}", paint(text));
}

void Console::report(const Diagnostics& diagnostics) {
  if (interrupted()) return;  // what failed then is no news
  for (const Diagnostic& d : diagnostics.all()) {
    reported_.push_back(to_json(d));
    if (!quiet || !is_warning(d.code)) print_error(to_string(d));
  }
}

void Console::report(const Failure& failure) {
  if (interrupted() && failure.code != kInterrupted) return;
  told_of_interrupt_ |= failure.code == kInterrupted;
  Json j{{"severity", "error"}, {"message", failure.what()}};
  if (!failure.help.empty()) j["help"] = failure.help;
  reported_.push_back(j);
  print_error(fmt::format("error: {}\n", failure.what()));
  if (!failure.help.empty()) fmt::print(stderr, "  help: {}\n", failure.help);
}

int Console::report_exception() {
  try {
    throw;
  } catch (const CompileError& e) {
    Diagnostics diagnostics;
    diagnostics.add(e.diagnostic);
    report(diagnostics);
    return exit_code_of(diagnostics);
  } catch (const Failure& failure) {
    report(failure);
    return failure.code;
  } catch (const std::exception& e) {
    const Failure failure = failure_of(e);
    report(failure);
    return failure.code;
  }
}

std::string Console::document_of(const Json& body, int exit_code) const {
  Json all{{"schema", "cameo." + (verb.empty() ? "error" : verb)}, {"version", 1}, {"exit_code", exit_code}};
  for (auto& [key, value] : body.items()) all[key] = value;
  all["diagnostics"] = reported_;
  if (exit_code == kInterrupted && !told_of_interrupt_)
    all["diagnostics"].push_back({{"severity", "error"}, {"message", "interrupted"}});
  return all.dump(-1, ' ', true, Json::error_handler_t::replace) + "\n";
}

void Console::document(const Json& body, int exit_code) {
  clear_line();
  ignore_interrupts();
  write(document_of(body, interrupted() ? kInterrupted : exit_code));
  documented_ = true;
}

void Console::owe_document() const {
  if (json) set_last_words(document_of({{"ok", false}}, kInterrupted));
}

int exit_code_of(const Diagnostics& diagnostics) {
  for (const Diagnostic& d : diagnostics.all())
    if (!is_warning(d.code)) return exit_code_of(d.code);
  return kOk;
}

std::string human_bytes(uint64_t bytes) {
  if (bytes < 10'000) return fmt::format("{} bytes", bytes);
  if (bytes < 10'000'000) return fmt::format("{:.1f} kB", static_cast<double>(bytes) / 1e3);
  if (bytes < 1'000'000'000) return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
  return fmt::format("{:.1f} GB", static_cast<double>(bytes) / 1e9);
}

std::string shell_word(std::string_view word) {
  const auto plain = [](unsigned char c) {
    return std::isalnum(c) || std::string_view("_-./:=,+@%").find(static_cast<char>(c)) != std::string_view::npos;
  };
  if (!word.empty() && std::ranges::all_of(word, plain)) return std::string(word);
  std::string quoted = "'";
  for (char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string nearest(std::string_view word, const std::vector<std::string>& known) {
  std::string best;
  rt::program::Nearest nearest({word.data(), word.size()});
  for (const std::string& name : known)
    if (nearest.takes({name.data(), name.size()})) best = name;
  return best;
}

std::string suggestion(std::string_view word, const std::vector<std::string>& known) {
  if (std::string near = nearest(word, known); !near.empty()) return fmt::format("; did you mean `{}`?", near);
  std::string list;
  constexpr size_t kMost = 30;
  for (size_t i = 0; i < std::min(known.size(), kMost); ++i)
    list += fmt::format("{}`{}`", i ? ", " : "", printable(known[i]));
  if (known.size() > kMost) list += ", ..";
  return known.empty() ? "; there are none" : "; there are " + list;
}

}  // namespace cameo
