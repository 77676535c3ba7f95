// See command_line.h. Flags that an artifact takes too are declared here, so that a typing error ends here and not
// after a build, and are handed on as they were typed.
#include "cli/command_line.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <sstream>

#include "cli/interrupt.h"
#include "cli/verbs.h"
#include "cli/version.h"

namespace cameo {
namespace {

constexpr const char* kExits =
    "exit codes: 0 ok, 1 our bug, 2 usage, 3 model invalid or unsupported, 4 toolchain, 5 accuracy, 7 bad input data,\n"
    "8 device or instruction set missing or failing, 9 out of memory, 130 interrupted";

struct Verb {
  CLI::App* app;
  std::function<int()> run;
};

class CommandLine {
 public:
  CommandLine() {
    app_.name("cameo");
    app_.set_version_flag("--version", std::string("cameo ") + kVersion);
    app_.add_flag("--json", console_.json, "one JSON document on stdout");
    app_.add_flag("-q,--quiet", console_.quiet, "errors and results only");
    app_.footer(std::string("cameo VERB --help says more\n") + kExits + "\n");
    app_.require_subcommand(1);
    app_.fallthrough();
    app_.get_formatter()->column_width(32);
    declare_check();
    declare_build();
    declare_run("run", "one run of a model or an artifact",
                "cameo run model.onnx -i image=@cat.png -o scores=top5:labels.txt");
    declare_test();
    declare_run("bench", "load, first run and steady latency; of two, which is faster",
                "cameo bench model.onnx --seconds 5\n  cameo bench old.so new.so --batch 1,8,32");
    declare_run("profile", "time by step and ONNX node", "cameo profile model.onnx");
    declare_inspect();
    declare_explain();
    declare_cache();
    declare("doctor", "what this cameo and this machine are, and whether builds work", "  cameo doctor",
            [this] { return doctor_verb(console_); });
    declare("version", "print the version", "  cameo version --json", [this] { return print_version(); });
    declare("completion", "print completion for bash", "  source <(cameo completion)",
            [this] { return print_completion(); });
  }

  int run(int argc, char** argv) {
    model_.command.assign(argv + 1, argv + argc);
    console_.json = std::ranges::find(model_.command, "--json") != model_.command.end();
    console_.owe_document();
    watch_interrupts();
    return console_.finish(answer(argc, argv));
  }

 private:
  int answer(int argc, char** argv) {
    try {
      if (argc == 1) return console_.print(app_.help()), kUsage;
      require_known_verb(argc, argv);
      app_.parse(argc, argv);
      for (const Verb& v : verbs_)
        if (v.app->parsed()) return run_verb_of(v);
      return kUsage;
    } catch (const CLI::Success& e) {  // --help, --version
      std::ostringstream text;
      app_.exit(e, text, text);
      return print_text("help", text.str());
    } catch (const CLI::ExtrasError&) { return fail(unexpected()); } catch (const CLI::ParseError& e) {
      return fail(Failure(kUsage, lower_first(e.what()),
                          used_verb() ? fmt::format("cameo {} --help", used_verb()->get_name()) : "cameo --help"));
    } catch (...) { return fail(); }
  }

  int print_text(const std::string& schema, const std::string& text) {
    console_.verb = schema;
    console_.print(text);
    if (console_.json) console_.document({{"text", text}}, kOk);
    return kOk;
  }

  int run_verb_of(const Verb& v) {
    console_.verb = v.app->get_name();
    console_.owe_document();
    const int code = v.run();
    return interrupted() ? kInterrupted : code;
  }

  int fail(const Failure& f) {
    console_.end();
    console_.report(f);
    return end_with(f.code);
  }
  /// In a catch block.
  int fail() {
    console_.end();
    return end_with(console_.report_exception());
  }
  int end_with(int code) {
    if (console_.json && !console_.documented()) console_.document({{"ok", false}}, code);
    return interrupted() ? kInterrupted : code;
  }

  static std::string lower_first(std::string s) {
    if (s.size() > 1 && !std::isupper(static_cast<unsigned char>(s[1])))
      s[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(s[0])));
    return s;
  }

