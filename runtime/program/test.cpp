// `test`: folders of ONNX test data, or the golden cases that are embedded. Prints for every output the error, the
// tolerance that was used and the one that would pass. Of inputs that an embedded case has too, the case says what is
// right: the result and the folder's data are both judged by it.
#include "runtime/compare.h"
#include "runtime/model.h"
#include "runtime/program/dims.h"
#include "runtime/program/file.h"
#include "runtime/program/session.h"
#include "runtime/program/verbs.h"
#include "runtime/string_heap.h"
#include "runtime/values.h"

namespace rt::program {
namespace {

struct Tester {
  Tool& tool;
  const Flags& flags;
  int cases = 0, checks = 0, failures = 0, wrong_data = 0;
  Slice case_name;
  bool is_first_output = true;
};

void begin_case(Tester& t, Slice name) {
  if (t.flags.json && t.cases) t.tool.out.add("]},");
  if (t.flags.json) {
    t.tool.out.add("{\"name\":");
    t.tool.out.json(name);
    t.tool.out.add(",\"outputs\":[");
  } else {
    t.tool.out.plain(name);
    t.tool.out.add('\n');
  }
  ++t.cases;
  t.case_name = name;
  t.is_first_output = true;
}

// The result, and the data of a folder that an embedded case judges.
struct Check {
  Comparison result, data;
  bool has_data;
  bool is_wrong_data() const { return result.passed && has_data && !data.passed; }
  const char* word() const { return !result.passed ? "FAIL" : is_wrong_data() ? "DATA" : "PASS"; }
  const char* verdict() const { return !result.passed ? "fail" : is_wrong_data() ? "wrong_data" : "pass"; }
};

// As a share of the magnitude, rounded up so that it can be pasted behind --tolerance.
double would_pass(const Comparison& c) {
  if (c.max_error == 0) return 0;
  return c.magnitude > 0 ? c.max_error / c.magnitude * 1.001 : __builtin_inf();
}

void print_worst(Text& out, const char* of, const Io& io, const Comparison& c) {
  if (c.passed) return;
  if (io.dtype == kString)
    return out.format("  %s%lu of %ld differ, the first is %lu", of, c.mismatches, elements(io), c.worst_index);
  out.format("  %s%lu of %ld differ, most at %lu: got %.9g, expected %.9g", of, c.mismatches,
             elements(io) * parts_of_one(io.dtype), c.worst_index, c.got, c.expected);
}

void print_check(Tester& t, const Io& io, const Check& check) {
  const Comparison& c = check.result;
  Text& out = t.tool.out;
  out.format("  %s  ", check.word());
  out.plain(io.name);
  out.format(" %s", io.of ? TypeText(io).text : TypeText(io.dtype, io.rank, io.dims).text);
  if (is_float(io.dtype)) {
    out.format("  max error %.3g  tolerance %.3g", c.max_error, c.tolerance);
    if (check.has_data) out.format("  golden data %.3g of %.3g", check.data.max_error, check.data.tolerance);
    out.format("  the tolerance that would pass %.3g", would_pass(c));
  }
  if (!io.of) print_worst(out, "", io, c);
  if (check.has_data) print_worst(out, "the golden data are wrong: ", io, check.data);
  if (c.passed && !is_float(io.dtype) && !check.is_wrong_data()) out.add("  equal");
  out.add('\n');
}

void print_check_json(Tester& t, const Io& io, const Check& check) {
  const Comparison& c = check.result;
  Text& out = t.tool.out;
  if (!t.is_first_output) out.add(',');
  t.is_first_output = false;
  out.add("{\"name\":"), out.json(Slice(io.name));
  out.format(",\"dtype\":\"%s\",\"passed\":%s,\"verdict\":\"%s\",\"max_error\":", type_info(io.dtype).name,
             c.passed && !check.is_wrong_data() ? "true" : "false", check.verdict());
  out.json(c.max_error), out.add(",\"magnitude\":"), out.json(c.magnitude);
  out.add(",\"tolerance\":"), out.json(c.tolerance);
  out.add(",\"tolerance_that_would_pass\":"), out.json(would_pass(c));
  out.format(",\"mismatches\":%lu,\"worst_index\":%lu,\"got\":", c.mismatches, c.worst_index);
  out.json(c.got), out.add(",\"expected\":"), out.json(c.expected);
  if (check.has_data) {
    out.add(",\"golden\":{\"error\":"), out.json(check.data.max_error);
    out.add(",\"tolerance\":"), out.json(check.data.tolerance);
    out.format(",\"worst_index\":%lu}", check.data.worst_index);
  }
  out.add('}');
}

void add_check(Tester& t, const Io& io, const Check& check) {
  ++t.checks;
  t.failures += !check.result.passed;
  t.wrong_data += check.is_wrong_data();
  if (t.flags.json)
    print_check_json(t, io, check);
  else
    print_check(t, io, check);
}

bool is_input(const Array& array, const void* golden) {
  if (!array.is_strings()) return libc::memcmp(golden, array.data, array.bytes()) == 0;
  bool same = true;
  for (int64_t i = 0; same && i < array.count(); ++i) {
    const rt::Text text = spelled_text(golden, array.count(), i);
    same = array.texts()[i] == Slice(text.data, static_cast<size_t>(text.bytes));
  }
  return same;
}

Comparison compare_texts(const Array& got, const Array& wanted) {
  Comparison c = {};
  for (int64_t i = 0; i < got.count(); ++i)
    if (!(got.texts()[i] == wanted.texts()[i]) && !c.mismatches++) c.worst_index = static_cast<uint64_t>(i);
  c.passed = !c.mismatches;
  return c;
}

// The embedded case whose inputs are these bytes: it knows better tolerances than the default, for its own outputs.
const Golden* golden_of(const Tool& tool, const Values& inputs) {
  const Program& program = *tool.program;
  if (program.lists) return nullptr;  // tolerances are those of all tensors
  for (uint32_t g = 0; g < program.golden_count; ++g) {
    bool same = true;
    for (uint32_t i = 0; same && i < program.symbol_count; ++i)
      same = !is_of_dims(program.symbols[i]) || program.goldens[g].symbols[i] == tool.sizes[i];
    for (int32_t i = 0; same && i < inputs.count; ++i)
      same = !is_list(inputs.items[i]) && is_input(inputs.items[i], program.goldens[g].inputs[i]);
    if (same) return &program.goldens[g];
  }
  return nullptr;
}

Check check_output(const Flags& flags, const Golden* golden, int32_t output, const Array& got, const Array& wanted) {
  if (got.is_strings()) return {compare_texts(got, wanted), {}, false};
  const int64_t count = got.count();
  const double carried = flags.tolerance < 0 && golden && golden->tolerances ? golden->tolerances[output] : -1;
  Tolerance tolerance;
  tolerance.share = flags.tolerance;
  if (carried < 0) return {compare(got.dtype, count, got.data, wanted.data, tolerance), {}, false};
  tolerance.absolute = carried;
  Check check = {compare(got.dtype, count, got.data, golden->outputs[output], tolerance), {}, true};
  tolerance.absolute = tolerance_of(kCarriedGoldenRule, got.dtype, carried, check.result.magnitude);
  check.data = compare(got.dtype, count, wanted.data, golden->outputs[output], tolerance);
  return check;
}

bool have_same_dims(const Array& a, const Array& b) {
  bool same = a.rank == b.rank && a.kind == b.kind;
  for (int32_t d = 0; same && d < a.rank; ++d) same = a.dims[d] == b.dims[d];
  return same;
}

// The tensors of a list, one after the other.
[[gnu::cold]] bool check_list(Tester& t, const Array& got, const Array& want) {
  const bool same = got.kind == want.kind && got.item_count == want.item_count && have_same_dims(got, want);
  if (!same || (!is_list(want) && got.dtype != want.dtype))
    return t.tool.fail(kAccuracy, "output `%.*s` came out with other items, or of another type, than is expected",
                       width(got.name), got.name.data);
  for (int64_t i = 0; i < want.item_count; ++i)
    if (!check_list(t, got.items[i], want.items[i])) return false;
  if (is_list(want)) return true;
  Text name(t.tool.arena);
  name.add(got.name);
  const Io io = {.name = name.c_str(), .dtype = got.dtype, .rank = got.rank, .dims = got.dims};
  add_check(t, io, check_output(t.flags, nullptr, 0, got, want));
  return true;
}

bool test_folder(Tester& t, Session& session, Slice folder) {
  Tool& tool = t.tool;
  Values inputs = new_values(tool, tool.program->input_count), expected = new_values(tool, tool.program->output_count);
  forget_sizes(tool);
  if (!read_data_set(tool, folder, &inputs, &expected)) return false;
  int given = 0;
  for (int32_t i = 0; i < inputs.count; ++i)
    if (!inputs.items[i].data)
      return tool.fail(kBadData, "`%.*s` has no input_%d.pb for input %s", width(folder), folder.data, i,
                       Quoted(tool.program->inputs[i].name).text);
  for (int32_t i = 0; i < expected.count; ++i) given += expected.items[i].data != nullptr;
  if (!given) return tool.fail(kBadData, "`%.*s` has no output_N.pb to compare with", width(folder), folder.data);
  session.set_inputs(inputs);
  if (!session.run()) return false;
  begin_case(t, folder);
  const Values outputs = session.outputs();
  const Golden* golden = golden_of(tool, inputs);
  for (int32_t i = 0; i < expected.count; ++i) {
    const Array &got = outputs.items[i], &want = expected.items[i];
    if (!want.data)
      tool.note("note: `%.*s` has no output_%d.pb", width(folder), folder.data, i);
    else if (is_list(want) && !check_list(t, got, want))
      return false;
    else if (is_list(want))
      continue;
    else if (!have_same_dims(got, want))
      return tool.fail(kAccuracy, "`%.*s`: output %s came out as %s, expected is %s", width(folder), folder.data,
                       Quoted(tool.program->outputs[i].name).text, got.type().text, want.type().text);
    else
      add_check(t, tool.program->outputs[i], check_output(t.flags, golden, i, got, want));
  }
  return true;
}

bool test_folders(Tester& t) {
  Session session(t.tool);
  bool opened = false;
  for (size_t i = 0; i < t.flags.path_count; ++i) {
    Folders folders;
    const Slice path = t.flags.paths[i];
    if (!is_folder(t.tool, path))
      return t.tool.fail(kBadData,
                         "`%.*s` is no folder; `test` takes folders that hold input_0.pb, or test_data_set_0 with it",
                         width(path), path.data);
    if (!find_data_sets(t.tool, path, &folders)) return false;
    if (!opened && !session.open(t.flags)) return false;
    opened = true;
    for (size_t k = 0; k < folders.count; ++k)
      if (!test_folder(t, session, folders.items[k])) return false;
  }
  return true;
}

void report_golden(void* user, const cameo_check* check) {
  Tester& t = *static_cast<Tester*>(user);
  if (!check->output) {
    const Golden& golden = t.tool.program->goldens[t.cases];
    if (t.tool.program->symbol_count) set_symbols(t.tool, golden.symbols);
    if (golden.dims) set_output_dims(t.tool, golden.dims);
    begin_case(t, check->case_name);
  }
  Io io = t.tool.program->outputs[check->output];
  for (const Io* of = io.of; of; of = of->of) io.dtype = of->dtype;  // the type of the numbers in the end
  add_check(t, io,
            {{check->passed != 0, check->max_error, check->magnitude, check->tolerance, check->mismatches,
              check->worst_index, check->expected, check->got},
             {},
             false});
}

bool test_goldens(Tester& t) {
  const cameo_options options = options_of(t.tool, t.flags);
  cameo_error error = new_error();
  if (t.flags.tolerance >= 0) t.tool.note("note: embedded cases have their own tolerances; --tolerance is for folders");
  const cameo_status status = t.tool.api->selftest(&options, report_golden, &t, &error);
  if (status && status != CAMEO_MISMATCH) return t.tool.fail(status, error);
  return true;
}

}  // namespace

bool test_verb(Tool& tool, const Flags& flags) {
  Tester t = {tool, flags, 0, 0, 0, 0, {}, true};
  if (flags.json) {
    tool.out.add("{\"schema\":\"cameo.test\",\"version\":1,\"name\":");
    tool.out.json(Slice(tool.program->name));
    tool.out.add(",\"cases\":[");
  }
  if (!(flags.path_count ? test_folders(t) : test_goldens(t))) return false;
  const bool passed = !t.failures && !t.wrong_data;
  if (flags.json)
    tool.out.format("%s],\"checks\":%d,\"failures\":%d,\"wrong_data\":%d,\"passed\":%s}\n", t.cases ? "]}" : "",
                    t.checks, t.failures, t.wrong_data, passed ? "true" : "false");
  else
    tool.out.format("%d of %d outputs in %d cases passed\n", t.checks - t.failures - t.wrong_data, t.checks, t.cases);
  if (t.failures) return tool.fail(kAccuracy, "%d of %d outputs are outside their tolerance", t.failures, t.checks);
  if (t.wrong_data)
    return tool.fail(
        kAccuracy,
        "the golden data of %d of %d outputs are wrong: the model has what its embedded case has, they do not",
        t.wrong_data, t.checks);
  return true;
}

}  // namespace rt::program
