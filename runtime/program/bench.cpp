// `bench`: load, first run, warm-up and steady state apart; a percentile only where the samples carry it. `profile`:
// the time of each step, and how near it comes to what the machine can do.
#include "runtime/execute.h"
#include "runtime/libc.h"
#include "runtime/program/dims.h"
#include "runtime/program/peak.h"
#include "runtime/program/session.h"
#include "runtime/program/verbs.h"

namespace rt::program {
namespace {

constexpr uint64_t kMostSamples = 1000000, kLeastSamples = 3;

struct Series {
  uint64_t* samples;  // in the order of the runs
  uint64_t* sorted;
  uint64_t count;
  uint64_t first_ns, warmup_runs;
  uint64_t all_runs, all_ns;  // of all contexts while runs were timed, and how long that took
};

struct Work {  // of one run
  uint64_t flops = 0, bytes = 0;
};

// Of less than 2^63: shorter code than for all numbers.
double real(uint64_t n) { return static_cast<double>(static_cast<int64_t>(n)); }

void sort(uint64_t* values, uint64_t count) {  // heap sort: no recursion, no library
  const auto sift = [&](uint64_t root, uint64_t end) {
    for (uint64_t child; (child = 2 * root + 1) < end; root = child) {
      if (child + 1 < end && values[child] < values[child + 1]) ++child;
      if (values[root] >= values[child]) return;
      const uint64_t value = values[root];
      values[root] = values[child];
      values[child] = value;
    }
  };
  for (uint64_t i = count / 2; i-- > 0;) sift(i, count);
  for (uint64_t end = count; end-- > 1;) {
    const uint64_t value = values[0];
    values[0] = values[end];
    values[end] = value;
    sift(0, end);
  }
}

// With n samples the largest one is above the q-quantile with 95% confidence where q^n <= 0.05: 299 samples for P99,
// 2,995 for P99.9. The median claims nothing about a tail: any sample carries it.
bool carries(uint64_t count, double q) {
  double power = q > 0.5 ? 1 : 0;
  for (uint64_t i = 0; i < count && power > 0.05; ++i) power *= q;
  return power <= 0.05;
}

double percentile(const Series& s, double q) {  // NaN (null in JSON) without enough samples
  if (!carries(s.count, q)) return __builtin_nan("");
  const uint64_t index = static_cast<uint64_t>(q * real(s.count));
  return real(s.sorted[index < s.count ? index : s.count - 1]);
}

double mean(const Series& s) {
  double sum = 0;
  for (uint64_t i = 0; i < s.count; ++i) sum += real(s.samples[i]);
  return sum / real(s.count);
}

double median_of_part(Tool& tool, const Series& s, uint64_t begin, uint64_t end) {
  uint64_t* part = tool.arena.array<uint64_t>(end - begin);
  for (uint64_t i = begin; i < end; ++i) part[i - begin] = s.samples[i];
  sort(part, end - begin);
  return real(part[(end - begin) / 2]);
}

uint64_t spikes(const Series& s) {  // runs of more than twice the median
  uint64_t count = 0;
  for (uint64_t i = 0; i < s.count; ++i) count += s.samples[i] > 2 * s.sorted[s.count / 2];
  return count;
}

bool is_unstable(Tool& tool, const Series& s) {  // the two halves of the series disagree by more than a twentieth
  if (s.count < 10) return false;
  const double a = median_of_part(tool, s, 0, s.count / 2), b = median_of_part(tool, s, s.count / 2, s.count);
  return a > b * 1.05 || b > a * 1.05;
}

bool warm_up(Session& session, const Flags& flags, Series* series) {
  const uint64_t start = now_ns();
  const double budget = flags.seconds * 1e8;
  for (series->warmup_runs = 0; !interrupted(); ++series->warmup_runs) {
    const bool enough = flags.warmup >= 0 ? series->warmup_runs >= static_cast<uint64_t>(flags.warmup)
                                          : real(now_ns() - start) >= budget;
    if (enough) break;
    if (!session.run()) return false;
  }
  return true;
}

// Contexts of the timed one's model that run beside it, each on a thread of its own, from before the warm-up until all
// is timed.
class Crew {
 public:
  explicit Crew(Tool& tool) : tool_(tool) {}
  Crew(const Crew&) = delete;
  ~Crew() { stop(); }