  void require_known_verb(int argc, char** argv) {
    std::vector<std::string> known;
    for (const Verb& v : verbs_) known.push_back(v.app->get_name());
    for (int i = 1; i < argc; ++i) {
      const std::string word = argv[i];
      if (word.starts_with('-')) continue;
      if (std::ranges::find(known, word) != known.end()) return;
      throw Failure(kUsage, fmt::format("there is no verb `{}`{}", printable(word), suggestion(word, known)),
                    "cameo --help");
    }
  }

  const CLI::App* used_verb() {
    const auto used = app_.get_subcommands();
    return used.empty() ? nullptr : used[0];
  }

  Failure unexpected() {
    const std::vector<std::string> extras = app_.remaining(true);
    std::string word = extras.empty() ? "" : extras[0];
    const CLI::App* verb = used_verb();
    const std::string where = verb ? fmt::format("`cameo {}`", verb->get_name()) : "`cameo`";
    if (!word.starts_with('-')) return Failure(kUsage, fmt::format("{} takes no further `{}`", where, printable(word)));
    word = word.substr(0, word.find('='));
    std::vector<std::string> known = verb ? flags_of(*verb) : std::vector<std::string>();
    for (std::string& flag : flags_of(app_))
      if (std::ranges::find(known, flag) == known.end()) known.push_back(std::move(flag));
    return Failure(kUsage, fmt::format("{} has no flag `{}`{}", where, printable(word), suggestion(word, known)),
                   verb ? fmt::format("cameo {} --help", verb->get_name()) : "cameo --help");
  }

  // ---- declarations -------------------------------------------------------------------------------------------------
  CLI::App* declare(const std::string& name, const std::string& help, const std::string& examples,
                    std::function<int()> run) {
    CLI::App* sub = app_.add_subcommand(name, help);
    sub->fallthrough();
    sub->footer("  --json, -q                    one JSON document on stdout; errors and results only\n\nexamples\n" +
                examples + "\n");
    verbs_.push_back({sub, std::move(run)});
    return sub;
  }
  /// A flag that may stand several times, one value each.
  static void add_list(CLI::App* sub, const std::string& flag, std::vector<std::string>& into, const std::string& value,
                       const std::string& help) {
    sub->add_option(flag, into, help)->allow_extra_args(false)->type_name(value);
  }
  void add_model(CLI::App* sub, const std::string& what) {
    sub->add_option("MODEL", model_.model, what + "; `-` reads it from a pipe")->required()->type_name("");
    add_list(sub, "--dim", model_.dims, "NAME=N|LOW..HIGH", "bind a symbolic dim, or give it a range");
    add_list(sub, "--shape", model_.shapes, "INPUT=AxBxC",
             "bind the dims of an input, or give them ranges: 1..8,3,32..,32..");
    add_list(sub, "--const", model_.constants, "INPUT=VALUE", "fold an input in: 16000, [[1,2],[3,4]]");
    add_list(sub, "--outputs", model_.outputs, "A,B", "cut the graph: these values are its outputs");
    add_list(sub, "--custom", model_.custom, "FILE.cpp",
             "operators of your own: C++ against <cameo/op.h>, which is compiled in, and run while compiling");
    sub->add_flag("--lenient", model_.lenient, "go on where a model breaks a rule of ONNX, but its meaning is clear");
    add_list(sub, "--skip", model_.skip, "PASS", "leave a pass out");
    sub->add_option("--rewrite-limit", model_.rewrite_limit, "stop rewriting after N times: which one breaks a model?")
        ->check(CLI::NonNegativeNumber)
        ->type_name("N");
    sub->add_option("--verify", model_.verify, "check the graph after every pass, not only the last")
        ->type_name("each");
  }
  /// For the verbs that take no data by name: those open what they have data for.
  void add_open_inputs(CLI::App* sub) {
    add_list(sub, "--input", model_.open, "NAME", "keep an input open that has an initializer; else it is a constant");
  }
  void add_target(CLI::App* sub) {
    add_list(sub, "--on-host", model_.on_host, "NODE,..", "for GPUs: the kernels of these nodes run on the processor");
    add_list(sub, "--target", model_.targets, "cpu:NAME,cuda:ARCH,..",
             "x86-64-v2, x86-64-v3, x86-64-v4, x86-64-v4-vnni, x86-64-v4-bf16, x86-64-v4-amx or native (default); ptx, "
             "sm_80 and newer; "
             "several at once");
    sub->add_option("--tune-lock", model_.tune_lock,
                    "choices of kernels, as `build --emit=choices` writes them; they win over the prices")
        ->type_name("FILE");
    sub->add_option(
           "--mode", model_.mode,
           "default; size: no code or weights that are larger for speed; max-autotune, of `build`: kernels "
           "are chosen by measuring on this machine, into a lock; reduce-overhead: a GPU's kernels are launched as "
           "CUDA "
           "graphs, built once a context")
        ->type_name("MODE");
    sub->add_option("--precision", model_.precision,
                    "fp32 (default); bf16: products of f32 by known weights are those of bf16, summed in f32, and what "
                    "they read is stored in 16 bits")
        ->type_name("TYPE");
    add_list(sub, "--keep-fp32", model_.keep_fp32, "NODE,..",
             "with --precision=bf16: the products of these nodes stay f32");
    sub->add_option("-j", model_.jobs, "compile in N processes")->check(CLI::Range(1, 1024))->type_name("N");
    sub->add_option("--name", model_.name, "C identifier: the artifact exports IDENT_api")->type_name("IDENT");
  }

