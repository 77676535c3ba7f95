// See buckets.h.
#include "cli/buckets.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "cli/console.h"
#include "optimizer/plan/bind_plan.h"

namespace cameo {
namespace {

constexpr size_t kMostBuckets = 32;

[[noreturn]] void fail_bucket(const std::string& flag, const std::string& why) {
  throw Failure(kUsage, fmt::format("`--bucket {}`: {}", printable(flag), why), "--bucket seq=16,64");
}

/// Every bucket so far with each of these sizes.
std::vector<DimBinding> combined(const std::vector<DimBinding>& buckets, const std::string& name,
                                 const std::vector<int64_t>& sizes) {
  std::vector<DimBinding> all;
  for (const DimBinding& bucket : buckets)
    for (int64_t size : sizes) {
      all.push_back(bucket);
      all.back()[name] = size;
    }
  return all;
}

std::vector<DimBinding> read_bucket(const std::string& flag) {
  std::vector<std::pair<std::string, std::vector<int64_t>>> sizes;
  for (size_t at = 0; at <= flag.size();) {
    const size_t end = std::min(flag.find(',', at), flag.size());
    std::string item = flag.substr(at, end - at);
    at = end + 1;
    if (const size_t equals = item.rfind('='); equals != item.npos) {
      const std::string name = item.substr(0, equals);
      const bool again = std::ranges::any_of(sizes, [&](const auto& s) { return s.first == name; });
      if (name.empty() || again) fail_bucket(flag, again ? "it names a dim twice" : "a dim's name is missing");
      sizes.push_back({name, {}});
      item = item.substr(equals + 1);
    }
    int64_t size = 0;
    const auto [stop, error] = std::from_chars(item.data(), item.data() + item.size(), size);
    if (sizes.empty() || error != std::errc() || stop != item.data() + item.size())
      fail_bucket(flag, fmt::format("`{}` is {}", printable(item), sizes.empty() ? "not NAME=N,N.." : "no size"));
    sizes.back().second.push_back(size);
  }
  std::vector<DimBinding> buckets(1);
  for (const auto& [name, list] : sizes) {
    if (list.size() * buckets.size() > kMostBuckets)
      fail_bucket(flag, fmt::format("a model gets {} plans of single sizes at most", kMostBuckets));
    buckets = combined(buckets, name, list);
  }
  return buckets;
}

}  // namespace

std::vector<DimBinding> read_buckets(const std::vector<std::string>& flags) {
  std::vector<DimBinding> buckets;
  for (const std::string& flag : flags)
    for (const DimBinding& bucket : read_bucket(flag)) {
      if (std::ranges::find(buckets, bucket) == buckets.end()) buckets.push_back(bucket);
      if (buckets.size() > kMostBuckets)
        fail_bucket(flag, fmt::format("with it there are more than {} plans of single sizes", kMostBuckets));
    }
  std::ranges::stable_sort(buckets, std::greater(), &DimBinding::size);
  return buckets;
}

void require_bucket(const Model& model, const DimBinding& bucket) {
  const std::vector<DimBinding> ends = ends_of_sizes(interface_of(model.graph));
  const std::string called = fmt::format("`--bucket {}`", to_string(bucket));
  for (const auto& [name, size] : bucket) {
    const auto low = ends.front().find(name);
    if (low == ends.front().end())
      throw CompileError(Code::E0502,
                         fmt::format("{}: no input has a dim `{}` that only a run knows", called, printable(name)),
                         fmt::format("--dim {} gives a dim a range", shell_word(name + "=1..512")));
    const Interval range{low->second, ends.back().at(name)};
    if (size < range.low || size > range.high)
      throw CompileError(Code::E0503, fmt::format("{}: {} is not within {}", called, size, range_text(range)));
  }
}

}  // namespace cameo
