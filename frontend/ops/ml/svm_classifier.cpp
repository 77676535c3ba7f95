// SVMClassifier: a score for each pair of classes, which is a vote for one of them, or without support vectors a score
// for each class. `prob_a` and `prob_b` make probabilities of the pairs' scores, and those of the classes of them, as
// libsvm does (Wu, Lin and Weng, Probability Estimates for Multi-class Classification by Pairwise Coupling, 2004).
#include <cmath>
#include <numeric>

#include "frontend/ops/ml/labels.h"
#include "frontend/ops/ml/svm.h"

namespace cameo::ops {
namespace {

struct SvmClasses {
  ClassLabels labels;
  int64_t count, features;
  std::vector<int64_t> vectors;  // of each class; empty where there are none
  int64_t all_vectors = 0;
  bool has_probabilities = false;
  int64_t pairs() const { return count * (count - 1) / 2; }
  int64_t scores() const { return has_probabilities || all_vectors == 0 ? count : std::max<int64_t>(pairs(), 2); }
};

SvmClasses svm_classes(const NodeView& n) {
  SvmClasses c{ClassLabels(n, "classlabels_ints", "classlabels_strings"), 0, svm_features(n), {}};
  c.count = std::max<int64_t>(c.labels.count(), 1);
  if (n.has_attr("vectors_per_class")) c.vectors = n.attr_ints("vectors_per_class");
  for (int64_t v : c.vectors) {
    if (v < 0 || v > kMaxStep) n.fail(Code::E0204, fmt::format("`vectors_per_class` holds {}", v));
    c.all_vectors += v;
  }
  if (c.all_vectors == 0) {
    svm_list(n, "coefficients", c.count * c.features, "one a class and feature");
    if (n.attr_floats("rho").empty()) n.fail(Code::E0204, "`rho` is empty");
    return c;
  }
  if (std::ssize(c.vectors) != c.count || c.count < 2)
    n.fail(Code::E0204, fmt::format("`vectors_per_class` has {} entries for {} classes", c.vectors.size(), c.count));
  svm_list(n, "support_vectors", c.all_vectors * c.features, "rows of features");
  svm_list(n, "coefficients", c.all_vectors * (c.count - 1), "one a vector for each other class");
  svm_list(n, "rho", c.pairs(), "one a pair of classes");
  c.has_probabilities = n.has_attr("prob_a") && !n.attr_floats("prob_a").empty();
  for (std::string_view name : {"prob_a", "prob_b"})
    if (c.has_probabilities) svm_list(n, name, c.pairs(), "one a pair of classes");
  return c;
}

void infer_svm_classifier(Infer& n) {
  post_transform(n);
  svm_kernel(n);
  const SvmClasses c = svm_classes(n);
  n.output(0, c.labels.dtype(), {svm_rows(n)});
  n.output(1, DType::f32, {svm_rows(n), c.scores()});
}

class SvmClassifier {
 public:
  explicit SvmClassifier(const MeaningView& n)
      : n_(n), c_(svm_classes(n)), b_(n), x_(svm_rows_of(n, b_)), t_(b_.type(x_).dtype) {}

  Meaning meaning() {
    const std::string transform = post_transform(n_);
    ValueId label, scores;
    if (c_.all_vectors == 0) {
      scores = b_.op("Gemm", {x_, matrix(n_.attr_floats("coefficients"), c_.count)}, {{"transB", int64_t{1}}});
      scores = b_.add(scores, b_.like(scores, n_.attr_floats("rho")[0]));
      label = c_.labels.of_greatest(b_, scores);
    } else {
      const ValueId pairs = scores_of_pairs();
      label = c_.labels.of_greatest(b_, votes(pairs));
      scores = c_.has_probabilities ? probabilities(pairs)
               : c_.count == 2      ? b_.concat({b_.op("Neg", {pairs}), pairs}, 1)
                                    : pairs;
    }
    return b_.outputs({label, b_.cast(transformed(b_, scores, transform), DType::f32)});
  }

 private:
  ValueId matrix(const std::vector<double>& values, int64_t rows) { return matrix_of(b_, t_, values, rows); }
  ValueId number(double v) { return b_.scalar(t_, v); }
  /// Calls f(pair, first class, second class).
  template <class F>
  void each_pair(F f) const {
    for (int64_t i = 0, pair = 0; i < c_.count; ++i)
      for (int64_t j = i + 1; j < c_.count; ++j) f(pair++, i, j);
  }

  /// [rows, pairs]: the first class's vectors count with their coefficients against the second, and the other way
  /// round.
  ValueId scores_of_pairs() {
    const ValueId vectors = matrix(n_.attr_floats("support_vectors"), c_.all_vectors);
    const std::vector<double> coefficients = n_.attr_floats("coefficients");
    std::vector<double> weights(c_.all_vectors * c_.pairs());
    std::vector<int64_t> begins{0};
    for (int64_t v : c_.vectors) begins.push_back(begins.back() + v);
    each_pair([&](int64_t pair, int64_t i, int64_t j) {
      const auto take = [&](int64_t of, int64_t row) {
        for (int64_t v = begins[of]; v < begins[of + 1]; ++v)
          weights[v * c_.pairs() + pair] = coefficients[row * c_.all_vectors + v];
      };
      take(i, j - 1), take(j, i);
    });
    const ValueId s = b_.matmul(svm_products(b_, x_, vectors, svm_kernel(n_)), matrix(weights, c_.all_vectors));
    return b_.add(s, list_of(b_, t_, n_.attr_floats("rho")));
  }

