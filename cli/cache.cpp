// `cache`: what the cache holds and where, how much it may hold, and emptying it.
#include <fmt/format.h>

#include <charconv>

#include "cli/artifact_cache.h"
#include "cli/verbs.h"

namespace cameo {
namespace {

/// `500MB`, `1.5 GiB`, `0`.
uint64_t read_size(const std::string& text) {
  constexpr std::pair<std::string_view, double> kUnits[] = {
      {"", 1},      {"B", 1},        {"kB", 1e3},     {"KB", 1e3},     {"MB", 1e6},    {"GB", 1e9},
      {"TB", 1e12}, {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}};
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string_view unit(end, text.data() + text.size());
  unit.remove_prefix(std::min(unit.find_first_not_of(' '), unit.size()));
  for (const auto& [name, bytes] : kUnits)
    if (error == std::errc() && unit == name && number >= 0 && number * bytes < 0x1p60)
      return static_cast<uint64_t>(number * bytes);
  throw Failure(kUsage, fmt::format("`cache limit {}`: that is no size like 500MB or 2GB", printable(text)));
}

}  // namespace

int cache_verb(Console& console, const std::string& what, const std::string& size) {
  const ArtifactCache cache;
  if (!what.empty() && what != "limit" && what != "clean")
    throw Failure(kUsage, fmt::format("`cache` does no `{}`{}", printable(what), suggestion(what, {"limit", "clean"})),
                  "cameo cache --help");
  if ((what == "limit") == size.empty())
    throw Failure(
        kUsage,
        what == "limit" ? "`cache limit` needs a size" : fmt::format("`cache {}` takes no `{}`", what, printable(size)),
        "cameo cache limit 2GB");
  Status status = what.empty() ? Status() : cache.usable();
  if (what == "limit" && status.ok()) status = cache.set_limit(read_size(size));
  if (!status.ok()) throw Failure(kUsage, status.message);
  Json body{{"folder", cache.folder().string()}};
  if (what == "clean") {
    const ArtifactCache::Contents gone = cache.clean();
    console.print(fmt::format("removed {} artifacts, {}\n", gone.artifacts, human_bytes(gone.bytes)));
    body["removed"] = {{"artifacts", gone.artifacts}, {"bytes", gone.bytes}};
  }
  const ArtifactCache::Contents held = cache.contents();
  console.print(fmt::format("{}: {} artifacts, {} of at most {}\n", printable(cache.folder().string()), held.artifacts,
                            human_bytes(held.bytes), human_bytes(cache.limit())));
  body.update({{"artifacts", held.artifacts}, {"bytes", held.bytes}, {"limit_bytes", cache.limit()}});
  if (console.json) console.document(std::move(body), kOk);
  return kOk;
}

}  // namespace cameo