  bool start(const Session& timed, int64_t contexts) {
    members_ = tool_.arena.array<Member>(static_cast<uint64_t>(contexts));
    for (; count_ + 1 < contexts; ++count_) {
      Member& member = members_[count_];
      member.crew = this;
      member.in = timed.inputs();
      member.out = tool_.arena.array<cameo_value>(tool_.program->output_count);
      member.error = new_error();
      member.status = tool_.api->context_create(timed.model(), &member.context, &member.error);
      if (member.status) return tool_.fail(member.status, member.error);
      if (!libc::pthread_create(&member.thread, nullptr, body, &member)) continue;
      tool_.api->context_release(member.context);
      return tool_.fail(kMemory, "only %ld threads could be started", static_cast<long>(count_ + 1));
    }
    return true;
  }
  uint64_t runs() const {
    uint64_t sum = 0;
    for (int64_t i = 0; i < count_; ++i) sum += __atomic_load_n(&members_[i].runs, __ATOMIC_RELAXED);
    return sum;
  }
  bool stop() {  // false: a run failed
    __atomic_store_n(&stopping_, 1, __ATOMIC_RELAXED);
    bool ok = true;
    for (; count_ > 0; --count_) {
      const Member& member = members_[count_ - 1];
      libc::pthread_join(member.thread, nullptr);
      tool_.api->context_release(member.context);
      if (member.status) ok = tool_.fail(member.status, member.error);
    }
    return ok;
  }

 private:
  struct Member {
    Crew* crew;
    cameo_context* context;
    const cameo_value* in;
    cameo_value* out;
    unsigned long thread;
    cameo_status status;
    cameo_error error;
    uint64_t runs;
  };
  static void* body(void* of) {
    Member& member = *static_cast<Member*>(of);
    Crew& crew = *member.crew;
    while (!member.status && !__atomic_load_n(&crew.stopping_, __ATOMIC_RELAXED)) {
      member.status = run_once(crew.tool_, member.context, member.in, member.out, &member.error);
      __atomic_store_n(&member.runs, member.runs + 1, __ATOMIC_RELAXED);
    }
    return nullptr;
  }

