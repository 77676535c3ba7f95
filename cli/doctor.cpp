// `doctor`: what this cameo and this machine are, and whether what a build needs works: workers, the clang and lld
// inside, the cache.
#include <fmt/format.h>
#include <gnu/libc-version.h>
#include <unistd.h>

#include <thread>

#include "cli/artifact_cache.h"
#include "cli/processor.h"
#include "cli/verbs.h"
#include "cli/version.h"
#include "codegen/build/embedded_files.h"
#include "codegen/build/worker.h"
#include "runtime/cpu.h"

namespace cameo {
namespace {

struct Finding {
  std::string what, answer;
  bool ok = true;
};

Finding try_compile() {
  CompileJob job;
  job.name = "doctor.cpp";
  job.source =
      "#include \"runtime/program.h\"\nextern \"C\" __attribute__((visibility(\"default\"))) int answer() { return 42; "
      "}\n";
  WorkerPool pool(1);
  const Job compile = job;
  Outcome object = pool.run(std::span(&compile, 1))[0];
  if (!object.ok) return {"compile", object.message, false};
  const Job link = link_shared({{"doctor.o", std::move(object.bytes), {}}}, "doctor.so", "", {"answer"});
  const Outcome library = pool.run(std::span(&link, 1))[0];
  if (!library.ok) return {"link", library.message, false};
  return {"compile and link",
          fmt::format("work, in {:.0f} ms", static_cast<double>(object.nanoseconds + library.nanoseconds) / 1e6)};
}

Finding cache_finding() {
  const ArtifactCache cache;
  if (const Status status = cache.usable(); !status.ok())
    return {"cache", status.message + "; `run` and `test` build anew each time"};
  const ArtifactCache::Contents found = cache.contents();
  return {"cache",
          fmt::format("{}: {} artifacts, {}", cache.folder().string(), found.artifacts, human_bytes(found.bytes))};
}

Finding ptxas() {
  const std::string found = find_ptxas();
  return {"ptxas", found.empty() ? "none: --target=cuda:ptx works, cuda:sm_80 and newer need it" : found};
}

std::string machine_text(const MachineModel& m) {
  return fmt::format(
      "{}: {} GHz, {} FMAs and {} loads a cycle, {} cycles an FMA, caches of {} and {}, {} shared; {}, {} and {} bytes "
      "a cycle from the "
      "second, "
      "the third and memory{}{}{}",
      m.name, m.clock, m.fmas, m.loads, m.fma_latency, human_bytes(static_cast<uint64_t>(m.l1_bytes)),
      human_bytes(static_cast<uint64_t>(m.l2_bytes)), human_bytes(static_cast<uint64_t>(m.l3_bytes)), m.l2_rate,
      m.l3_rate, m.memory_rate, m.dot8 ? "; products of 8 bits" : "", m.dot16 ? ", of bf16" : "",
      m.amx ? ", tiles" : "");
}

std::vector<Finding> examine() {
  size_t runtime = 0;
  for (const EmbeddedFile& f : embedded_under("runtime/")) runtime += f.contents.size();
  return {{"cameo", kVersion},
          {"processor", processor_name()},
          {"features", rt::FeatureNames(rt::host_cpu_features()).text},
          {"native target", native_target().name},
          {"machine model", machine_text(native_target().machine)},
          {"threads", fmt::format("{}", std::thread::hardware_concurrency())},
          {"libc", std::string("glibc ") + ::gnu_get_libc_version()},
          {"runtime inside", human_bytes(runtime), runtime > 0},
          try_compile(),
          ptxas(),
          cache_finding()};
}

}  // namespace

int doctor_verb(Console& console) {
  const std::vector<Finding> findings = examine();
  Json list = Json::array();
  bool ok = true;
  for (const Finding& f : findings) {
    ok &= f.ok;
    console.print(fmt::format("{} {:<18} {}\n", f.ok ? "ok  " : "FAIL", f.what, f.answer));
    list.push_back({{"what", f.what}, {"ok", f.ok}, {"answer", f.answer}});
  }
  const int code = ok ? kOk : kToolchain;
  if (console.json) console.document({{"ok", ok}, {"findings", list}}, code);
  return code;
}

}  // namespace cameo
