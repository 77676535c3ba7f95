// operator_extremes: every case of tests/ops with one attribute, constant, element type or extent set to an extreme.
// What comes of it must be a plan or a CompileError, within the contract's time and memory: no signal, no other
// exception.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <cmath>
#include <fstream>

#include "frontend/ir/limits.h"
#include "tests/support/case.h"
#include "tests/support/road.h"

using namespace cameo;
using namespace cameo::test;

namespace {

constexpr size_t kEach = 250;                  // mutations a child: what it remembers of one is there for the next ones
constexpr int kSeconds = 10;                   // of processor time, for one mutation
constexpr rlim_t kMemory = rlim_t{256} << 20;  // beyond what the program has mapped already
constexpr int64_t kInts[] = {
    INT64_MIN,        INT64_MIN + 1,    -(int64_t{1} << 32), -(int64_t{1} << 31), -2,       -1, 0, 1, 2, 7,
    int64_t{1} << 31, int64_t{1} << 32, int64_t{1} << 40,    int64_t{1} << 62,    INT64_MAX};
const double kFloats[] = {0, -0., 1, -1, 0.5, 1e308, -1e308, 1e-310, HUGE_VAL, -HUGE_VAL, std::nan("")};
constexpr int64_t kExtents[] = {0, 1, 2, 3, 17, int64_t{1} << 20, int64_t{1} << 31, int64_t{1} << 40};

/// A node as it will be added: operands are inputs of a type, or constants.
struct Operand {
  bool present = false;
  DType dtype = DType::undefined;
  std::vector<int64_t> dims;
  Constant constant;
};
struct Trial {
  std::string what;
  const Operator* op = nullptr;
  int version = 0, outputs = 1;
  Attrs attrs;
  std::vector<Operand> operands;
};

std::optional<Trial> trial_of(const Case& c) {
  if (!c.graph || c.graph->nodes().size() != 1) return std::nullopt;
  const Graph& g = *c.graph;
  const Node& n = g.nodes()[0];
  Trial t{"", n.op, n.version, static_cast<int>(n.outputs.size()), n.attrs, {}};
  size_t next = 0;
  for (ValueId v : n.inputs) {
    if (!v) {
      t.operands.emplace_back();
      continue;
    }
    const Constant& constant = g[v].constant;
    const std::vector<int64_t> dims = constant ? constant->dims() : c.inputs.at(next).dims();
    t.operands.push_back({true, g.type(v).dtype, dims, constant});
    if (!constant) ++next;
  }
  return t;
}

class Mutations {
 public:
  explicit Mutations(const Trial& base) : base_(base) {}
  std::vector<Trial> all() {
    for (const AttrSpec& a : base_.op->attributes) mutate_attribute(a);
    for (size_t i = 0; i < base_.operands.size(); ++i) {
      if (!base_.operands[i].present) continue;
      mutate_dims(i);
      mutate_values(i);
      with(fmt::format("operand {} absent", i), [&](Trial& t) { t.operands[i] = {}; });
      for (DType d : {DType::f64, DType::f16, DType::i64, DType::u64, DType::i8, DType::b1, DType::str, DType::i4})
        with(fmt::format("operand {} of {}", i, name(d)),
             [&](Trial& t) { t.operands[i] = {true, d, t.operands[i].dims, {}}; });
    }
    for (int n = 1; n <= static_cast<int>(base_.op->outputs.size()); ++n)
      with(fmt::format("{} outputs", n), [&](Trial& t) { t.outputs = n; });
    return std::move(all_);
  }

