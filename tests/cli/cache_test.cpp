// The cache: a key for whatever reaches an artifact, whole entries or none, and a run that goes on where there can be
// no cache.
#include <fcntl.h>
#include <unistd.h>

#include <functional>
#include <set>
#include <thread>

#include "cli/artifact_key.h"
#include "tests/cli/program.h"
#include "tests/frontend/import/onnx_writer.h"

namespace cameo {
namespace {

using namespace onnx_text;

class Key : public CliTest {
 protected:
  std::string key(const std::string& file, const CompileOptions& options = {}) {
    Diagnostics diagnostics;
    const Model m = import_onnx(folder_ / file, options.import, diagnostics);
    for (const Diagnostic& d : diagnostics.all()) found_ += to_string(d);
    return artifact_key(m, options);
  }
  /// Of a model in a file of its own; none of two models may have the same.
  void expect_new_key(const std::string& how, const Bytes& graph, const std::vector<Bytes>& functions = {}) {
    write("m.onnx", model(graph, {opset("", 18), opset("f", 1)}, functions));
    expect_new_key(how);
  }
  void expect_new_key(const std::string& how) {
    found_.clear();
    const std::string name = key("m.onnx");
    EXPECT_EQ(found_, "") << how;
    EXPECT_TRUE(keys_.emplace(name, how).second) << how << " has the key of " << keys_[name];
    EXPECT_EQ(name, key("m.onnx")) << how;
  }

