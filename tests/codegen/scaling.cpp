// The compiler's time grows with the model and not with its square: families of models are imported, optimised, planned
// and printed at n, 2n and 4n nodes, some also compiled to PTX or built into an artifact. What counts is the number of
// allocations, the same on every machine, and processor time, where there is enough of it to measure. Twice as large a
// model may take three times as much; more, twice in a row, is a fault.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "codegen/compile_module.h"
#include "codegen/print_module.h"
#include "frontend/ir/bind_dims.h"
#include "tests/frontend/import/onnx_writer.h"
#include "tests/support/road.h"

namespace {
std::atomic<int64_t> allocations = 0;
}
[[gnu::noinline]] void* operator new(size_t bytes) {
  ++allocations;
  if (void* p = std::malloc(bytes ? bytes : 1)) return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, size_t) noexcept { std::free(p); }

namespace cameo::test {
namespace {

using namespace onnx_text;  // NOLINT: a language of its own
using Dims = std::vector<int64_t>;
constexpr int kFloat = 1, kInt64 = 7, kBool = 9;

Bytes floats(std::string_view name, const Dims& dims, float first = 1) {
  std::vector<float> values(static_cast<size_t>(*element_count(dims)));
  for (size_t i = 0; i < values.size(); ++i) values[i] = first + static_cast<float>(i) / 8;
  return tensor(name, kFloat, dims, values);
}
Bytes ints(std::string_view name, const Dims& values) {
  return tensor(name, kInt64, {static_cast<int64_t>(values.size())}, values);
}
Bytes name(std::string_view stem, int i) { return Bytes(stem) + std::to_string(i); }
std::vector<Bytes> names(std::string_view stem, int n) {
  std::vector<Bytes> all;
  for (int i = 0; i < n; ++i) all.push_back(name(stem, i));
  return all;
}
std::vector<AnyDim> shape(const std::vector<int>& dims) { return {dims.begin(), dims.end()}; }

/// A model with inputs x0, x1 .. of one shape, or x alone.
struct Text : GraphText {
  std::vector<Bytes> functions = {};
  int opset = 21;

