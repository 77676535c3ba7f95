// `explain`: a code's meaning, or what became of a model's nodes: which kernel computes them, fused with what, and
// where their values lie. All of it is read off the plan.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "cli/artifact.h"
#include "cli/verbs.h"
#include "optimizer/choose/family.h"
#include "optimizer/clusters/clusters.h"

namespace cameo {
namespace {

const char* const kCodes[] = {
#define DIAGNOSTIC(code, title, text) #code,
#include "frontend/ir/diagnostics.def"
#undef DIAGNOSTIC
};

std::vector<std::string> code_names() { return {std::begin(kCodes), std::end(kCodes)}; }

bool looks_like_code(const std::string& word) {
  return word.size() == 5 && (word[0] == 'E' || word[0] == 'W') &&
         std::all_of(word.begin() + 1, word.end(), [](unsigned char c) { return std::isdigit(c); });
}

int explain_code(Console& console, const std::string& word) {
  const Code* code = find_code(word);
  if (!code)
    throw Failure(kUsage, fmt::format("there is no code `{}`{}", printable(word), suggestion(word, code_names())));
  console.print(fmt::format("{}: {}\n{}\n", word, code_title(*code), code_text(*code)));
  if (console.json) console.document({{"code", word}, {"title", code_title(*code)}, {"text", code_text(*code)}}, kOk);
  return kOk;
}

std::string source_name(const SourceNode& s) { return printable(s.name.empty() ? s.output : s.name); }

std::string names_of(const Provenance& provenance, const Sources& sources, size_t most) {
  std::string text;
  for (size_t i = 0; i < std::min(provenance.size(), most); ++i)
    if (provenance[i] < sources.size())
      text += fmt::format("{}{} {}", i ? ", " : "", printable(sources[provenance[i]].op_type),
                          source_name(sources[provenance[i]]));
  return provenance.size() > most ? fmt::format("{} and {} more", text, provenance.size() - most) : text;
}

Json names_json(const Provenance& provenance, const Sources& sources) {
  Json names = Json::array();
  for (uint32_t o : provenance)
    if (o < sources.size()) names.push_back(source_name(sources[o]));
  return names;
}

std::string refs_text(const Step& s) {
  std::string text;
  for (const Ref& r : s.refs) text += (text.empty() ? "" : ", ") + to_string(r);
  return text;
}

/// The rows of the source list that a word names: a node's name, an output's name, or a number.
std::vector<uint32_t> find_sources(const Sources& sources, const std::string& word) {
  std::vector<uint32_t> found;
  for (uint32_t i = 0; i < sources.size(); ++i)
    if (is_called(sources[i], word)) found.push_back(i);
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (found.empty() && error == std::errc() && end == word.data() + word.size() && number < sources.size())
    found.push_back(number);
  if (!found.empty()) return found;
  std::vector<std::string> known;
  for (const SourceNode& s : sources) known.push_back(s.name.empty() ? s.output : s.name);
  throw Failure(kUsage, fmt::format("the model has no node `{}`{}", printable(word), suggestion(word, known)));
}

class Explainer {
 public:
  Explainer(Console& console, const Planned& planned)
      : console_(console),
        graph_(planned.graphs.at(0)),
        remarks_(planned.remarks),
        plan_(planned.module.plans.at(0)),
        sources_(*planned.module.sources) {}

  void explain_plan(const std::string& model) {
    console_.print(fmt::format("{}: {} ONNX nodes, {} steps of {} kernels for {}, arena {}\n", printable(model),
                               sources_.size(), plan_.steps.size(), plan_.kernels.size(), plan_.target.name,
                               human_bytes(static_cast<uint64_t>(plan_.arena_bytes))));
    print_sizes();
    Json steps = Json::array();
    for (size_t i = 0; i < plan_.steps.size(); ++i) {
      const Step& s = plan_.steps[i];
      if (s.kind != StepKind::Kernel) continue;
      const Kernel& k = plan_.kernels[s.kernel];
      console_.print(fmt::format("{:5} {:<28} {}\n", i, k.symbol, names_of(s.provenance, sources_, 6)));
      steps.push_back({{"step", i},
                       {"kernel", k.symbol},
                       {"family", k.family->name()},
                       {"chunks", s.chunks},
                       {"nodes", names_json(s.provenance, sources_)}});
    }
    document_ = {{"model", model}, {"target", plan_.target.name}, {"arena_bytes", plan_.arena_bytes}, {"steps", steps}};
  }