  Tool& tool_;
  Member* members_ = nullptr;
  int64_t count_ = 0;
  uint32_t stopping_ = 0;
};

// Of the runs from here on: the nanoseconds of each node, then its executions; null where that fails.
uint64_t* observe(Tool& tool, Session& session) {
  const int32_t count = 2 * tool.api->node_count();
  uint64_t* sums = tool.arena.array<uint64_t>(static_cast<uint64_t>(count));
  cameo_error error = new_error();
  const cameo_status status = tool.api->profile(session.context(), sums, count, &error);
  return status && !tool.fail(status, error) ? nullptr : sums;
}

bool measure(Tool& tool, Session& session, const Flags& flags, Series* series, uint64_t** observed = nullptr) {
  Crew crew(tool);
  if (!session.run()) return false;
  series->first_ns = session.run_ns();
  if (!crew.start(session, flags.contexts) || !warm_up(session, flags, series)) return false;
  if (observed && !(*observed = observe(tool, session))) return false;
  const uint64_t most = flags.runs ? static_cast<uint64_t>(flags.runs) : kMostSamples;
  series->samples = tool.arena.array<uint64_t>(most);
  const uint64_t start = now_ns(), before = crew.runs();
  while (series->count < most && !interrupted()) {
    if (!session.run()) break;
    series->samples[series->count++] = session.run_ns();
    const bool enough = series->count >= kLeastSamples && real(now_ns() - start) >= flags.seconds * 1e9;
    if (!flags.runs && enough) break;
  }
  series->all_runs = series->count + crew.runs() - before;
  series->all_ns = now_ns() - start;
  if (!crew.stop()) return false;
  if (!series->count) return tool.fail(kInterrupted, "no run was timed");
  series->sorted = tool.arena.array<uint64_t>(series->count);
  for (uint64_t i = 0; i < series->count; ++i) series->sorted[i] = series->samples[i];
  sort(series->sorted, series->count);
  if (interrupted() && tool.code == kInterrupted) tool.message = "interrupted; what was timed until then is shown";
  return !tool.code || tool.code == kInterrupted;
}

void print_time(Text* to, const char* what, double ns) {
  const double absolute = ns < 0 ? -ns : ns;
  if (ns != ns)
    to->format("  %-12s -  (too few samples)\n", what);
  else if (absolute < 1e4)
    to->format("  %-12s %.0f ns\n", what, ns);
  else if (absolute < 1e7)
    to->format("  %-12s %.2f us\n", what, ns / 1e3);
  else
    to->format("  %-12s %.2f ms\n", what, ns / 1e6);
}

struct Quantile {
  char name[8], title[8];
  double q;
};
constexpr Quantile kQuantiles[] = {
    {"p50", "median", 0.5}, {"p90", "P90", 0.9}, {"p95", "P95", 0.95}, {"p99", "P99", 0.99}, {"p999", "P99.9", 0.999}};

void print_plan(const Session& session, Text* to) {
  to->add("plan for "), to->plain(*session.plan() ? session.plan() : "all sizes");
}
void print_plan_json(const Tool& tool, const Session& session, Text* to) {
  if (tool.program->bucket_count) to->add(",\"plan\":"), to->json(Slice(session.plan()));
}

double runs_per_second(const Series& s) { return real(s.all_runs) * 1e9 / real(s.all_ns); }

void print_text(Tool& tool, const Session& session, const Series& s, long contexts) {
  Text& out = tool.out;
  out.plain(tool.program->name);
  out.format(" on %s, %d thread%s, ", session.image(), session.threads(), session.threads() == 1 ? "" : "s");
  print_sizes(tool, &out);
  if (tool.program->bucket_count) print_plan(session, &out), out.add(", ");
  out.add("clock CLOCK_MONOTONIC\n");
  print_time(&out, "load", real(session.load_ns()));
  print_time(&out, "first run", real(s.first_ns));
  out.format("  %-12s %lu runs, not counted\n  %-12s %lu runs\n", "warm-up", s.warmup_runs, "timed", s.count);
  print_time(&out, "minimum", real(s.sorted[0]));
  for (const Quantile& row : kQuantiles) print_time(&out, row.title, percentile(s, row.q));
  print_time(&out, "mean", mean(s));
  print_time(&out, "maximum", real(s.sorted[s.count - 1]));
  if (contexts > 1)
    out.format("  %-12s %.1f runs a second of %ld contexts\n", "throughput", runs_per_second(s), contexts);
  if (spikes(s)) out.format("  %lu runs took more than twice the median\n", spikes(s));
  if (is_unstable(tool, s))
    out.add("  unstable: the medians of the first and the second half differ by more than 5%\n");
}

void print_nanoseconds(Text* out, const char* name, double ns) {
  out->format("\"%s\":", name);
  if (ns != ns)
    out->add("null");
  else
    out->format("%.0f", ns);
}

// One more run, in which the executions of each node are counted.
bool count_work(Tool& tool, Session& session, Work* work) {
  const uint32_t count = tool.program->node_count;
  const uint64_t* sums = observe(tool, session);
  if (!sums || !session.run()) return false;
  for (uint32_t i = 0; i < count; ++i) {
    const Node& node = tool.program->nodes[i];
    work->flops += node.flops * sums[count + i];
    work->bytes += node.bytes * sums[count + i];
  }
  return true;
}

void print_rates(Text* out, double flops, double bytes) {  // of a nanosecond
  out->add("\"gflop_per_s\":"), out->json(flops);
  out->add(",\"gb_per_s\":"), out->json(bytes);
}

void print_json(Tool& tool, const Session& session, const Series& s, const Work& work, long contexts) {
  Text& out = tool.out;
  out.add("{\"schema\":\"cameo.bench\",\"version\":1,\"cases\":[{\"name\":");
  out.json(Slice(tool.program->name));
  out.add(",\"target\":"), out.json(Slice(session.image()));
  print_sizes_json(tool, &out), print_plan_json(tool, session, &out);
  out.format(",\"threads\":%d,\"clock\":\"CLOCK_MONOTONIC\",\"load_ns\":%lu,\"first_run_ns\":%lu,\"warmup_runs\":%lu",
             session.threads(), session.load_ns(), s.first_ns, s.warmup_runs);
  out.format(",\"contexts\":%ld,\"runs_per_second\":%.6g", contexts, runs_per_second(s));
  out.format(",\"runs\":%lu,\"latency_ns\":{\"min\":%lu,", s.count, s.sorted[0]);
  for (const Quantile& row : kQuantiles) print_nanoseconds(&out, row.name, percentile(s, row.q)), out.add(',');
  print_nanoseconds(&out, "mean", mean(s));
  out.format(",\"max\":%lu},\"flops\":%lu,\"bytes\":%lu,", s.sorted[s.count - 1], work.flops, work.bytes);
  const double median = real(s.sorted[s.count / 2]);
  print_rates(&out, real(work.flops) / median, real(work.bytes) / median);
  out.format(",\"spikes\":%lu,\"unstable\":%s,\"interrupted\":%s,\"samples_ns\":[", spikes(s),
             is_unstable(tool, s) ? "true" : "false", interrupted() ? "true" : "false");
  for (uint64_t i = 0; i < s.count; ++i) out.format(i ? ",%lu" : "%lu", s.samples[i]);
  out.add("]}]}\n");
}

bool open_with_inputs(Tool& tool, const Flags& flags, Session* session) {
  Values inputs = new_values(tool, tool.program->input_count);
  if (flags.path_count)
    return tool.fail(kUsage, "`%s` takes no `%.*s`; inputs are given as `-i NAME=VALUE`", verb_name(flags.verb),
                     width(flags.paths[0]), flags.paths[0].data);
  if (!add_inputs(tool, flags, &inputs)) return false;
  if (!fill_inputs(tool, &inputs) || !session->open(flags)) return false;
  session->set_inputs(inputs);
  return true;
}

struct Share {
  uint64_t ns, executions;  // in all runs
  int32_t node;
};

// Operations or bytes by time, of a node of which one execution has so many; 0 where it is not known.
double rate(uint64_t of_one, const Share& share) {
  return share.ns ? real(of_one * share.executions) / real(share.ns) : 0;
}
void print_known(Text* out, const char* format, double number) {
  number > 0 ? out->format(format, number) : out->format(" %8s", "");
}
double larger(double a, double b) { return a > b ? a : b; }

void print_profile(Tool& tool, const Session& session, const Share* shares, int32_t count, uint64_t total,
                   uint64_t runs, const Peak& peak, bool as_json) {
  Text& out = tool.out;
  if (as_json)
    out.format("{\"schema\":\"cameo.profile\",\"version\":1,\"runs\":%lu,\"total_ns\":%lu", runs, total / runs),
        print_sizes_json(tool, &out), print_plan_json(tool, session, &out), out.add(",\"peak\":{");
  else
    out.format("%10s %6s %8s %8s%s  %-24s %s\n", "us a run", "%", "GFLOP/s", "GB/s", peak.bytes > 0 ? "  of peak" : "",
               "kernel", "ONNX nodes");
  if (as_json) print_rates(&out, peak.flops, peak.bytes), out.add("},\"nodes\":[");
  for (int32_t i = 0; i < count; ++i) {
    cameo_node node = {};
    node.struct_size = sizeof node;
    tool.api->node_get(shares[i].node, &node);
    const double flops = rate(node.flops, shares[i]), bytes = rate(node.bytes, shares[i]);
    const double of_peak = larger(flops / peak.flops, bytes / peak.bytes);
    if (as_json) {
      out.format("%s{\"ns\":%lu,\"flops\":%lu,\"bytes\":%lu,\"of_peak\":", i ? "," : "", shares[i].ns / runs,
                 node.flops * shares[i].executions / runs, node.bytes * shares[i].executions / runs);
      out.json(of_peak), out.add(",\"kernel\":"), out.json(Slice(node.kernel)), out.add(",\"names\":[");
      for (int32_t k = 0; k < node.name_count; ++k) out.add(k ? "," : ""), out.json(Slice(node.names[k]));
      out.add("]}");
      continue;
    }
    out.format("%10.2f %6.1f", real(shares[i].ns) / real(runs) / 1e3,
               total ? 100.0 * real(shares[i].ns) / real(total) : 0);
    print_known(&out, " %8.2f", flops);
    print_known(&out, " %8.2f", bytes);
    if (peak.bytes > 0) print_known(&out, " %7.0f%%", 100 * of_peak);
    out.format("  %-24s ", node.kernel ? node.kernel : "");
    for (int32_t k = 0; k < node.name_count && k < 4; ++k) out.add(k ? ", " : ""), out.plain(node.names[k]);
    out.add(node.name_count > 4 ? ", ...\n" : "\n");
  }
  if (as_json)
    out.add("]}\n");
  else
    out.format("%10.2f %6.1f  all, over %lu runs", real(total) / real(runs) / 1e3, 100.0, runs);
  if (!as_json && tool.program->bucket_count) out.add(", "), print_plan(session, &out);
  if (!as_json) out.add('\n');
}

}  // namespace

bool bench_verb(Tool& tool, const Flags& flags) {
  Session session(tool);
  Series series = {};
  if (!open_with_inputs(tool, flags, &session) || !measure(tool, session, flags, &series)) return false;
  Work work;
  if (flags.json && !interrupted() && !count_work(tool, session, &work)) return false;
  if (flags.json)
    print_json(tool, session, series, work, flags.contexts);
  else
    print_text(tool, session, series, flags.contexts);
  return tool.code == kOk;
}

bool profile_verb(Tool& tool, const Flags& flags) {
  Session session(tool);
  Series series = {};
  const int32_t count = tool.api->node_count();
  Share* shares = tool.arena.array<Share>(static_cast<uint64_t>(count));
  uint64_t total = 0;
  uint64_t* ns = nullptr;
  if (!open_with_inputs(tool, flags, &session) || !measure(tool, session, flags, &series, &ns)) return false;
  int32_t shown = 0;
  for (int32_t i = 0; i < count; ++i) {
    if (tool.program->bucket_count && !ns[count + i]) continue;  // of another plan
    int32_t at = shown++;                                        // insertion sort, the slowest first
    for (; at > 0 && shares[at - 1].ns < ns[i]; --at) shares[at] = shares[at - 1];
    shares[at] = {ns[i], ns[count + i], i};
    total += ns[i];
  }
  const Peak peak = measure_peak(tool, *session.context());
  print_profile(tool, session, shares, shown, total, series.count, peak, flags.json);
  return tool.code == kOk;
}

}  // namespace rt::program
