// `test`: folders of ONNX test data, or the golden cases that are embedded. Prints for every output the error, the
// tolerance that was used and the one that would pass.
#include "runtime/compare.h"
#include "runtime/model.h"
#include "runtime/program/file.h"
#include "runtime/program/session.h"
#include "runtime/program/verbs.h"

namespace rt::program {
namespace {

struct Tester {
  Tool& tool;
  const Flags& flags;
  int cases = 0, checks = 0, failures = 0;
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

// As a share of the magnitude, rounded up so that it can be pasted behind --tolerance.
double would_pass(const Comparison& c) {
  if (c.max_error == 0) return 0;
  return c.magnitude > 0 ? c.max_error / c.magnitude * 1.001 : __builtin_inf();
}

void print_check(Tester& t, const Io& io, const Comparison& c) {
  Tool& tool = t.tool;
  ++t.checks;
  t.failures += !c.passed;
  tool.out.format("  %s  ", c.passed ? "PASS" : "FAIL");
  tool.out.plain(io.name);
  tool.out.format(" %s", TypeText(io.dtype, io.rank, io.dims).text);
  if (is_float(io.dtype))
    tool.out.format("  max error %.3g  tolerance %.3g  the tolerance that would pass %.3g", c.max_error, c.tolerance,
                    would_pass(c));
  if (!c.passed)
    tool.out.format("  %lu of %ld differ, most at %lu: got %.9g, expected %.9g", c.mismatches, elements(io),
                    c.worst_index, c.got, c.expected);
  else if (!is_float(io.dtype))
    tool.out.add("  equal");
  tool.out.add('\n');
}

void print_check_json(Tester& t, const Io& io, const Comparison& c) {
  Text& out = t.tool.out;
  ++t.checks;
  t.failures += !c.passed;
  if (!t.is_first_output) out.add(',');
  t.is_first_output = false;
  out.add("{\"name\":"), out.json(Slice(io.name));
  out.format(",\"dtype\":\"%s\",\"passed\":%s,\"max_error\":", type_info(io.dtype).name, c.passed ? "true" : "false");
  out.json(c.max_error), out.add(",\"magnitude\":"), out.json(c.magnitude);
  out.add(",\"tolerance\":"), out.json(c.tolerance);
  out.add(",\"tolerance_that_would_pass\":"), out.json(would_pass(c));
  out.format(",\"mismatches\":%lu,\"worst_index\":%lu,\"got\":", c.mismatches, c.worst_index);
  out.json(c.got), out.add(",\"expected\":"), out.json(c.expected);
  out.add('}');
}

void add_check(Tester& t, int32_t output, const Comparison& c) {
  const Io& io = t.tool.program->outputs[output];
  if (t.flags.json)
    print_check_json(t, io, c);
  else
    print_check(t, io, c);
}

Tolerance tolerance_of(const Flags& flags) {
  Tolerance tolerance;
  if (flags.tolerance >= 0) tolerance.relative = flags.tolerance, tolerance.at_least_ulps = false;
  return tolerance;
}

// The embedded case whose inputs are these bytes: it knows better tolerances than the default, for its own outputs.
const Golden* golden_of(const Program& program, const Values& inputs) {
  for (uint32_t g = 0; g < program.golden_count; ++g) {
    bool same = true;
    for (int32_t i = 0; same && i < inputs.count; ++i)
      same = libc::memcmp(program.goldens[g].inputs[i], inputs.items[i].data, inputs.items[i].bytes()) == 0;
    if (same) return &program.goldens[g];
  }
  return nullptr;
}

Tolerance tolerance_of(const Flags& flags, const Golden* golden, int32_t output, const Array& wanted) {
  Tolerance tolerance = tolerance_of(flags);
  const bool carried = flags.tolerance < 0 && golden && golden->tolerances;
  if (carried && libc::memcmp(golden->outputs[output], wanted.data, wanted.bytes()) == 0)
    tolerance.absolute = golden->tolerances[output];
  return tolerance;
}

bool test_folder(Tester& t, Session& session, Slice folder) {
  Tool& tool = t.tool;
  Values inputs = new_values(tool, tool.program->input_count), expected = new_values(tool, tool.program->output_count);
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
  const Golden* golden = golden_of(*tool.program, inputs);
  for (int32_t i = 0; i < expected.count; ++i) {
    const Array &got = outputs.items[i], &want = expected.items[i];
    if (!want.data)
      tool.note("note: `%.*s` has no output_%d.pb", width(folder), folder.data, i);
    else
      add_check(t, i, compare(got.dtype, got.count(), got.data, want.data, tolerance_of(t.flags, golden, i, want)));
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
  if (!(t.case_name == check->case_name) || !t.cases) begin_case(t, check->case_name);
  add_check(t, check->output,
            {check->passed != 0, check->max_error, check->magnitude, check->tolerance, check->mismatches,
             check->worst_index, check->expected, check->got});
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
  Tester t = {tool, flags, 0, 0, 0, {}, true};
  if (flags.json) {
    tool.out.add("{\"schema\":\"cameo.test\",\"version\":1,\"name\":");
    tool.out.json(Slice(tool.program->name));
    tool.out.add(",\"cases\":[");
  }
  if (!(flags.path_count ? test_folders(t) : test_goldens(t))) return false;
  if (flags.json)
    tool.out.format("%s],\"checks\":%d,\"failures\":%d,\"passed\":%s}\n", t.cases ? "]}" : "", t.checks, t.failures,
                    t.failures ? "false" : "true");
  else
    tool.out.format("%d of %d outputs in %d cases passed\n", t.checks - t.failures, t.checks, t.cases);
  if (t.failures) return tool.fail(kAccuracy, "%d of %d outputs are outside their tolerance", t.failures, t.checks);
  return true;
}

}  // namespace rt::program