  void explain_node(const std::string& model, const std::string& word) {
    print_sizes();
    clusters_ = form_clusters(graph_, plan_.target, &refusals_);
    Json nodes = Json::array();
    for (uint32_t source : find_sources(sources_, word)) nodes.push_back(explain_source(source));
    document_ = {{"model", model}, {"target", plan_.target.name}, {"nodes", nodes}};
  }

  Json document_;

 private:
  void print_sizes() {
    if (const std::string sizes = sizes_text(plan_); !sizes.empty())
      console_.print(fmt::format("sizes {}; prices and chunks are those of the largest\n", sizes));
  }

  Json explain_source(uint32_t source) {
    const SourceNode& s = sources_[source];
    console_.print(fmt::format("node {} {} ({})\n", source, source_name(s), printable(s.op_type)));
    Json steps = Json::array();
    const auto is_of = [&](const Provenance& o) { return std::ranges::find(o, source) != o.end(); };
    for (const Claim& c : plan_.claims) {
      const bool is_chain = !c.won.family && c.won.without_family != kExpanded;
      if (is_of(c.provenance))
        console_.print(
            fmt::format("  {}: {}\n", is_chain ? "in strips or apart" : "claimed or expanded", to_string(c)));
    }
    Json remarks = Json::array();
    for (const Remark& r : remarks_) {
      if (!is_of(r.provenance)) continue;
      console_.print(fmt::format("  {}\n", r.text));
      remarks.push_back(r.text);
    }
    explain_clusters(is_of);
    Json apart = explain_neighbours(is_of);
    for (size_t i = 0; i < plan_.steps.size(); ++i)
      if (is_of(plan_.steps[i].provenance)) steps.push_back(explain_step(i));
    if (steps.empty())
      console_.print(
          "  nothing is left of it to run: it was folded into constants, merged with an equal node, only renames "
          "bytes, or feeds no output\n");
    return {{"node", source},     {"name", source_name(s)}, {"op_type", printable(s.op_type)},
            {"remarks", remarks}, {"steps", steps},         {"apart", apart}};
  }

  void explain_clusters(const auto& is_of) {
    for (const Cluster& c : clusters_) {
      std::string ops;
      bool here = false;
      for (NodeId n : c.nodes) {
        ops += (ops.empty() ? "" : " + ") + std::string(graph_[n].op->name);
        here |= is_of(graph_[n].provenance);
      }
      if (!here) continue;
      console_.print(fmt::format("  {} {}\n", c.nodes.size() > 1 ? "fused as" : "alone:", ops));
    }
  }

  /// The nodes in other kernels that make what these nodes read, or read what they make, and why they are apart.
  Json explain_neighbours(const auto& is_of) {
    Json list = Json::array();
    for (const auto& [edge, why] : refusals_) {
      const auto [value, reader] = edge;
      const NodeId maker = graph_[value].producer;
      const bool makes = is_of(graph_[maker].provenance), reads = is_of(graph_[reader].provenance);
      if ((!makes && !reads) || are_fused(clusters_, maker, reader)) continue;
      const Node& other = graph_[makes ? reader : maker];
      const std::string node = names_of(other.provenance, sources_, 1), name = printable(graph_[value].name),
                        both = to_string(why);
      const std::string what = fmt::format(", which {} `{}`", makes ? "reads" : "makes", name);
      console_.print(fmt::format("  not with {}{}: {}\n", node, name.empty() ? "" : what, both));
      Json j{{"node", node}};
      if (!name.empty()) j["value"] = name;  // what an optimization made has none
      j.update({{"reads_it", makes}, {"why", both}});
      list.push_back(std::move(j));
    }
    return list;
  }