  explicit Text(const std::vector<int>& dims = {4}, int count = 0, int type = kFloat) {
    if (!count) inputs.push_back(value("x", type, shape(dims)));
    for (int i = 0; i < count; ++i) inputs.push_back(value(name("x", i), type, shape(dims)));
  }
  void add(std::string_view op, const std::vector<Bytes>& in, const Bytes& out, const std::vector<Bytes>& attrs = {}) {
    nodes.push_back(node(op, in, {out}, attrs));
  }
  void end(const Bytes& last) { outputs.push_back(value(last)); }
  Bytes bytes() const {
    return model(Bytes(*this), {onnx_text::opset("", opset), onnx_text::opset("f", 1)}, functions, 10);
  }
};

/// `link(text, from, i, to)` adds the nodes between two values; n times, from x on.
template <class Link>
Bytes chain(int n, Text text, Link link) {
  Bytes from = "x";
  for (int i = 0; i < n; ++i) {
    link(text, from, i, name("y", i));
    from = name("y", i);
  }
  text.end(from);
  return text.bytes();
}
/// One node after another.
Bytes chain_of(int n, const std::vector<std::string>& ops, const std::vector<int>& dims = {4}) {
  return chain(n, Text(dims), [&](Text& t, const Bytes& x, int i, const Bytes& y) {
    t.add(ops[static_cast<size_t>(i) % ops.size()], {x}, y);
  });
}

Bytes unary(int n) { return chain_of(n, {"Sin", "Tanh", "Relu", "Neg", "Abs"}); }
/// x = f(x) . x: written out as a tree it doubles with each.
Bytes shared(int n) {
  return chain(n, Text(), [](Text& t, const Bytes& x, int i, const Bytes& y) {
    t.add(i % 2 ? "Sin" : "Sigmoid", {x}, name("f", i));
    t.add("Mul", {name("f", i), x}, name("m", i));
    t.add("Add", {name("m", i), name("f", i)}, y);
  });
}
/// Under a fold, where a product's factors are looked at.
Bytes squares(int n) {
  Text text({4, 8});
  text.initializers = {ints("last", {1})};
  text.add("Sin", {"x"}, "y");
  Bytes from = "y";
  for (int i = 0; i < n; ++i) {
    text.add("Mul", {from, from}, name("m", i));
    from = name("m", i);
    if (i % 20 != 19) continue;
    text.add("ReduceSum", {from, "last"}, name("r", i));
    text.add("Add", {name("r", i), "x"}, name("z", i));
    from = name("z", i);
  }
  text.end(from);
  return text.bytes();
}
Bytes diamonds(int n) {
  return chain(n, Text(), [](Text& t, const Bytes& x, int i, const Bytes& y) {
    t.add("Sin", {x}, name("a", i));
    t.add("Cos", {x}, name("b", i));
    t.add("Add", {name("a", i), name("b", i)}, y);
  });
}
Bytes wheres(int n) {
  return chain(n, Text(), [](Text& t, const Bytes& x, int i, const Bytes& y) {
    t.initializers.push_back(floats(name("k", i), {1}, static_cast<float>(i)));
    t.add("Greater", {x, name("k", i)}, name("c", i));
    t.add("Exp", {x}, name("e", i));
    t.add("Where", {name("c", i), x, name("e", i)}, y);
  });
}
Bytes softmaxes(int n) {
  return chain(n, Text({1, 4}), [](Text& t, const Bytes& x, int i, const Bytes& y) {
    t.initializers.push_back(floats(name("k", i), {1}, static_cast<float>(i)));
    t.add("Add", {x, name("k", i)}, name("a", i));
    t.add("Softmax", {name("a", i)}, y);
  });
}
Text with_scale(const std::vector<int>& dims, int64_t channels) {
  Text t(dims);
  t.initializers.push_back(floats("s", {channels}));
  return t;
}
Bytes layer_norms(int n) {
  return chain(n, with_scale({2, 8}, 8), [](Text& t, const Bytes& x, int i, const Bytes& y) {
    t.add("LayerNormalization", {x, "s", "s"}, name("l", i));
    t.add("Add", {name("l", i), x}, y);
  });
}
Bytes group_norms(int n) {
  return chain(n, with_scale({1, 4, 4, 4}, 4), [](Text& t, const Bytes& x, int, const Bytes& y) {
    t.add("GroupNormalization", {x, "s", "s"}, y, {attr("num_groups", int64_t{2})});
  });
}
Bytes batch_norms(int n) {
  return chain(n, with_scale({1, 4, 4, 4}, 4), [](Text& t, const Bytes& x, int i, const Bytes& y) {
    t.add("BatchNormalization", {x, "s", "s", "s", "s"}, name("b", i));
    t.add("Relu", {name("b", i)}, y);
  });
}
Bytes convolution_tower(int n) {
  Text text({1, 4, 8, 8});
  text.initializers.push_back(floats("w", {4, 4, 3, 3}));
  return chain(n, std::move(text), [](Text& t, const Bytes& x, int i, const Bytes& y) {
    t.add("Conv", {x, "w"}, name("c", i), {attr("pads", Dims{1, 1, 1, 1})});
    t.add("Relu", {name("c", i)}, name("r", i));
    t.add("Add", {name("r", i), x}, y);
  });
}
Bytes products(int n) {
  return chain(n, Text({2, 8}), [](Text& t, const Bytes& x, int i, const Bytes& y) {
    t.initializers.push_back(floats(name("w", i), {8, 8}, static_cast<float>(i)));
    t.add("MatMul", {x, name("w", i)}, name("m", i));
    t.add("Tanh", {name("m", i)}, y);
  });
}
/// Each is a kernel of its own.
Bytes widening_products(int n) {
  return chain(n, Text({2, 8}), [](Text& t, const Bytes& x, int i, const Bytes& y) {
    t.initializers.push_back(floats(name("w", i), {8 + i, 9 + i}));
    t.add("MatMul", {x, name("w", i)}, name("m", i));
    t.add("Tanh", {name("m", i)}, y);
  });
}
Bytes attention(int n) {
  Text text({1, 8, 16});
  for (const char* w : {"wq", "wk", "wv"}) text.initializers.push_back(floats(w, {16, 16}));
  text.initializers.push_back(ints("heads", {1, 8, 2, 8}));
  text.initializers.push_back(ints("joined", {1, 8, 16}));
  return chain(n, std::move(text), [](Text& t, const Bytes& x, int i, const Bytes& y) {
    for (Bytes p : {"q", "k", "v"}) {
      t.add("MatMul", {x, "w" + p}, name(p, i));
      t.add("Reshape", {name(p, i), "heads"}, name(p + "r", i));
      t.add("Transpose", {name(p + "r", i)}, name(p + "t", i),
            {attr("perm", p == "k" ? Dims{0, 2, 3, 1} : Dims{0, 2, 1, 3})});
    }
    t.add("MatMul", {name("qt", i), name("kt", i)}, name("a", i));
    t.add("Softmax", {name("a", i)}, name("p", i));
    t.add("MatMul", {name("p", i), name("vt", i)}, name("o", i));
    t.add("Transpose", {name("o", i)}, name("ot", i), {attr("perm", Dims{0, 2, 1, 3})});
    t.add("Reshape", {name("ot", i), "joined"}, name("or", i));
    t.add("Add", {name("or", i), x}, y);
  });
}
Bytes recurrent(int n) {
  Text text({3, 1, 4});
  text.initializers = {floats("w", {1, 16, 4}), floats("r", {1, 16, 4}), ints("one", {1})};
  return chain(n, std::move(text), [](Text& t, const Bytes& x, int i, const Bytes& y) {
    t.add("LSTM", {x, "w", "r"}, name("l", i), {attr("hidden_size", int64_t{4})});
    t.add("Squeeze", {name("l", i), "one"}, y);
  });
}
Bytes wide(int n, std::string_view op) {
  Text t({4}, n);
  t.add(op, names("x", n), "y", op == "Concat" ? std::vector{attr("axis", int64_t{0})} : std::vector<Bytes>());
  t.end("y");
  return t.bytes();
}
Bytes wide_sum(int n) { return wide(n, "Sum"); }
Bytes wide_mean(int n) { return wide(n, "Mean"); }
Bytes wide_max(int n) { return wide(n, "Max"); }
Bytes wide_concat(int n) { return wide(n, "Concat"); }
Bytes wide_split(int n) {
  Text t({n * 4});
  t.nodes.push_back(node("Split", {"x"}, names("p", n), {attr("num_outputs", int64_t{n})}));
  for (int i = 0; i < n; ++i) {
    t.add("Sin", {name("p", i)}, name("y", i));
    t.end(name("y", i));
  }
  return t.bytes();
}
Bytes many_inputs_and_outputs(int n) {
  Text t({4}, n);
  for (int i = 0; i < n; ++i) {
    t.add("Sin", {name("x", i)}, name("y", i));
    t.end(name("y", i));
  }
  return t.bytes();
}
Bytes initializers(int n) {
  return chain(n, Text({8}), [](Text& t, const Bytes& x, int i, const Bytes& y) {
    t.initializers.push_back(floats(name("w", i), {8}, static_cast<float>(i)));
    t.add("Add", {x, name("w", i)}, y);
  });
}
Bytes many_consumers(int n) {
  Text t;
  t.add("Sin", {"x"}, "s");
  for (int i = 0; i < n; ++i) {
    t.initializers.push_back(floats(name("k", i), {1}, static_cast<float>(i)));
    t.add("Mul", {"s", name("k", i)}, name("m", i));
  }
  t.add("Sum", names("m", n), "y");
  t.end("y");
  return t.bytes();
}
Bytes branches(int n) {
  Text text;
  text.inputs.push_back(value("c", kBool, {}));
  return chain(n, std::move(text), [](Text& t, const Bytes& x, int i, const Bytes& y) {
    GraphText yes{{node("Sin", {x}, {name("t", i)})}, {}, {value(name("t", i))}};
    GraphText no{{node("Cos", {x}, {name("e", i)})}, {}, {value(name("e", i))}};
    t.add("If", {"c"}, y, {attr_graph("then_branch", yes), attr_graph("else_branch", no)});
  });
}
Bytes nested_branches(int n) {
  Text t;
  t.inputs.push_back(value("c", kBool, {}));
  GraphText inner{{node("Sin", {"x"}, {"r"})}, {}, {value("r")}};
  for (int i = 0; i < n; ++i) {
    GraphText other{{node("Cos", {"x"}, {name("e", i)})}, {}, {value(name("e", i))}};
    inner = {{node("If", {"c"}, {name("y", i)}, {attr_graph("then_branch", inner), attr_graph("else_branch", other)})},
             {},
             {value(name("y", i))}};
  }
  t.nodes = inner.nodes;
  t.outputs = inner.outputs;
  return t.bytes();
}
Bytes loop_body(int n) {
  GraphText body{{}, {value("i", kInt64, {}), value("go", kBool, {}), value("v", kFloat, {4})}, {value("on")}};
  Bytes x = "v";
  for (int i = 0; i < n; ++i) {
    body.nodes.push_back(node("Tanh", {x}, {name("f", i)}));
    body.nodes.push_back(node("Mul", {name("f", i), x}, {name("m", i)}));
    x = name("m", i);
  }
  body.nodes.push_back(node("Identity", {"go"}, {"on"}));
  body.outputs.push_back(value(x));
  Text t;
  t.initializers.push_back(tensor("trips", kInt64, {}, std::vector<int64_t>{2}));
  t.add("Loop", {"trips", "", "x"}, "y", {attr_graph("body", body)});
  t.end("y");
  return t.bytes();
}
/// Each body is a trial, beside much that is reported once.
Bytes loops_beside_unknown_attributes(int n) {
  return chain(n, Text(), [](Text& t, const Bytes& x, int i, const Bytes& y) {
    if (i == 0) t.initializers = {tensor("trips", kInt64, {}, std::vector<int64_t>{2})};
    GraphText body{{node("Relu", {"v"}, {"r"}), node("Identity", {"go"}, {"on"})},
                   {value("i", kInt64, {}), value("go", kBool, {}), value("v", kFloat, {4})},
                   {value("on"), value("r")}};
    t.add("Loop", {"trips", "", x}, name("l", i), {attr_graph("body", body)});
    t.add("Relu", {name("l", i)}, y, {attr(name("odd", i), int64_t{1})});
  });
}
Bytes functions(int n) {
  Text text;
  constexpr int kDeep = 6;
  for (int i = 0; i < kDeep; ++i)
    text.functions.push_back(function(
        "f", name("F", i), {"a"}, {"b"}, {},
        {i ? node(name("F", i - 1), {"a"}, {"m"}, {}, "f") : node("Sin", {"a"}, {"m"}), node("Relu", {"m"}, {"b"})}));
  return chain(n, std::move(text), [](Text& t, const Bytes& x, int, const Bytes& y) {
    t.nodes.push_back(node(name("F", kDeep - 1), {x}, {y}, {}, "f"));
  });
}
Bytes long_names(int n) {
  return chain(20, Text(), [n](Text& t, const Bytes& x, int i, const Bytes& y) {
    t.nodes.push_back(node("Sin", {x}, {name("m", i)}, {}, "", Bytes(static_cast<size_t>(n), 'A')));
    t.nodes.push_back(node("Relu", {name("m", i)}, {y}, {}, "", Bytes(static_cast<size_t>(n), 'B')));
  });
}
Bytes moves(int n) {
  Text text({4, 6});
  text.initializers = {ints("a", {2, 3, 4}), ints("b", {4, 6})};
  return chain(n, std::move(text), [](Text& t, const Bytes& x, int i, const Bytes& y) {
    t.add("Reshape", {x, "a"}, name("r", i));
    t.add("Transpose", {name("r", i)}, name("t", i), {attr("perm", Dims{1, 0, 2})});
    t.add("Reshape", {name("t", i), "b"}, y);
  });
}
Bytes dim_arithmetic(int n) {
  Text t;
  t.inputs = {value("x", kFloat, {"rows", "columns"}), value("z", kFloat, {"more"})};
  t.add("Shape", {"x"}, "a", {attr("end", int64_t{1})});
  t.add("Shape", {"z"}, "b");
  Bytes from = "a";
  for (int i = 0; i < n; ++i) {
    t.add("Mul", {from, "b"}, name("m", i));
    t.add("Max", {name("m", i), "a"}, name("g", i));
    t.add("Add", {name("g", i), name("m", i)}, name("d", i));
    from = name("d", i);
  }
  t.end(from);
  return t.bytes();
}
Bytes gathers(int n) {
  Text text({4}, 0, kInt64);
  text.inputs.push_back(value("data", kInt64, {16}));
  return chain(n, std::move(text),
               [](Text& t, const Bytes& x, int, const Bytes& y) { t.add("Gather", {"data", x}, y); });
}
Bytes filled(int n) {
  Text t({1});
  t.initializers.push_back(ints("s", {1 << 16}));
  std::vector<Bytes> terms{"x"};
  for (int i = 0; i < n; ++i) {
    t.add("ConstantOfShape", {"s"}, name("a", i), {attr_tensor("value", floats("v", {1}, static_cast<float>(i)))});
    terms.push_back(name("a", i));
  }
  t.add("Sum", terms, "y");
  t.end("y");
  return t.bytes();
}
Bytes casts(int n) {
  return chain(n, Text(), [](Text& t, const Bytes& x, int i, const Bytes& y) {
    t.initializers.push_back(floats(name("k", i), {}, static_cast<float>(i)));
    t.add("Cast", {x}, name("h", i), {attr("to", int64_t{10})});
    t.add("Cast", {name("h", i)}, name("f", i), {attr("to", int64_t{1})});
    t.add("Clip", {name("f", i), "", name("k", i)}, y);
  });
}
Bytes slices(int n) {
  Text text({4 * n + 8});
  text.initializers = {ints("begin", {1}), ints("end", {1l << 40})};
  return chain(n, std::move(text), [](Text& t, const Bytes& x, int i, const Bytes& y) {
    t.add("Slice", {x, "begin", "end"}, name("s", i));
    t.add("Sin", {name("s", i)}, y);
  });
}
Bytes pads(int n) {
  Text text({4});
  text.initializers = {ints("p", {1, 1})};
  return chain(n, std::move(text), [](Text& t, const Bytes& x, int i, const Bytes& y) {
    t.add("Pad", {x, "p"}, name("p", i));
    t.add("Sin", {name("p", i)}, y);
  });
}
Bytes reductions(int n) {
  Text text({4, 8});
  text.initializers = {ints("last", {1})};
  return chain(n, std::move(text), [](Text& t, const Bytes& x, int i, const Bytes& y) {
    t.add("ReduceMax", {x, "last"}, name("m", i));
    t.add("Sub", {x, name("m", i)}, y);
  });
}
Bytes scatters(int n) {
  Text text({8});
  text.initializers = {tensor("at", kInt64, {2, 1}, Dims{1, 3}), floats("u", {2})};
  return chain(n, std::move(text),
               [](Text& t, const Bytes& x, int, const Bytes& y) { t.add("ScatterND", {x, "at", "u"}, y); });
}
Bytes quantized(int n) {
  return chain(n, Text(), [](Text& t, const Bytes& x, int i, const Bytes& y) {
    t.initializers.push_back(floats(name("s", i), {}, static_cast<float>(i + 1)));
    t.add("QuantizeLinear", {x, name("s", i)}, name("q", i));
    t.add("DequantizeLinear", {name("q", i), name("s", i)}, y);
  });
}

enum class Road { Sources, Ptx, Artifact };
struct Family {
  const char* name;
  int n;
  Bytes (*make)(int);
  Road road = Road::Sources;
};
void PrintTo(const Family& f, std::ostream* out) { *out << f.name; }
const Family kFamilies[] = {
    {"attention", 8, attention},
    {"batch_norms", 200, batch_norms},
    {"branches", 80, branches},
    {"casts", 200, casts},
    {"convolution_tower", 40, convolution_tower},
    {"diamonds", 240, diamonds},
    {"dim_arithmetic", 200, dim_arithmetic},
    {"filled", 50, filled},
    {"functions", 80, functions},
    {"gathers", 200, gathers},
    {"group_norms", 40, group_norms},
    {"initializers", 800, initializers},
    {"layer_norms", 80, layer_norms},
    {"long_names", 8000, long_names},
    {"loop_body", 200, loop_body},
    {"loops_beside_unknown_attributes", 100, loops_beside_unknown_attributes},
    {"many_consumers", 240, many_consumers},
    {"many_inputs_and_outputs", 400, many_inputs_and_outputs},
    {"many_inputs_and_outputs_to_artifact", 400, many_inputs_and_outputs, Road::Artifact},
    {"moves", 100, moves},
    {"nested_branches", 10, nested_branches},
    {"pads", 160, pads},
    {"products", 200, products},
    {"products_to_ptx", 20, products, Road::Ptx},
    {"quantized", 160, quantized},
    {"recurrent", 8, recurrent},
    {"reductions", 160, reductions},
    {"scatters", 100, scatters},
    {"shared", 200, shared},
    {"slices", 160, slices},
    {"softmaxes", 120, softmaxes},
    {"squares", 160, squares},
    {"unary", 800, unary},
    {"unary_to_ptx", 50, unary, Road::Ptx},
    {"wheres", 200, wheres},
    {"wide_concat", 240, wide_concat},
    {"wide_max", 600, wide_max},
    {"wide_mean", 600, wide_mean},
    {"wide_split", 240, wide_split},
    {"wide_sum", 600, wide_sum},
    {"widening_products_to_artifact", 8, widening_products, Road::Artifact},
};

struct Cost {
  double allocations = 0, seconds = 0;
};
/// Processor time of this process and of those that it has waited for: each call of lld has one.
double seconds_so_far() {
  double seconds = 0;
  for (int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage used = {};
    getrusage(who, &used);
    for (const timeval& t : {used.ru_utime, used.ru_stime})
      seconds += static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  }
  return seconds;
}
/// In this process, without workers.
void walk(const Module& m, Road road) {
  const BuildOptions here{.jobs = 0, .weights = {}, .progress = {}};
  if (road == Road::Ptx)
    EXPECT_FALSE(ptx_of_module(m, here).empty());
  else if (road == Road::Artifact)
    EXPECT_TRUE(compile_in_memory(m, here).valid());
  else
    EXPECT_FALSE(print_module(m, 1).program.text.empty());
}
Cost compile_here(const Bytes& text, Road road) {
  const int64_t before = allocations;
  const double begin = seconds_so_far();
  const Result imported = import(text);
  EXPECT_FALSE(imported.diagnostics.has_errors()) << imported.text();
  if (imported.diagnostics.has_errors()) return {};
  const Module m = plan_graph(bind_dims(imported.model.graph, {{"rows", 2}, {"columns", 3}, {"more", 4}}), "model",
                              road == Road::Ptx ? gpu_target({"ptx"}) : *find_target("x86-64-v3"));
  walk(m, road);
  return {static_cast<double>(allocations - before), seconds_so_far() - begin};
}
/// In a process of its own, which knows no expressions of the runs before.
Cost compile(const Bytes& text, Road road) {
  int ends[2];
  Cost cost;
  EXPECT_EQ(pipe(ends), 0);
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    cost = compile_here(text, road);
    const bool written = write(ends[1], &cost, sizeof cost) == sizeof cost;
    std::fflush(nullptr);
    _exit(written && !testing::Test::HasFailure() ? 0 : 1);
  }
  close(ends[1]);
  int status = 1;
  EXPECT_EQ(read(ends[0], &cost, sizeof cost), static_cast<ssize_t>(sizeof cost));
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  close(ends[0]);
  return cost;
}

class Scaling : public testing::TestWithParam<Family> {};
TEST_P(Scaling, IsNotQuadratic) {
  constexpr double kMost = 3, kTooShort = 0.05;  // times as much for twice the nodes; seconds
  const Family& f = GetParam();
  const Bytes texts[] = {f.make(f.n), f.make(2 * f.n), f.make(4 * f.n)};
  compile_here(f.make(1), f.road);  // tables that are made once
  Cost least[3];
  for (int run = 0; run < 4; ++run) {  // processor time is noisy: the least of some runs, where it matters
    for (int i = 0; i < 3; ++i) {
      const Cost cost = compile(texts[i], f.road);
      if (run == 0 || cost.seconds < least[i].seconds) least[i] = cost;
    }
    const double first = least[1].seconds / least[0].seconds, second = least[2].seconds / least[1].seconds;
    if (least[2].seconds < kTooShort || first <= kMost || second <= kMost) break;
  }
  const auto grows = [&](double Cost::* what) {
    return least[1].*what > kMost * least[0].*what && least[2].*what > kMost * least[1].*what;
  };
  for (int i = 0; i < 3; ++i)
    std::printf("%5d: %9.0f allocations %7.3f s\n", f.n << i, least[i].allocations, least[i].seconds);
  EXPECT_FALSE(grows(&Cost::allocations));
  EXPECT_FALSE(least[2].seconds >= kTooShort && grows(&Cost::seconds));
}
INSTANTIATE_TEST_SUITE_P(Families, Scaling, testing::ValuesIn(kFamilies),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace cameo::test
