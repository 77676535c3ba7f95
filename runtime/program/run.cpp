// `run`: inputs, one run or several steps, outputs.
#include "runtime/program/file.h"
#include "runtime/program/output.h"
#include "runtime/program/session.h"
#include "runtime/program/verbs.h"

namespace rt::program {
namespace {

bool print_results(Tool& tool, const Session& session, const Values& outputs, const Flags& flags) {
  if (flags.json) {
    tool.out.add("{\"schema\":\"cameo.run\",\"version\":1,\"name\":");
    tool.out.json(Slice(tool.program->name));
    tool.out.format(",\"run_ns\":%lu,\"outputs\":[", session.run_ns());
    for (int32_t i = 0; i < outputs.count; ++i) tool.out.add(i ? "," : ""), print_json(tool, outputs.items[i]);
    tool.out.add("]}\n");
  }
  for (size_t i = 0; i < flags.output_count; ++i)
    if (!emit_output(tool, flags.outputs[i], outputs)) return false;
  for (int32_t i = 0; i < outputs.count && !flags.output_count && !flags.json; ++i)
    print_summary(tool, outputs.items[i]);
  return true;
}

struct Taps {
  Tool& tool;
  Arrays arrays;
  size_t capacity;
};

Slice tap_name(Taps& taps, const char* name) {  // again and again inside a loop: name, name#1, name#2 ...
  Text text(taps.tool.arena);
  size_t seen = 0;
  for (size_t i = 0; i < taps.arrays.count; ++i) {
    const Slice other = taps.arrays.items[i].name;
    seen += other == name || (other.starts_with(name) && other[libc::strlen(name)] == '#');
  }
  text.format(seen ? "%s#%zu" : "%s", name, seen);
  return text.slice();
}

void keep_tap(void* user, const cameo_tap* tap) {
  Taps& taps = *static_cast<Taps*>(user);
  if (taps.arrays.count == taps.capacity) {
    Array* larger = taps.tool.arena.array<Array>(taps.capacity * 2);
    for (size_t i = 0; i < taps.capacity; ++i) larger[i] = taps.arrays.items[i];
    taps.arrays.items = larger;
    taps.capacity *= 2;
  }
  const Array seen = view(*tap->tensor, tap_name(taps, tap->name));
  Array& copy = taps.arrays.items[taps.arrays.count++] = seen;
  copy.data = static_cast<char*>(taps.tool.arena.take(seen.bytes()));
  libc::memcpy(copy.data, seen.data, seen.bytes());
}

bool run_with_taps(Tool& tool, Session& session, Slice path) {
  Taps taps = {tool, {tool.arena.array<Array>(64), 0}, 64};
  cameo_error error = new_error();
  if (cameo_status status = tool.api->tap(session.context(), keep_tap, &taps, &error)) return tool.fail(status, error);
  Text bytes(tool.arena);
  return session.run() && write_npz(tool, taps.arrays, &bytes) && write_file(tool, path, bytes.slice());
}

bool run_steps(Tool& tool, Session& session, const Flags& flags, const States& states, Values inputs) {
  for (int64_t step = 1; step < flags.steps; ++step) {
    session.set_inputs(inputs);
    if (!session.run() || !step_inputs(tool, flags, states, session.outputs(), &inputs)) return false;
  }
  session.set_inputs(inputs);
  return flags.taps.empty() ? session.run() : run_with_taps(tool, session, flags.taps);
}

}  // namespace

bool run_verb(Tool& tool, const Flags& flags) {
  Values inputs = new_values(tool, tool.program->input_count);
  States states;
  Session session(tool);
  if (flags.path_count)
    return tool.fail(kUsage, "`run` takes no `%.*s`; inputs are given as `-i NAME=VALUE`", width(flags.paths[0]),
                     flags.paths[0].data);
  for (size_t i = 0; i < flags.output_count; ++i)
    if (!check_output(tool, flags.outputs[i], flags.json)) return false;
  if (!parse_states(tool, flags, &states) || !add_inputs(tool, flags, &inputs)) return false;
  if (!require_inputs(tool, inputs, states) || !session.open(flags)) return false;
  if (!session.bind_states(states) || !run_steps(tool, session, flags, states, inputs)) return false;
  return print_results(tool, session, session.outputs(), flags);
}

}  // namespace rt::program
