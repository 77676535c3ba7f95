// See graph_text.h. Every line that makes values is an ONNX node of its own, named as its first result.
#include "tests/support/graph_text.h"

#include <fmt/format.h>

#include <map>
#include <stdexcept>

#include "frontend/ir/operator.h"
#include "tests/support/case.h"
#include "tests/support/tensor_text.h"

namespace cameo::test {
namespace {

std::vector<std::string> list_of(const std::string& text) {  // names between commas
  std::vector<std::string> names;
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.find(',', at), text.size());
    names.push_back(trim(text.substr(at, end - at)));
    at = end + 1;
  }
  return names;
}

struct NodeLine {
  std::vector<std::string> outputs, inputs;
  std::string op, attributes;
  int opset = 0;
};

NodeLine split_node(const std::string& line) {  // A, B = Op@13(X, Y) name=value ..
  size_t equals = line.find('='), open = line.find('(', equals), close = line.find(')', equals);
  if (close == std::string::npos || open > close)
    throw std::runtime_error(fmt::format("`{}` is no line of a model", line));
  NodeLine n{list_of(line.substr(0, equals)), list_of(line.substr(open + 1, close - open - 1)),
             trim(line.substr(equals + 1, open - equals - 1)), trim(line.substr(close + 1))};
  if (size_t at = n.op.find('@'); at != std::string::npos) {
    n.opset = static_cast<int>(to_int(n.op.substr(at + 1)));
    n.op.resize(at);
  }
  return n;
}

/// name=value, with spaces only inside of brackets and quotes.
Attrs parse_attrs(const Operator& op, const std::string& text) {
  Attrs attrs;
  int depth = 0;
  std::string word;
  for (char c : text + " ") {
    if (c == '[') ++depth;
    if (c == ']') --depth;
    if (c == '"') depth ^= 64;
    if (c != ' ' || depth) {
      word += c;
      continue;
    }
    if (size_t at = word.find('='); at != std::string::npos)
      attrs[word.substr(0, at)] = parse_attr(op, word.substr(0, at), word.substr(at + 1));
    else if (!word.empty())
      throw std::runtime_error(fmt::format("`{}` is no attribute", word));
    word.clear();
  }
  return attrs;
}

bool is_node(const std::string& line) {
  std::string rest = line, word = take_word(rest);
  return word != "input" && word != "decides" && word != "const" && word != "output" && word != "body" && word != "end";
}
std::shared_ptr<const Sources> sources_of(const std::vector<std::string>& lines) {
  Sources s;
  for (const std::string& line : lines)
    if (is_node(line)) {
      NodeLine n = split_node(line);
      s.push_back({n.op, n.outputs.at(0), n.outputs[0]});
    }
  return std::make_shared<const Sources>(std::move(s));
}

class ModelReader {
 public:
  explicit ModelReader(const std::vector<std::string>& lines) : sources_(sources_of(lines)) {
    open_.push_back({"", Graph(sources_), {}});
  }

  void take(const std::string& line) {
    std::string rest = line, word = take_word(rest);
    if (word == "input") return take_input(rest);
    if (word == "decides") return take_input(rest, true);
    if (word == "const") return take_constant(rest);
    if (word == "output") return take_output(rest);
    if (word == "body") return void(open_.push_back({rest, Graph(sources_), {}}));
    if (word == "end") return close_body();
    take_node(split_node(line));
  }
  ModelText finish() {
    if (open_.size() != 1) throw std::runtime_error("a `body` without its `end`");
    return {std::move(open_[0].graph), std::move(inputs_)};
  }

 private:
  struct Open {  // the model, and the bodies that are being read
    std::string name;
    Graph graph;
    std::map<std::string, ValueId> values;
  };
  Graph& graph() { return open_.back().graph; }
  ValueId& name(const std::string& name) { return open_.back().values[name]; }

