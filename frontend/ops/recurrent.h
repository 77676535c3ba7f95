// What RNN, GRU and LSTM share. The input product of all steps is one MatMul; the recurrence is a Loop a direction over
// xw[t] and the states, of which the first is the hidden one. A sequence shorter than the batch's keeps its state
// beyond its length, where its outputs are zero; running backwards the same rule starts it at its own end.
#pragma once
#include <fmt/format.h>

#include <algorithm>

#include "frontend/ir/build.h"
#include "frontend/ops/window.h"

namespace cameo::ops {

struct Activation {
  std::string name;  // lower case
  double alpha = 0, beta = 0;
};

inline ValueId activate(Build& b, const Activation& f, ValueId x) {
  if (f.name == "affine") return b.add(b.mul(x, b.like(x, f.alpha)), b.like(x, f.beta));
  if (f.name == "scaledtanh") return b.mul(b.op("Tanh", {b.mul(x, b.like(x, f.beta))}), b.like(x, f.alpha));
  if (f.name == "hardsigmoid") return b.op("HardSigmoid", {x}, {{"alpha", f.alpha}, {"beta", f.beta}});
  if (f.name == "leakyrelu") return b.op("LeakyRelu", {x}, {{"alpha", f.alpha}});
  if (f.name == "thresholdedrelu") return b.op("ThresholdedRelu", {x}, {{"alpha", f.alpha}});
  if (f.name == "elu") return b.op("Elu", {x}, {{"alpha", f.alpha}});
  if (f.name == "relu") return b.op("Relu", {x});
  if (f.name == "sigmoid") return b.op("Sigmoid", {x});
  if (f.name == "softsign") return b.op("Softsign", {x});
  if (f.name == "softplus") return b.op("Softplus", {x});
  return b.op("Tanh", {x});
}

/// The activations of all directions, `defaults` for each; activation_alpha and _beta feed only those that take them.
inline std::vector<Activation> activations(const NodeView& n, int directions, std::vector<std::string> defaults) {
  struct Row {
    std::string_view name;
    int parameters;
    double alpha, beta;
  };
  static constexpr Row kRows[] = {
      {"affine", 2, 1, 0},   {"elu", 1, 1, 0},        {"hardsigmoid", 2, 0.2, 0.5}, {"leakyrelu", 1, 0.01, 0},
      {"relu", 0, 0, 0},     {"scaledtanh", 2, 1, 1}, {"sigmoid", 0, 0, 0},         {"softplus", 0, 0, 0},
      {"softsign", 0, 0, 0}, {"tanh", 0, 0, 0},       {"thresholdedrelu", 1, 1, 0}};
  std::vector<std::string> names;
  if (n.has_attr("activations")) names = n.attr_strings("activations");
  if (names.empty())
    for (int d = 0; d < directions; ++d) names.insert(names.end(), defaults.begin(), defaults.end());
  if (names.size() != defaults.size() * directions)
    n.fail(Code::E0204,
           fmt::format("`activations` has {} entries, {} are needed", names.size(), defaults.size() * directions));
  std::vector<double> alphas, betas;
  if (n.has_attr("activation_alpha")) alphas = n.attr_floats("activation_alpha");
  if (n.has_attr("activation_beta")) betas = n.attr_floats("activation_beta");
  size_t next_alpha = 0, next_beta = 0;
  std::vector<Activation> result;
  for (std::string name : names) {
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    auto row = std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& r) { return r.name == name; });
    if (row == std::end(kRows)) n.fail(Code::E0204, fmt::format("`activations` holds `{}`", printable(name)));
    Activation f{name, row->alpha, row->beta};
    if (row->parameters > 0 && next_alpha < alphas.size()) f.alpha = alphas[next_alpha++];
    if (row->parameters > 1 && next_beta < betas.size()) f.beta = betas[next_beta++];
    result.push_back(f);
  }
  return result;
}

/// Where things stand in a recurrent node's shapes.
struct RecurrentShape {
  bool batch_first = false, forward = true, backward = false;
  int directions = 1;
  Dim steps, batch;
  int64_t hidden = 0;
};