  void declare_check() {
    CLI::App* sub = declare("check", "what keeps a model from being compiled, all in one pass",
                            "  cameo check model.onnx\n  cameo check model.onnx --dim batch=8 --json",
                            [this] { return check_verb(console_, model_); });
    add_model(sub, "ONNX file");
    add_open_inputs(sub);
  }

  void declare_build() {
    CLI::App* sub =
        declare("build", "compile a model",
                "  cameo build model.onnx -o model.so          # a library that is a program: ./model.so\n"
                "  cameo build model.onnx --dim batch=8 -o model --target=cpu:x86-64-v3,x86-64-v4\n"
                "  cameo build model.onnx -o model.a --name=resnet\n"
                "  cameo build model.onnx -o sources/          # C++ that g++ or clang builds without cameo\n"
                "  cameo build model.onnx --mode=max-autotune --budget 60s\n"
                "  cameo build model.onnx --emit=plan",
                [this] { return build_verb(console_, model_, build_); });
    add_model(sub, "ONNX file");
    add_open_inputs(sub);
    add_target(sub);
    sub->add_option("-o,--output", build_.output, "x | x.so | x.a | x.o | dir/ (default: MODEL.so)")->type_name("OUT");
    sub->add_option("--emit", build_.emit,
                    "graph, optimized, plan, bodies (a plan with its kernels' expressions), choices, ptx, sources, "
                    "object, so or "
                    "exe; texts go to stdout")
        ->type_name("WHAT");
    add_list(sub, "--bucket", build_.buckets, "NAME=N,N..",
             "plans of their own for these sizes of dims that have a range; all combinations of NAME=N,N..,NAME=N..");
    sub->add_option(
           "--weights", build_.weights,
           "embed (default); file: in OUT.weights, which the artifact maps and shares; random:SEED: large ones "
           "are made up when it starts, as a benchmark that travels light")
        ->type_name("embed|file[:PATH]|random:SEED");
    sub->add_option("--golden", build_.golden, "embed golden cases: an ONNX data folder, or random:N")
        ->type_name("DIR|random:N");
    sub->add_option_function<std::string>(
           "--tolerance", [this](const std::string& text) { build_.tolerance = tolerance_of(text); },
           "of golden cases, as a share of an output's largest magnitude (default: by the rule)")
        ->type_name("T");
    sub->add_flag("--reference", build_.reference, "measure the tolerances of golden cases beyond 10 GFLOP too");
    sub->add_option("--print-after", build_.print_after, "print the graph after a pass, and what it rewrote")
        ->type_name("PASS|all");
    sub->add_option("--budget", build_.budget, "time that --mode=max-autotune measures for (default 60s)")
        ->type_name("60s|2m|500ms");
    sub->add_option("--threads", build_.threads, "threads that it measures with (default: the artifact's)")
        ->check(CLI::Range(1, 1024))
        ->type_name("N");
    sub->add_flag("--no-program", build_.no_program, "leave the command line out of a library");
    sub->add_flag("--time", build_.time, "print the times of stages and passes");
  }