 private:
  void with(std::string what, const std::function<void(Trial&)>& change) {
    all_.push_back(base_);
    all_.back().what = std::move(what);
    change(all_.back());
  }
  void set(std::string_view name, Attr value, const std::string& text) {
    with(fmt::format("{} = {}", name, text), [&](Trial& t) { t.attrs[std::string(name)] = value; });
  }
  template <class T>
  std::vector<T> old(std::string_view name) const {
    auto it = base_.attrs.find(name);
    auto* v = it == base_.attrs.end() ? nullptr : std::get_if<std::vector<T>>(&it->second);
    return v ? *v : std::vector<T>();
  }
  template <class T>
  void mutate_list(std::string_view name, std::span<const T> extremes) {
    const std::vector<T> is = old<T>(name);
    auto put = [&](const std::vector<T>& v) { set(name, v, fmt::format("[{}]", fmt::join(v, ", "))); };
    put({});
    std::vector<T> longer = is;
    longer.push_back(is.empty() ? T(1) : is.back());
    put(longer);
    longer.resize(40, longer[0]);
    put(longer);
    for (T x : extremes) {
      for (size_t size : {size_t{1}, size_t{2}, size_t{4}, is.size()}) put(std::vector<T>(size, x));
      for (size_t i = 0; i < is.size(); ++i) {
        std::vector<T> one = is;
        one[i] = x;
        put(one);
      }
    }
  }
  void mutate_attribute(const AttrSpec& a) {
    switch (a.kind) {
      case AttrKind::Int:
        for (int64_t v : kInts) set(a.name, v, std::to_string(v));
        for (int t = 0; t < kDTypeCount + 2; ++t) set(a.name, int64_t{t}, std::to_string(t));  // an element type?
        return;
      case AttrKind::Float:
        for (double v : kFloats) set(a.name, v, fmt::format("{}", v));
        return;
      case AttrKind::String:
        for (std::string v : {"", "?", "NOTSET", "a,b->c", "...", "ij,jk->ik,"}) set(a.name, v, v);
        return;
      case AttrKind::Ints: return mutate_list<int64_t>(a.name, kInts);
      case AttrKind::Floats: return mutate_list<double>(a.name, kFloats);
      case AttrKind::Strings:
        set(a.name, std::vector<std::string>{}, "[]");
        set(a.name, std::vector<std::string>{"?", "?"}, "[?, ?]");
        return;
      default: return;
    }
  }
  void mutate_dims(size_t i) {
    const Operand& o = base_.operands[i];
    auto dims = [&](std::vector<int64_t> d) {
      with(fmt::format("operand {} of [{}]", i, fmt::join(d, "x")),
           [&](Trial& t) { t.operands[i] = {true, o.dtype, d, {}}; });
    };
    for (size_t d = 0; d < o.dims.size(); ++d)
      for (int64_t extent : kExtents) {
        std::vector<int64_t> changed = o.dims;
        changed[d] = extent;
        dims(changed);
      }
    std::vector<int64_t> more = o.dims;
    more.insert(more.begin(), 2);
    dims(more);
    dims({});
    dims(std::vector<int64_t>(32, 1));
    dims(std::vector<int64_t>(o.dims.size(), int64_t{1} << 20));
    dims(std::vector<int64_t>(o.dims.size(), 0));
  }
  /// Small operands as constants of extremes: each element, and all of them.
  void mutate_values(size_t i) {
    const Operand& o = base_.operands[i];
    const int64_t size = element_count(o.dims).value_or(0);
    if (is_complex(o.dtype) || size > 16 || size == 0) return;
    auto put = [&](std::string what, auto change) {
      Tensor t(o.dtype, o.dims);
      for (int64_t k = 0; k < size; ++k) o.constant ? t.set_int(k, o.constant->get_int(k)) : t.set_int(k, 1);
      if (o.constant && is_float(o.dtype))
        for (int64_t k = 0; k < size; ++k) t.set(k, o.constant->get(k));
      change(t);
      with(fmt::format("operand {} {}", i, what),
           [&](Trial& trial) { trial.operands[i].constant = std::make_shared<const Tensor>(std::move(t)); });
    };
    auto each = [&](std::string text, auto set_one) {
      put("all " + text, [&](Tensor& t) {
        for (int64_t k = 0; k < size; ++k) set_one(t, k);
      });
      for (int64_t k = 0; k < std::min<int64_t>(size, 4); ++k)
        put(fmt::format("[{}] = {}", k, text), [&](Tensor& t) { set_one(t, k); });
    };
    if (is_float(o.dtype))
      for (double v : kFloats) each(fmt::format("{}", v), [v](Tensor& t, int64_t k) { t.set(k, v); });
    else
      for (int64_t v : kInts) each(fmt::format("{}", v), [v](Tensor& t, int64_t k) { t.set_int(k, v); });
    for (int64_t length : {0, 1, 9})
      with(fmt::format("operand {} a constant of {} ones", i, length), [&](Trial& trial) {
        Tensor t(o.dtype, {length});
        for (int64_t k = 0; k < length; ++k) is_float(o.dtype) ? t.set(k, 1) : t.set_int(k, 1);
        trial.operands[i] = {true, o.dtype, {length}, std::make_shared<const Tensor>(std::move(t))};
      });
  }