  void take_input(std::string text, bool decides = false) {
    std::string word = take_word(text);
    if (open_.size() > 1 && text.find('?') != std::string::npos) {  // of a body: an element of a list
      name(word) = graph().add_input(word, parse_element_type(text).value());
      return;
    }
    if (text.find_first_of("={") == std::string::npos) text += " = rand:1";
    TypedValue given = parse_value(text);
    name(word) = graph().add_input(word, std::move(given.type));
    if (decides) graph().decide(name(word));
    if (open_.size() == 1) inputs_.push_back(std::move(given.value));
  }
  void take_constant(std::string text) {
    std::string word = take_word(text);
    name(word) = graph().constant(parse_tensor(text), word);
  }
  void take_output(const std::string& text) {
    for (const std::string& word : list_of(text)) graph().add_output(word, value(word));
  }
  void close_body() {
    if (open_.size() == 1) throw std::runtime_error("an `end` without a `body`");
    bodies_[open_.back().name] = std::make_shared<const Graph>(std::move(graph()));
    open_.pop_back();
  }
  /// Takes `bodies=[A, B]` out of the attributes.
  std::vector<std::shared_ptr<const Graph>> take_bodies(std::string& attributes) {
    size_t begin = attributes.find("bodies=["), end = attributes.find(']', begin);
    if (begin == std::string::npos || end == std::string::npos) return {};
    std::vector<std::shared_ptr<const Graph>> bodies;
    for (const std::string& name : list_of(attributes.substr(begin + 8, end - begin - 8)))
      bodies.push_back(bodies_.at(name));
    attributes.erase(begin, end - begin + 1);
    return bodies;
  }
  void take_node(NodeLine n) {
    size_t colons = n.op.find("::");
    std::string domain = colons == std::string::npos ? "" : n.op.substr(0, colons);
    const Operator* op = find_operator(colons == std::string::npos ? n.op : n.op.substr(colons + 2), domain);
    if (!op) throw std::runtime_error(fmt::format("operator `{}` is not declared", n.op));
    std::vector<ValueId> in;
    for (const std::string& word : n.inputs) in.push_back(word == "-" ? ValueId{} : value(word));
    auto bodies = take_bodies(n.attributes);
    std::vector<ValueId> out =
        graph().add(*op, in, parse_attrs(*op, n.attributes), {number_++}, n.opset ? version_at(*op, n.opset) : 0,
                    static_cast<int>(n.outputs.size()), std::move(bodies));
    for (size_t i = 0; i < out.size(); ++i) {
      name(n.outputs[i]) = out[i];
      graph().set_name(out[i], n.outputs[i]);
    }
  }
  ValueId value(const std::string& word) const {
    auto it = open_.back().values.find(word);
    if (it == open_.back().values.end()) throw std::runtime_error(fmt::format("`{}` is not made yet", word));
    return it->second;
  }

  std::shared_ptr<const Sources> sources_;
  std::vector<Open> open_;
  std::map<std::string, std::shared_ptr<const Graph>> bodies_;
  std::vector<Tensor> inputs_;
  uint32_t number_ = 0;
};

// ---- printing -------------------------------------------------------------------------------------------------------
std::string elements_of(const Tensor& t) {
  constexpr int64_t kShown = 4;
  std::string s;
  for (int64_t i = 0; i < std::min(t.size(), kShown); ++i)
    s += (i ? ", " : "") + (is_float(t.dtype()) ? fmt::format("{:.6g}", t.get(i)) : fmt::format("{}", t.get_int(i)));
  return t.size() > kShown ? s + ", .." : s;
}

class GraphPrinter {
 public:
  explicit GraphPrinter(const Graph& g) : g_(g) {}
  std::string print(const std::string& indent) {
    std::string s;
    for (const Node& n : g_.nodes()) {
      std::string out = join(n.outputs, true), in = join(n.inputs, false);  // numbers values in this order
      s += fmt::format("{}{} = {}({})   <- {}\n", indent, out, n.op->name, in, names_of(g_.sources(), n.provenance));
      for (auto& body : n.bodies)
        s += fmt::format("{0}{{\n{1}{0}}}\n", indent, GraphPrinter(*body).print(indent + "  "));
    }
    for (const Port& p : g_.outputs())
      if (std::string v = value(p.value); v != p.name) s += fmt::format("{}output {} = {}\n", indent, p.name, v);
    return s;
  }

 private:
  std::string join(const std::vector<ValueId>& values, bool typed) {
    std::string s;
    for (ValueId v : values) s += (s.empty() ? "" : ", ") + value(v) + (typed && v ? " " + to_string(g_.type(v)) : "");
    return s;
  }
  std::string value(ValueId v) {
    if (!v) return "-";
    if (const Constant& c = g_[v].constant) return fmt::format("{}{{{}}}", to_string(g_.type(v)), elements_of(*c));
    if (!g_[v].name.empty()) return printable(g_[v].name);
    return fmt::format("%{}", numbers_.try_emplace(v, numbers_.size()).first->second);
  }
  const Graph& g_;
  std::map<ValueId, size_t> numbers_;
};

}  // namespace

ModelText parse_model(const std::vector<std::string>& lines) {
  ModelReader reader(lines);
  for (const std::string& line : lines) reader.take(line);
  return reader.finish();
}

std::string print_graph(const Graph& g) { return GraphPrinter(g).print(""); }

std::string names_of(const Sources& sources, const Provenance& provenance) {
  std::string s;
  for (uint32_t o : provenance) s += (s.empty() ? "" : ", ") + printable(sources.at(o).name);
  return s;
}

}  // namespace cameo::test