  /// A flag that is handed on with its value.
  void pass_on(CLI::App* sub, const std::string& flag, const std::string& value, const std::string& help,
               std::function<void(const std::string&)> also = {}) {
    const std::string first = flag.substr(0, flag.find(','));
    const auto keep = [this, first, also](const std::vector<std::string>& values) {
      for (const std::string& v : values) {
        run_.passed_on.insert(run_.passed_on.end(), {first, v});
        if (also) also(v);
      }
      return true;
    };
    sub->add_option(flag, CLI::callback_t(keep), help)
        ->expected(1)
        ->take_all()
        ->allow_extra_args(false)
        ->type_name(value);
  }

  static double tolerance_of(const std::string& text) {
    char* end = nullptr;
    const double share = std::strtod(text.c_str(), &end);
    if (text.empty() || *end || !std::isfinite(share) || share < 0)
      throw Failure(kUsage, fmt::format("`--tolerance {}` is no number of at least 0", printable(text)));
    return share;
  }

  void declare_run(const std::string& name, const std::string& help, const std::string& example) {
    CLI::App* sub = declare(name, help, "  " + example + "\n  cameo " + name + " model.so", [this, name] {
      return name == "bench" ? bench_verb(console_, model_, run_) : run_verb(console_, name, model_, run_);
    });
    add_model(sub, "ONNX file, or a built artifact");
    add_target(sub);
    pass_on(sub, "-i,--input", "NAME=VALUE", "an input: @x.npy, @x.png, [1,2], zeros, rand ..; @DIR/ gives all",
            [this](const std::string& v) { run_.inputs.push_back(v); });
    pass_on(sub, "--threads", "N", "threads to use");
    if (name == "run") {
      pass_on(sub, "-o,--output", "NAME=PLACE", "an output: @y.npy, text, stats, top5 ..; - is .npy into a pipe");
      pass_on(sub, "--state", "OUT=IN", "input IN is what output OUT held after the step before, zeros at first",
              [this](const std::string& v) { run_.states.push_back(v); });
      pass_on(sub, "--steps", "N", "run N times, and give the outputs of the last one");
      pass_on(sub, "--taps", "FILE.npz", "write every intermediate value by its ONNX name");
      return;
    }
    pass_on(sub, "--runs", "N", "runs to time");
    pass_on(sub, "--seconds", "S", "time to spend on timed runs (default 1)");
    pass_on(sub, "--warmup", "N", "runs before the timed ones");
    if (name != "bench") return;
    pass_on(sub, "--contexts", "N", "contexts that run at the same time, a thread each: runs a second");
    sub->add_option("OTHER", run_.other, "compare with this model or artifact, in turn, each round in new processes")
        ->type_name("");
    sub->add_option("--rounds", run_.rounds, "rounds of a comparison (default 7)")
        ->check(CLI::Range(1, 1000))
        ->type_name("N");
    sub->add_option("--batch", run_.batches, "at these sizes of the first input's outermost dim: 1,8,32")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->check(CLI::Range(int64_t{1}, int64_t{1} << 30))
        ->type_name("N,N..");
  }

  void declare_inspect() {
    CLI::App* sub = declare("inspect", "inputs, outputs, operators, sizes and plan of a model or an artifact",
                            "  cameo inspect model.onnx --dim batch=1\n  cameo inspect model.so --json",
                            [this] { return inspect_verb(console_, model_); });
    add_model(sub, "ONNX file, or a built artifact");
    add_open_inputs(sub);
    add_target(sub);
  }