  const Trial& base_;
  std::vector<Trial> all_;
};

void compile(const Trial& t) {
  for (const Operand& o : t.operands)
    if (o.present && !o.constant && !beyond_limits(o.dtype, o.dims).empty())
      return;  // the importer refuses such inputs
  try {
    Graph g;
    std::vector<ValueId> in;
    for (const Operand& o : t.operands)
      in.push_back(!o.present   ? ValueId{}
                   : o.constant ? g.constant(o.constant)
                                : g.add_input("x", Type(o.dtype, shape_of(o.dims))));
    std::vector<ValueId> out = g.add(*t.op, in, t.attrs, {}, t.version, t.outputs);
    for (ValueId v : out) g.add_output("y", v);
    plan_graph(g);
  } catch (const CompileError&) {}
}

int64_t mapped_bytes() {
  int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * sysconf(_SC_PAGESIZE);
}
void limit_processor_time(int seconds) {
  itimerval limit{{0, 0}, {seconds, 0}};
  setitimer(ITIMER_PROF, &limit, nullptr);
}

/// Runs the next trials in a child, and says in `at` which one; gives how the child ended, empty when well.
std::string run_child(const std::vector<Trial>& trials, std::atomic<size_t>& at) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    const auto bytes = static_cast<rlim_t>(mapped_bytes()) + kMemory;
    rlimit memory{bytes, bytes}, no_core{0, 0};
    setrlimit(RLIMIT_AS, &memory);
    setrlimit(RLIMIT_CORE, &no_core);
    try {
      for (size_t end = std::min(at + kEach, trials.size()); at < end; ++at) {
        limit_processor_time(kSeconds);
        compile(trials[at]);
      }
    } catch (const std::exception& e) {
      fmt::print("exception: {}\n", e.what());
      std::fflush(nullptr);
      _exit(1);
    }
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) return WTERMSIG(status) == SIGPROF ? "it took too long" : strsignal(WTERMSIG(status));
  return WEXITSTATUS(status) ? fmt::format("exit {}", WEXITSTATUS(status)) : "";
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"operators with extreme attributes and operands"};
  int every = 1, start = 0;
  std::string only;
  std::vector<std::string> names;
  app.add_option("--every", every, "only each n-th mutation");
  app.add_option("--start", start, "the first of them");
  app.add_option("--only", only, "those of which the report holds this");
  app.add_option("operators", names,
                 "those of tests/ops, as microsoft_gelu for microsoft/gelu.case; all if none is given");
  CLI11_PARSE(app, argc, argv);
  std::vector<Trial> trials;
  size_t number = static_cast<size_t>(start);
  for (const auto& file : case_files(CAMEO_SOURCE_DIR "/tests/ops")) {
    if (!names.empty() && std::ranges::find(names, operator_of(file)) == names.end()) continue;
    for (const Case& c : load_case_file(file)) {
      std::optional<Trial> base = trial_of(c);
      if (!base) continue;
      for (Trial& t : Mutations(*base).all())
        if (number++ % static_cast<size_t>(every) == 0) {
          t.what = fmt::format("{} {}: {}", c.where, c.name, t.what);
          if (t.what.find(only) != t.what.npos) trials.push_back(std::move(t));
        }
    }
  }
  void* shared = mmap(nullptr, sizeof(std::atomic<size_t>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto& at = *new (shared) std::atomic<size_t>(0);  // the child counts, the parent sees how far it came
  int broken = 0;
  while (at < trials.size()) {
    std::string how = run_child(trials, at);
    if (how.empty()) continue;
    ++broken;
    fmt::print("{}: {}\n", trials[at].what, how);
    ++at;
  }
  fmt::print("{} mutations, {} broken\n", trials.size(), broken);
  return broken || trials.empty() ? 1 : 0;
}
