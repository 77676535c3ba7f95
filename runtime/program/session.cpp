// See session.h. An interrupt cancels the run of the one open session.
#include "runtime/program/session.h"

#include "runtime/execute.h"
#include "runtime/model.h"

namespace rt::program {
namespace {

cameo_context* running = nullptr;
const cameo_api* running_api = nullptr;

void cancel_run() { running_api->cancel(running); }

}  // namespace

cameo_status run_once(const Tool& tool, cameo_context* context, const cameo_value* in, cameo_value* out,
                      cameo_error* error) {
  for (uint32_t i = 0; i < tool.program->output_count; ++i)
    out[i] = {sizeof(cameo_value), tool.program->outputs[i].kind, {}, nullptr, 0, nullptr, nullptr};
  return tool.api->run(context, in, static_cast<int32_t>(tool.program->input_count), out,
                       static_cast<int32_t>(tool.program->output_count), nullptr, error);
}

const char* path_of_weights(Tool& tool, const Flags& flags) {
  Text path(tool.arena);
  path.add(flags.weights);
  return flags.weights.empty() ? nullptr : path.c_str();
}

cameo_options options_of(Tool& tool, const Flags& flags) {
  cameo_options options = {};
  options.struct_size = sizeof options;
  tool.api->options_init(&options);
  options.num_threads = flags.threads;
  options.device = flags.device;
  options.weights_path = path_of_weights(tool, flags);
  options.user = &tool;
  options.log = [](void* user, int32_t level, const char* message) {
    if (level) static_cast<Tool*>(user)->note("note: %s", message);
  };
  return options;
}

Session::~Session() {
  set_cancel(nullptr);
  tool_.api->context_release(context_);
  tool_.api->model_release(model_);
}

bool Session::open(const Flags& flags) {
  const cameo_options options = options_of(tool_, flags);
  cameo_error error = new_error();
  const uint64_t start = now_ns();
  cameo_status status = tool_.api->model_create(&options, &model_, &error);
  if (!status) status = tool_.api->context_create(model_, &context_, &error);
  load_ns_ = now_ns() - start;
  if (status) return tool_.fail(status, error);
  in_ = tool_.arena.array<cameo_value>(tool_.program->input_count);
  out_ = tool_.arena.array<cameo_value>(tool_.program->output_count);
  running_api = tool_.api;
  running = context_;
  set_cancel(cancel_run);
  return true;
}

void Session::set_inputs(const Values& inputs) {
  inputs_ = inputs.items;
  for (int32_t i = 0; i < inputs.count; ++i) { in_[i] = value_of(tool_, inputs.items[i]); }
}

bool Session::bind_states(const States& states) {
  cameo_error error = new_error();
  for (const State* state = states.items; state < states.items + states.count; ++state)
    if (cameo_status status = tool_.api->bind_state(context_, state->output, state->input, &error))
      return tool_.fail(status, error);
  return true;
}

bool Session::run() {
  cameo_error error = new_error();
  const uint64_t start = now_ns();
  // An interrupt since the run before has cancelled none.
  const cameo_status status = interrupted() ? CAMEO_CANCELLED : run_once(tool_, context_, in_, out_, &error);
  run_ns_ = now_ns() - start;
  return status ? tool_.fail(status, error) : true;
}

Values Session::outputs() {
  Values values = new_values(tool_, tool_.program->output_count);
  for (int32_t i = 0; i < values.count; ++i) values.items[i] = view(tool_, out_[i], tool_.program->outputs[i].name);
  return values;
}

const char* Session::image() const { return model_->image->name; }
const char* Session::plan() const { return context_->plan ? tool_.program->buckets[context_->plan - 1].name : ""; }
int32_t Session::threads() const { return model_->threads; }

}  // namespace rt::program