  void declare_explain() {
    CLI::App* sub =
        declare("explain", "an error code, or what became of a model's nodes",
                "  cameo explain E0501\n  cameo explain model.onnx\n  cameo explain model.onnx /layer1/Conv",
                [this] { return explain_verb(console_, model_, node_); });
    add_model(sub, "ONNX file, or a code");
    add_open_inputs(sub);
    add_target(sub);
    sub->add_option("NODE", node_, "name of a node or of its output, or its number")->type_name("");
  }

  void declare_cache() {
    CLI::App* sub = declare("cache", "what `run`, `test`, `bench` and `profile` keep of models: show, limit, clean",
                            "  cameo cache\n"
                            "  cameo cache limit 2GB        # default 8GB; what was used longest ago goes first\n"
                            "  cameo cache clean",
                            [this] { return cache_verb(console_, cache_what_, cache_size_); });
    sub->add_option("limit|clean", cache_what_, "nothing: show")->type_name("");
    sub->add_option("SIZE", cache_size_, "of `limit`")->type_name("");
  }

  int print_version() {
    console_.print(fmt::format("cameo {}\n", kVersion));
    if (console_.json) console_.document({{"cameo", kVersion}}, kOk);
    return kOk;
  }

  static std::vector<std::string> flags_of(const CLI::App& app) {
    std::vector<std::string> flags;
    for (const CLI::Option* o : app.get_options()) {
      for (const std::string& s : o->get_lnames()) flags.push_back("--" + s);
      for (const std::string& s : o->get_snames()) flags.push_back("-" + s);
    }
    return flags;
  }

  int print_completion() {
    std::string verbs, cases;
    for (const Verb& v : verbs_) {
      verbs += v.app->get_name() + " ";
      cases += fmt::format("    {}) words=\"{}\" ;;\n", v.app->get_name(), fmt::join(flags_of(*v.app), " "));
    }
    return print_text("completion",
                      fmt::format("_cameo() {{\n  local words=\"{}\"\n  case ${{COMP_WORDS[1]}} in\n{}  esac\n"
                                  "  [[ $COMP_CWORD -gt 1 && ${{COMP_WORDS[COMP_CWORD]}} != -* ]] && words=\"\"\n"
                                  "  COMPREPLY=($(compgen -W \"$words\" -- "
                                  "\"${{COMP_WORDS[COMP_CWORD]}}\"))\n}}\ncomplete -o default -F _cameo "
                                  "cameo\n",
                                  verbs, cases));
  }

  void declare_test() {
    CLI::App* sub = declare("test", "golden tests of a model or an artifact",
                            "  cameo test model.onnx test_data/             # folders of input_N.pb and output_N.pb\n"
                            "  cameo test model.so",
                            [this] {
                              for (const std::string& d : run_.data) run_.passed_on.push_back(d);
                              return test_verb(console_, model_, run_);
                            });
    add_model(sub, "ONNX file, or a built artifact");
    add_open_inputs(sub);
    add_target(sub);
    sub->add_option("DATA", run_.data, "ONNX data folders")->type_name("");
    pass_on(sub, "--threads", "N", "threads to use",
            [this](const std::string& v) { run_.threads = std::atoi(v.c_str()); });
    pass_on(sub, "--tolerance", "T", "allowed error as a share of an output's largest magnitude",
            [this](const std::string& v) { run_.tolerance = tolerance_of(v); });
    sub->add_flag("--per-node", run_.per_node, "name the first ONNX node that diverges");
    sub->add_flag("--reference", run_.reference, "run the reference interpreter on models beyond 10 GFLOP too");
  }

  CLI::App app_{"ONNX in, one self-contained binary out"};
  Console console_;
  ModelFlags model_;
  BuildFlags build_;
  RunFlags run_;
  std::string node_, cache_what_, cache_size_;
  std::vector<Verb> verbs_;
};

/// What a caller closed is opened again, so that no output takes its number and is printed into.
void open_standard_streams() {
  for (int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(stream, F_GETFD) < 0) (void)!::open("/dev/null", stream == STDERR_FILENO ? O_WRONLY : O_RDONLY);
}

}  // namespace

int run_command_line(int argc, char** argv) {
  open_standard_streams();
  return CommandLine().run(argc, argv);
}

}  // namespace cameo