  /// Numbers of pairs, [rows, pairs], spread to `width` places: each at `first` of its classes, 1 less it at `second`.
  template <class First, class Second>
  ValueId spread(ValueId pairs, int64_t width, First first, Second second) {
    std::vector<double> with(c_.pairs() * width), against(c_.pairs() * width);
    each_pair([&](int64_t pair, int64_t i, int64_t j) {
      with[pair * width + first(i, j)] = 1, against[pair * width + second(i, j)] = 1;
    });
    return b_.add(b_.matmul(pairs, matrix(with, c_.pairs())),
                  b_.matmul(b_.sub(number(1), pairs), matrix(against, c_.pairs())));
  }
  ValueId votes(ValueId pairs) {
    const ValueId won = b_.cast(b_.op("Less", {number(0), pairs}), t_);
    return spread(won, c_.count, [](int64_t i, int64_t) { return i; }, [](int64_t, int64_t j) { return j; });
  }

  /// [rows, classes]: P that minimizes the sum over pairs of (r_ji p_i - r_ij p_j)^2, by as many rounds as libsvm
  /// takes.
  ValueId probabilities(ValueId pairs) {
    const ValueId a = list_of(b_, t_, n_.attr_floats("prob_a")), offset = list_of(b_, t_, n_.attr_floats("prob_b"));
    ValueId p = b_.op("Sigmoid", {b_.op("Neg", {b_.add(b_.mul(pairs, a), offset)})});
    p = b_.op("Clip", {p, number(1e-7), number(1 - 1e-7)});
    const int64_t k = c_.count;
    const ValueId flat = spread(
        p, k * k, [=](int64_t i, int64_t j) { return i * k + j; }, [=](int64_t i, int64_t j) { return j * k + i; });
    const ValueId r = b_.reshape(flat, {-1, k, k}), turned = b_.transpose(r, {0, 2, 1});
    const ValueId sums = b_.reduce("ReduceSum", b_.mul(turned, turned), {2});  // [rows, k, 1]
    const ValueId q =
        b_.sub(b_.mul(sums, b_.op("EyeLike", {matrix(std::vector<double>(k * k), k)})), b_.mul(r, turned));
    const ValueId start = b_.add(b_.mul(sums, number(0)), number(1 / static_cast<double>(k)));
    const ValueId active = b_.op("Less", {number(0), b_.reduce("ReduceSum", start, {1})});  // all
    const ValueId rounds = b_.scalar(DType::i64, static_cast<double>(std::max<int64_t>(100, k)));
    const ValueId done = b_.loop(rounds, {start, active}, [&](Build& round, ValueId, std::span<const ValueId> state) {
      return take_round(round, round.capture(q), state[0], state[1]);
    })[0];
    return b_.squeeze(done, {2});
  }
  /// p [rows, k, 1] of the rows that are `active`, [rows, 1, 1]: not near enough to where all Q p are equal.
  Build::Step take_round(Build& b, ValueId q, ValueId p, ValueId active) {
    const double k = static_cast<double>(c_.count);
    const ValueId qp = b.matmul(q, p), pqp = b.reduce("ReduceSum", b.mul(p, qp), {1});
    const ValueId error = b.reduce("ReduceMax", b.op("Abs", {b.sub(qp, pqp)}), {1});
    active = b.op("And", {active, b.op("GreaterOrEqual", {error, b.scalar(t_, 0.005 / k)})});
    const ValueId classes = b.scalar(DType::i64, k);
    const auto next = b.loop(classes, {p, qp, pqp}, [&](Build& step, ValueId t, std::span<const ValueId> s) {
      return move_class(step, step.capture(q), t, s[0], s[1], s[2]);
    });
    return {{b.op("Where", {active, next[0], p}), active}, {}};
  }
  /// One class's probability to where the error is least, and all of them to a sum of 1.
  Build::Step move_class(Build& b, ValueId q, ValueId t, ValueId p, ValueId qp, ValueId pqp) {
    std::vector<int64_t> places(c_.count);
    std::iota(places.begin(), places.end(), 0);
    const ValueId own = b.cast(b.op("Equal", {b.reshape(b.ints(places), {-1, 1}), t}), t_);  // [k, 1]
    const ValueId row = b.matmul(q, own);                                                    // of a symmetric matrix
    const auto at = [&](ValueId v) { return b.reduce("ReduceSum", b.mul(v, own), {1}); };
    const ValueId diagonal = at(row), qp_own = at(qp), diff = b.div(b.sub(pqp, qp_own), diagonal);
    const ValueId whole = b.add(diff, b.scalar(t_, 1));
    const ValueId gain = b.mul(diff, b.add(b.mul(diff, diagonal), b.mul(qp_own, b.scalar(t_, 2))));
    return {{b.div(b.add(p, b.mul(own, diff)), whole), b.div(b.add(qp, b.mul(diff, row)), whole),
             b.div(b.add(pqp, gain), b.mul(whole, whole))},
            {}};
  }

  const MeaningView& n_;
  SvmClasses c_;
  Build b_;
  ValueId x_;
  DType t_;
};

Meaning svm_classifier(const MeaningView& n) { return SvmClassifier(n).meaning(); }

}  // namespace

Operator declare_ml_svm_classifier() {
  return {.name = "SVMClassifier",
          .domain = "ai.onnx.ml",
          .since = {1},
          .inputs = {{"X", kOfRows}},
          .outputs = {{"Y"}, {"Z"}},
          .attributes = svm_attributes({{"classlabels_ints", AttrKind::Ints},
                                        {"classlabels_strings", AttrKind::Strings},
                                        {"prob_a", AttrKind::Floats},
                                        {"prob_b", AttrKind::Floats},
                                        {"vectors_per_class", AttrKind::Ints}}),
          .infer = infer_svm_classifier,
          .meaning = svm_classifier};
}

}  // namespace cameo::ops