/// `columns`: a column of W and R is what a gate takes, not a row.
inline RecurrentShape recurrent_shape(const NodeView& n, int gates, bool columns = false) {
  RecurrentShape s;
  for (int i = 0; i < 3; ++i)
    if (n.rank(i) != 3)
      n.fail(Code::E0302,
             fmt::format("`{}` is {}, it must have rank 3", n.node().op->inputs[i].name, to_string(n.type(i))));
  const int64_t layout = n.attr_int("layout");
  if (layout != 0 && layout != 1) n.fail(Code::E0204, fmt::format("`layout` is {}, neither 0 nor 1", layout));
  s.batch_first = layout == 1;
  if (n.has_attr("clip") && !(n.attr_float("clip") > 0))
    n.fail(Code::E0204, fmt::format("`clip` is {}, it must be above 0", n.attr_float("clip")));
  std::string direction = n.attr_string("direction");
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
    n.fail(Code::E0204, fmt::format("`direction` is `{}`", printable(direction)));
  s.forward = direction != "reverse";
  s.backward = direction != "forward";
  s.directions = s.forward + s.backward;
  s.steps = n.shape(0)[s.batch_first];
  s.batch = n.shape(0)[!s.batch_first];
  const Shape& r = n.shape(2);
  if (!is_static(r))
    n.fail(Code::E0404, fmt::format("R is {}: its shape must be known when compiling", to_string(n.type(2))));
  s.hidden = r[columns ? 1 : 2].value();
  auto fits = [&](const Dim& d, int64_t v) { return n.agree(d, v); };
  const Shape& w = n.shape(1);
  const size_t to = columns ? 2 : 1, from = 3 - to;
  bool same_input = n.agree(w[from], n.shape(0)[2]);
  if (!fits(r[0], s.directions) || !fits(r[to], gates * s.hidden) || !fits(w[0], s.directions) ||
      !fits(w[to], gates * s.hidden) || !same_input ||
      (n.has_attr("hidden_size") && n.attr_int("hidden_size") != s.hidden))
    n.fail(Code::E0302, fmt::format("X is {}, W {} and R {} with {} direction(s): they do not fit",
                                    to_string(n.type(0)), to_string(n.type(1)), to_string(n.type(2)), s.directions));
  Dim d = s.directions, h = s.hidden;
  const Shape state = s.batch_first ? Shape{s.batch, d, h} : Shape{d, s.batch, h};
  check_shape(n, 3, {d, 2 * gates * s.hidden}, "directions x the biases of W and of R");
  check_shape(n, 4, {s.batch}, "one length a sequence");
  check_shape(n, 5, state, "a hidden state for each direction and sequence");
  check_shape(n, 6, state, "a cell state for each direction and sequence");
  check_shape(n, 7, {d, 3 * s.hidden}, "directions x the peepholes of i, o and f");
  check_lengths(n, 4, s.steps);
  return s;
}

/// Y, Y_h and, where the cell has one, Y_c.
inline void infer_recurrent(Infer& n, int gates, bool columns = false) {
  RecurrentShape s = recurrent_shape(n, gates, columns);
  Dim d = s.directions, h = s.hidden;
  n.output(0, n.dtype(), s.batch_first ? Shape{s.batch, s.steps, d, h} : Shape{s.steps, d, s.batch, h});
  for (int i = 1; i < 3; ++i) n.output(i, n.dtype(), s.batch_first ? Shape{s.batch, d, h} : Shape{d, s.batch, h});
}

class Recurrent {
 public:
  enum Input { X, W, R, B, Lengths, InitialH, InitialC, Peepholes };
  /// The new states for a step's xw[t] + bias and the old states; called for each direction's loop body.
  using Cell = std::function<std::vector<ValueId>(Build& b, ValueId x, std::span<const ValueId> state)>;

  /// A value times W or R of a direction, in the body of a loop or outside.
  using Product = std::function<ValueId(Build& b, ValueId v)>;

  Recurrent(const NodeView& n, int gates, bool columns = false)
      : shape(recurrent_shape(n, gates, columns)), n_(n), b(n), type_(accumulator(n.dtype())) {
    x_ = b.cast(b.in(X), type_);
    if (shape.batch_first) x_ = b.transpose(x_, {1, 0, 2});
    if (n.has_attr("clip")) clip_ = n.attr_float("clip");
  }
  virtual ~Recurrent() = default;

  /// One direction's part of an input of [directions, ..]; null when the input is absent.
  ValueId part(int input, int direction) {
    if (!b.in(input)) return {};
    return b.squeeze(b.slice(b.cast(b.in(input), type_), 0, direction, direction + 1), {0});
  }
  virtual Product product(int input, int direction) {
    const ValueId matrix = b.transpose(part(input, direction), {1, 0});
    return [this, matrix](Build& s, ValueId v) { return s.matmul(v, within(s, matrix)); };
  }
  /// R of a direction for the product h * R: [hidden, gates * hidden].
  ValueId recurrence(int direction) { return b.transpose(part(R, direction), {1, 0}); }
  ValueId gate(Build& s, ValueId v, int k) { return s.slice(v, -1, k * shape.hidden, (k + 1) * shape.hidden); }
  /// The input of an activation, clipped if the node says so.
  ValueId act(Build& s, const Activation& f, ValueId v) {
    if (clip_) v = s.op("Clip", {v, s.like(v, -*clip_), s.like(v, *clip_)});
    return activate(s, f, v);
  }