  Json explain_step(size_t i) {
    const Step& s = plan_.steps[i];
    const bool kernel = s.kind == StepKind::Kernel;
    const std::string what = kernel ? plan_.kernels[s.kernel].symbol : "control flow";
    console_.print(fmt::format("  step {}: {}\n", i, what));
    Json j{{"step", i}, {"kernel", what}, {"nodes", names_json(s.provenance, sources_)}};
    if (kernel) {
      const Kernel& k = plan_.kernels[s.kernel];
      const bool sized = std::ranges::any_of(k.axes, [](Expr a) { return !a.extent().is_const(); });
      std::string axes;
      for (Expr a : k.axes) axes += (axes.empty() ? "" : sized ? ", " : "x") + to_string(a.extent());
      if (sized) axes = fmt::format("[{}]", axes);
      const std::string choice = k.choice.text();
      console_.print(fmt::format("    {} over {}{}{}, {} chunk{}\n", k.family->name(),
                                 axes.empty() ? "one point" : axes, choice.empty() ? "" : ": ", choice, s.chunks,
                                 s.chunks == 1 ? "" : "s"));
      j.update({{"family", k.family->name()},
                {"axes", axes},
                {"choice", choice},
                {"price_us", k.seconds * 1e6},
                {"chunks", s.chunks},
                {"alternatives", explain_alternatives(k)}});
    }
    console_.print(fmt::format("    operands, what it writes first: {}\n    computes {}\n", refs_text(s),
                               names_of(s.provenance, sources_, 12)));
    for (const Ref& r : s.refs) j["operands"].push_back(to_string(r));
    return j;
  }

  Json explain_alternatives(const Kernel& k) {
    Json list = Json::array();
    if (k.seconds) console_.print(fmt::format("    price {} on one core\n", price_text(k.seconds)));
    for (const Alternative& a : k.alternatives) {
      console_.print(fmt::format("    not {}\n", to_string(a)));
      Json j{{"family", name_of_family(a)}};
      if (a.why_not.empty())
        j.update({{"choice", a.choice.text()}, {"price_us", a.seconds * 1e6}});
      else
        j["why_not"] = a.why_not;
      list.push_back(std::move(j));
    }
    return list;
  }

  Console& console_;
  const Graph& graph_;
  const std::vector<Remark>& remarks_;
  const Plan& plan_;
  const Sources& sources_;
  std::vector<Cluster> clusters_;
  Refusals refusals_;
};

}  // namespace

int explain_verb(Console& console, const ModelFlags& flags, const std::string& node) {
  if (looks_like_code(flags.model) && node.empty()) return explain_code(console, flags.model);
  if (is_artifact(flags.model))
    throw Failure(kUsage, fmt::format("`explain` reads models, and `{}` is built", printable(flags.model)),
                  fmt::format("cameo profile {}", shell_word(flags.model)));
  CompileOptions options = read_model_flags(flags);
  options.targets.resize(1);
  Diagnostics diagnostics;
  Json document{{"model", flags.model}};
  try {
    std::optional<Model> model = load_model(options, console, diagnostics);
    leave_open(model, options, "explain", console, diagnostics);
    if (!diagnostics.has_errors()) {
      const Planned planned = plan_model(*model, options, console, diagnostics);
      Explainer explainer(console, planned);
      if (!diagnostics.has_errors())
        node.empty() ? explainer.explain_plan(flags.model) : explainer.explain_node(flags.model, node);
      if (!explainer.document_.is_null()) document = std::move(explainer.document_);
    }
  } catch (const CompileError& e) { diagnostics.add(e.diagnostic); }
  console.end();
  console.report(diagnostics);
  const int code = exit_code_of(diagnostics);
  if (console.json) console.document(std::move(document), code);
  return code;
}

}  // namespace cameo