  std::string found_;
  std::map<std::string, std::string> keys_;
};

/// y = x + what the nodes call `w`.
GraphText add_to_x(std::vector<Bytes> nodes, std::vector<Bytes> initializers = {}) {
  GraphText g;
  nodes.push_back(node("Add", {"x", "w"}, {"y"}));
  g.nodes = std::move(nodes);
  g.inputs = {value("c", 9, {}), value("x", 1, {2})};
  g.outputs = {value("y", 1, {2})};
  g.initializers = std::move(initializers);
  return g;
}
/// A body without inputs whose output is `name`, a tensor.
GraphText body_of(const std::string& name, const std::vector<Bytes>& nodes,
                  const std::vector<Bytes>& initializers = {}) {
  GraphText body;
  body.nodes = nodes;
  body.outputs = {value(name, 1, {2})};
  body.initializers = initializers;
  return body;
}
Bytes if_node(const std::string& output, const Bytes& then, const Bytes& otherwise) {
  return node("If", {"c"}, {output}, {attr_graph("then_branch", then), attr_graph("else_branch", otherwise)});
}
Bytes constant(const std::string& name, const Bytes& attribute) { return node("Constant", {}, {name}, {attribute}); }
Bytes pair(const std::string& name, float v) { return tensor<float>(name, 1, {2}, {v, 2}); }
Bytes sparse(float v) {
  return bytes(1, tensor<float>("w", 1, {1}, {v})) + bytes(2, tensor<int64_t>("", 7, {1}, {1})) + number(3, 2);
}

TEST_F(Key, IsNewForEveryWayThatANumberEnters) {
  for (const float v : {1.f, 1.5f}) {
    const auto how = [&](const char* what) { return std::string(what) + (v == 1 ? " before" : " after"); };
    const Bytes held = pair("t", v), other = body_of("o", {constant("o", attr_tensor("value", pair("", 9)))});
    const Bytes in_constant = body_of("t", {constant("t", attr_tensor("value", held))});
    const Bytes in_initializer = body_of("u", {node("Identity", {"t"}, {"u"})}, {held});
    expect_new_key(how("initializer"), add_to_x({}, {pair("w", v)}));
    expect_new_key(how("typed field"), add_to_x({}, {tensor_head("w", 1, {2}) + real(4, v) + real(4, 2)}));
    expect_new_key(how("tensor attribute"), add_to_x({constant("w", attr_tensor("value", held))}));
    expect_new_key(how("float attribute"), add_to_x({node("Elu", {"x"}, {"w"}, {attr("alpha", v)})}));
    expect_new_key(how("body"), add_to_x({if_node("w", in_constant, other)}));
    expect_new_key(how("body's initializer"), add_to_x({if_node("w", in_initializer, other)}));
    expect_new_key(how("other branch"), add_to_x({if_node("w", other, in_initializer)}));
    expect_new_key(how("body of a body"),
                   add_to_x({if_node("w", body_of("n", {if_node("n", other, in_constant)}), other)}));
    expect_new_key(how("initializer of a body of a body"),
                   add_to_x({if_node("w", body_of("n", {if_node("n", other, in_initializer)}), other)}));
    GraphText sparse_one = add_to_x({});
    sparse_one.sparse = {sparse(v)};
    expect_new_key(how("sparse initializer"), sparse_one);
    expect_new_key(how("sparse attribute"), add_to_x({constant("w", attr("sparse_value", 11, bytes(22, sparse(v))))}));
    expect_new_key(how("function"), add_to_x({node("F", {}, {"w"}, {}, "f")}),
                   {function("f", "F", {}, {"t"}, {}, {constant("t", attr_tensor("value", held))})});
    expect_new_key(how("body in a function"), add_to_x({node("F", {"c"}, {"w"}, {}, "f")}),
                   {function("f", "F", {"c"}, {"t"}, {}, {if_node("t", in_initializer, other)})});
    expect_new_key(how("function's default"), add_to_x({node("F", {"x"}, {"w"}, {}, "f")}),
                   {function("f", "F", {"x"}, {"t"}, {}, {node("Elu", {"x"}, {"t"}, {attr_ref("alpha", 1, "a")})},
                             {attr("a", v)})});
    expect_new_key(how("function's argument"), add_to_x({node("F", {"x"}, {"w"}, {attr("a", v)}, "f")}),
                   {function("f", "F", {"x"}, {"t"}, {"a"}, {node("Elu", {"x"}, {"t"}, {attr_ref("alpha", 1, "a")})})});
  }
}

TEST_F(Key, IsNewForEveryByteOfExternalDataWhereverItIsNamed) {
  const Bytes away = external("t", {2}, "sub/t.bin"),
              other = body_of("o", {constant("o", attr_tensor("value", pair("", 9)))});
  const std::vector<std::pair<std::string, Bytes>> graphs = {
      {"initializer", add_to_x({}, {external("w", {2}, "sub/t.bin")})},
      {"attribute", add_to_x({constant("w", attr_tensor("value", away))})},
      {"body", add_to_x({if_node("w", body_of("u", {node("Identity", {"t"}, {"u"})}, {away}), other)})},
      {"body of a body",
       add_to_x(
           {if_node("w", body_of("n", {if_node("n", other, body_of("t", {constant("t", attr_tensor("value", away))}))}),
                    other)})},
      {"function", add_to_x({node("F", {}, {"w"}, {}, "f")})}};
  for (const auto& [name, graph] : graphs) {
    const Bytes f = function("f", "F", {}, {"t"}, {}, {constant("t", attr_tensor("value", away))});
    for (size_t at = 0; at <= 8; ++at) {  // and all of them as they were
      std::string data(8, '\1');
      if (at < data.size()) data[at] ^= 2;
      write("sub/t.bin", data);
      expect_new_key(name + " byte " + std::to_string(at), graph, {f});
    }
  }
}

TEST_F(Key, IsNewForEveryByteOfTheFile) {
  const std::string bytes = small_model();
  write("m.onnx", bytes);
  std::set<std::string> keys = {key("m.onnx")};
  size_t read = 1;
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string changed = bytes;
    changed[i] ^= 1;
    write("n.onnx", changed);
    Diagnostics diagnostics;
    const Model m = import_onnx(folder_ / "n.onnx", {}, diagnostics);
    if (diagnostics.has_errors()) continue;
    ++read;
    keys.insert(artifact_key(m, {}));
  }
  EXPECT_GT(read, bytes.size() / 8);
  EXPECT_EQ(keys.size(), read);
}

TEST_F(Key, IsNewForEveryFlagThatReachesTheArtifactAndForNoOther) {
  write("m.onnx", small_model());
  std::set<std::string> keys = {key("m.onnx")};
  const std::vector<std::function<void(CompileOptions&)>> changes = {
      [](CompileOptions& o) { o.import.dims["n"] = 2; },
      [](CompileOptions& o) { o.import.dims["n"] = 3; },
      [](CompileOptions& o) { o.import.shapes["x"] = {2, 3}; },
      [](CompileOptions& o) { o.import.constants["x"] = "1"; },
      [](CompileOptions& o) { o.import.constants["x"] = "1|n=2"; },
      [](CompileOptions& o) { o.import.outputs = {"scaled"}; },
      [](CompileOptions& o) { o.import.outputs = {"scaled", "y"}; },
      [](CompileOptions& o) { o.targets = {*find_target("x86-64-v2")}; },
      [](CompileOptions& o) { o.targets = {*find_target("x86-64-v2"), *find_target("x86-64-v3")}; },
      [](CompileOptions& o) { o.targets = {gpu_target({"ptx"})}; },
      [](CompileOptions& o) { o.reduce_overhead = true; },
      [](CompileOptions& o) { o.on_host = {"scale"}; },
      [](CompileOptions& o) { o.skip = {"fold_constants"}; },
      [](CompileOptions& o) { o.rewrite_limit = 7; },
      [](CompileOptions& o) { o.name = "other"; }};
  for (const auto& change : changes) {
    CompileOptions options;
    change(options);
    EXPECT_TRUE(keys.insert(key("m.onnx", options)).second) << keys.size();
  }
  CompileOptions same;
  same.jobs = 7;
  same.verify_each = same.time_passes = true;
  same.output = "elsewhere";
  EXPECT_EQ(key("m.onnx", same), key("m.onnx"));
}

TEST_F(Key, IsThatOfACopyWhateverItsNameAndFolder) {
  fs::create_directory(folder_ / "copy");
  write("sub/t.bin", std::string(8, '\1'));
  write("m.onnx", model(add_to_x({}, {external("w", {2}, "sub/t.bin")})));
  fs::copy(folder_ / "sub", folder_ / "copy/sub");
  fs::copy(folder_ / "m.onnx", folder_ / "copy/another.onnx");
  EXPECT_EQ(key("m.onnx"), key("copy/another.onnx"));
}

TEST_F(Key, AFileThatIsWrittenToOrReplacedHasChanged) {
  write("f", "one");
  const MappedFile file = map_file(folder_ / "f");
  EXPECT_TRUE(is_unchanged(file));
  write("f", "two");
  EXPECT_FALSE(is_unchanged(file));
  write("g", "one");
  const MappedFile replaced = map_file(folder_ / "g");
  fs::rename(folder_ / "f", folder_ / "g");
  EXPECT_FALSE(is_unchanged(replaced));
  fs::remove(folder_ / "g");
  EXPECT_FALSE(is_unchanged(replaced));
}

// ---- entries --------------------------------------------------------------------------------------------------------
class Cache : public CliTest {
 protected:
  std::vector<fs::path> entries() const {
    std::vector<fs::path> found;
    std::error_code none;
    for (const auto& e : fs::recursive_directory_iterator(folder_ / "cache", none))
      if (e.is_regular_file()) found.push_back(e.path());
    return found;
  }
  Ended run_small(const std::string& file = "small.onnx", RunOptions options = {}) {
    return cameo({"run", file, "-i", "[[1,2,3]]"}, std::move(options));
  }
  void expect_right(const Ended& e) {
    EXPECT_EQ(e.code, 0) << e.err;
    EXPECT_TRUE(has(e.out, "[2, 0, 10]"));
  }
  const std::string small_ = write("small.onnx", small_model());
};

TEST_F(Cache, ARenamedCopyHitsAndIsCalledByItsOwnName) {
  expect_right(run_small());
  fs::create_directory(folder_ / "elsewhere");
  fs::copy(small_, folder_ / "elsewhere/other.onnx");
  const Ended e = cameo({"run", "elsewhere/other.onnx", "-i", "[[1,2,3]]", "--json"});
  EXPECT_EQ(e.json()["name"], "other") << e.err;
  EXPECT_EQ(entries().size(), 1u);
}

TEST_F(Cache, AWeightThatChangedInABodyChangesTheAnswer) {
  for (const float v : {1.f, 2.f}) {
    const Bytes then = body_of("t", {constant("t", attr_tensor("value", pair("", v)))});
    const Bytes otherwise = body_of("o", {constant("o", attr_tensor("value", pair("", 9)))});
    write("m.onnx", model(add_to_x({if_node("w", then, otherwise)})));
    const Ended e = cameo({"run", "m.onnx", "-i", "c=true", "-i", "x=[0,0]"});
    EXPECT_TRUE(has(e.out, v == 1 ? "[1, 2]" : "[2, 2]")) << e.err;
  }
}

TEST_F(Cache, WhatWasDamagedIsBuiltAnew) {
  expect_right(run_small());
  ASSERT_EQ(entries().size(), 1u);
  const std::string entry = fs::relative(entries()[0], folder_), whole = read(entry);
  EXPECT_EQ(fs::status(entries()[0]).permissions(), fs::perms::owner_all);
  std::string flipped = whole;
  flipped[flipped.size() / 2] ^= 1;
  for (const std::string& damaged : {whole.substr(0, whole.size() / 2), std::string(), std::string("no artifact"),
                                     flipped, whole.substr(0, whole.size() - 1), whole + "x"}) {
    write(entry, damaged);
    expect_right(run_small());
    EXPECT_EQ(read(entry), whole);
  }
}

TEST_F(Cache, AnEntryIsNotTakenForAnother) {
  expect_right(run_small());
  const std::string one = fs::relative(entries()[0], folder_), bytes = read(one);
  ASSERT_EQ(cameo({"run", small_, "-i", "[[1,2,3],[1,2,3]]"}).code, 0);
  for (const fs::path& entry : entries()) write(fs::relative(entry, folder_), bytes);
  const Ended e = cameo({"run", small_, "-i", "[[1,2,3],[1,2,3]]"});
  EXPECT_TRUE(has(e.out, "f32[2,3]")) << e.err;
}

TEST_F(Cache, WithoutACacheARunIsANoteLonger) {
  const std::string file = write("file", "");
  for (const char* place : {"/proc/nowhere", "/dev/null", file.c_str()}) {
    RunOptions options;
    options.folder = folder_;
    options.variables = {std::string("XDG_CACHE_HOME=") + place};
    for (const Words& words : {Words{"run", small_, "-i", "[[1,2,3]]"}, Words{"test", small_, "--dim", "n=1"}}) {
      const Ended e = run_program(CAMEO_PROGRAM, words, options);
      EXPECT_EQ(e.code, 0) << e.err;
      EXPECT_TRUE(has(e.err, "note: what was built is not kept"));
    }
    EXPECT_EQ(run_program(CAMEO_PROGRAM, {"doctor"}, options).code, 0);
    EXPECT_EQ(run_program(CAMEO_PROGRAM, {"cache"}, options).code, 0);
    EXPECT_EQ(run_program(CAMEO_PROGRAM, {"cache", "clean"}, options).code, 2);
  }
}

TEST_F(Cache, WithoutAHomeItLiesInTheFolderForTemporaryFiles) {
  RunOptions options;
  options.folder = folder_;
  options.variables = {"XDG_CACHE_HOME=", "HOME=", "TMPDIR=" + folder_.string()};
  const Ended e = run_program(CAMEO_PROGRAM, {"cache", "--json"}, options);
  EXPECT_EQ(e.json()["folder"], (folder_ / ("cameo-" + std::to_string(::geteuid()))).string());
}

TEST_F(Cache, WhatOthersCanWriteIsNotTrusted) {
  expect_right(run_small());
  fs::permissions(entries()[0], fs::perms::all);
  expect_right(run_small());
  EXPECT_EQ(fs::status(entries()[0]).permissions(), fs::perms::owner_all) << "built anew";
  fs::permissions(folder_ / "cache/cameo", fs::perms::all);
  const Ended e = run_small();
  expect_right(e);
  EXPECT_TRUE(has(e.err, "can be written by other users"));
}

TEST_F(Cache, WhatWasUsedLongestAgoGoesFirst) {
  const auto run_rows = [&](const std::string& rows) {
    EXPECT_EQ(cameo({"run", small_, "-i", "[" + rows + "]"}).code, 0);
    return entries().size();
  };
  EXPECT_EQ(run_rows("[1,2,3]"), 1u);
  const fs::path oldest = entries()[0];
  EXPECT_EQ(run_rows("[1,2,3],[1,2,3]"), 2u);
  EXPECT_EQ(run_rows("[1,2,3]"), 2u);  // now the other one is the oldest
  const uint64_t bytes = cameo({"cache", "--json"}).json()["bytes"];
  ASSERT_EQ(cameo({"cache", "limit", std::to_string(bytes + 100)}).code, 0);
  EXPECT_EQ(run_rows("[1,2,3],[1,2,3],[1,2,3]"), 3u) << "two artifacts and the limit";
  EXPECT_TRUE(fs::exists(oldest));
  ASSERT_EQ(cameo({"cache", "limit", "0"}).code, 0);
  EXPECT_EQ(cameo({"cache", "--json"}).json()["artifacts"], 0);
  expect_right(run_small());
  EXPECT_EQ(cameo({"cache", "--json"}).json()["artifacts"], 0);
}

TEST_F(Cache, ShowsItselfAndCleansNothingElse) {
  auto j = cameo({"cache", "--json"}).json();
  EXPECT_EQ(j["artifacts"], 0);
  EXPECT_EQ(j["limit_bytes"], 8'000'000'000);
  expect_right(run_small());
  write("cache/cameo/notes.txt", "not ours");
  EXPECT_EQ(cameo({"cache", "limit", "1.5 GB"}).code, 0);
  j = cameo({"cache", "--json"}).json();
  EXPECT_EQ(j["schema"], "cameo.cache");
  EXPECT_EQ(j["folder"], (folder_ / "cache/cameo").string());
  EXPECT_EQ(j["artifacts"], 1);
  EXPECT_GT(j["bytes"], 10'000);
  EXPECT_EQ(j["limit_bytes"], 1'500'000'000);
  j = cameo({"cache", "clean", "--json"}).json();
  EXPECT_EQ(j["removed"]["artifacts"], 1);
  EXPECT_EQ(j["artifacts"], 0);
  EXPECT_EQ(j["limit_bytes"], 1'500'000'000);
  EXPECT_EQ(read("cache/cameo/notes.txt"), "not ours");
  for (const Words& wrong : {Words{"limit"}, Words{"limit", "much"}, Words{"limit", "-1"}, Words{"clean", "all"},
                             Words{"claen"}, Words{"limit", "1", "2"}, Words{"limit", "1e30"}}) {
    Words words{"cache"};
    words.insert(words.end(), wrong.begin(), wrong.end());
    EXPECT_EQ(cameo(words).code, 2) << testing::PrintToString(words);
  }
}

TEST_F(Cache, WaitsForWhoeverHoldsAnEntryOpenForWriting) {
  expect_right(run_small());
  ASSERT_EQ(entries().size(), 1u);
  const int writer = ::open(entries()[0].c_str(), O_WRONLY | O_CLOEXEC);
  ASSERT_GE(writer, 0);
  std::thread closes([writer] {
    ::usleep(300'000);
    ::close(writer);
  });
  expect_right(run_small());
  closes.join();
}

TEST_F(Cache, ManyAtOnceAllSucceed) {
  for (const char* limit : {"1GB", "0"}) {
    ASSERT_EQ(cameo({"cache", "limit", limit}).code, 0);
    std::vector<Ended> ended(6);
    std::vector<std::thread> threads;
    for (Ended& e : ended) threads.emplace_back([&] { e = run_small(); });
    for (std::thread& t : threads) t.join();
    for (const Ended& e : ended) expect_right(e);
  }
  EXPECT_EQ(cameo({"cache", "--json"}).json()["artifacts"], 0);
}

}  // namespace
}  // namespace cameo
