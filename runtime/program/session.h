// A model, a context and its values, as the verbs use them.
#pragma once

#include "runtime/program/data_set.h"
#include "runtime/program/flags.h"
#include "runtime/program/last_words.h"

namespace rt::program {

class Session {
 public:
  explicit Session(Tool& tool) : tool_(tool) {}
  Session(const Session&) = delete;
  ~Session();

  bool open(const Flags& flags);
  bool bind_states(const States& states);
  void set_inputs(const Values& inputs);  // those without data are states
  bool run();
  Values outputs();  // of the last run; they live until the next one
  cameo_context* context() { return context_; }
  cameo_model* model() const { return model_; }
  const cameo_value* inputs() const { return in_; }
  uint64_t load_ns() const { return load_ns_; }
  uint64_t run_ns() const { return run_ns_; }  // of the last run
  const char* image() const;
  const char* plan() const;  // the sizes that the last run's was made for; of the one for all sizes ""
  int32_t threads() const;

 private:
  Tool& tool_;
  cameo_model* model_ = nullptr;
  cameo_context* context_ = nullptr;
  cameo_value *in_ = nullptr, *out_ = nullptr;
  Array* inputs_ = nullptr;
  uint64_t load_ns_ = 0, run_ns_ = 0;
};

// One run of any context; `out` shows memory of the context afterwards.
cameo_status run_once(const Tool& tool, cameo_context* context, const cameo_value* in, cameo_value* out,
                      cameo_error* error);
const char* path_of_weights(Tool& tool, const Flags& flags);  // null: where the artifact looks by itself
cameo_options options_of(Tool& tool, const Flags& flags);     // warnings go to stderr

}  // namespace rt::program