  /// Runs one direction; `bias` (may be null) has gates * hidden elements.
  void run(int direction, int states, ValueId bias, const Cell& cell) {
    bool back = shape.backward && (direction == 1 || !shape.forward);
    ValueId xw = product(W, direction)(b, x_);
    if (bias) xw = b.add(xw, bias);
    std::vector<ValueId> initial;
    for (int i = 0; i < states; ++i) initial.push_back(initial_state(InitialH + i, direction));
    if (shape.steps.is_static(0)) {  // the states stay as they are
      ys_.push_back(b.unsqueeze(gate(b, xw, 0), {1}));
      for (int i = 0; i < states; ++i) finals_[i].push_back(b.unsqueeze(initial[i], {0}));
      return;
    }
    ValueId trips = step_count(), last = back ? b.sub(trips, b.scalar(DType::i64, 1)) : ValueId{};
    auto out = b.loop(trips, initial, [&](Build& s, ValueId i, std::span<const ValueId> state) {
      ValueId t = back ? s.sub(s.capture(last), i) : i;
      auto next = cell(s, s.gather(s.capture(xw), t), state);
      ValueId y = next[0];
      if (b.in(Lengths)) {
        ValueId within = s.op("Less", {s.cast(t, DType::i32), s.capture(b.in(Lengths))});
        within = s.unsqueeze(within, {1});
        for (size_t k = 0; k < next.size(); ++k) next[k] = s.op("Where", {within, next[k], state[k]});
        y = s.op("Where", {within, y, s.like(y, 0)});
      }
      return Build::Step{next, {y}};
    });
    ValueId y = out[states];
    ys_.push_back(b.unsqueeze(back ? b.slice(y, 0, -1, INT64_MIN, -1) : y, {1}));
    for (int i = 0; i < states; ++i) finals_[i].push_back(b.unsqueeze(out[i], {0}));
  }

  Composite outputs(int states) {
    std::vector<ValueId> result{finish(ys_, 1, {2, 0, 1, 3})};
    for (int i = 0; i < states; ++i) result.push_back(finish(finals_[i], 0, {1, 0, 2}));
    return b.outputs(result);
  }

  RecurrentShape shape;

 protected:
  ValueId within(Build& s, ValueId outer) const { return &s == &b ? outer : s.capture(outer); }

 private:
  ValueId finish(std::vector<ValueId> parts, int64_t axis, std::vector<int64_t> perm) {
    ValueId v = parts.size() == 1 ? parts[0] : b.concat(parts, axis);
    if (shape.batch_first) v = b.transpose(v, std::move(perm));
    return b.cast(v, n_.dtype());
  }
  ValueId step_count() {
    if (shape.steps.is_static()) return b.scalar(DType::i64, static_cast<double>(shape.steps.value()));
    return b.squeeze(b.slice(b.op("Shape", {x_}), 0, 0, 1), {0});
  }
  ValueId initial_state(int input, int direction) {
    if (b.in(input)) {
      ValueId v = b.cast(b.in(input), type_);
      if (shape.batch_first) v = b.transpose(v, {1, 0, 2});
      return b.squeeze(b.slice(v, 0, direction, direction + 1), {0});
    }
    ValueId dims = shape.batch.is_static()
                       ? b.ints({shape.batch.value(), shape.hidden})
                       : b.concat({b.slice(b.op("Shape", {x_}), 0, 1, 2), b.ints({shape.hidden})}, 0);
    return b.op("Expand", {b.scalar(type_, 0), dims});
  }

  const NodeView& n_;

 public:
  Build b;

 private:
  DType type_;
  std::optional<double> clip_;
  ValueId x_;
  std::vector<ValueId> ys_, finals_[2];
};

inline std::vector<AttrSpec> recurrent_attributes(std::vector<AttrSpec> own = {}) {
  std::vector<AttrSpec> a{{"activation_alpha", AttrKind::Floats},
                          {"activation_beta", AttrKind::Floats},
                          {"activations", AttrKind::Strings},
                          {"clip", AttrKind::Float},
                          {"direction", "forward"},
                          {"hidden_size", AttrKind::Int},
                          {"output_sequence", 0},
                          {"layout", 0, 14}};
  a.insert(a.end(), own.begin(), own.end());
  return a;
}

}  // namespace cameo::ops
