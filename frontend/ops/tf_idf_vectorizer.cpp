// TfIdfVectorizer: which of a pool's n-grams stand in each row, how often (TF, TFIDF) or whether at all (IDF), each at
// the place that `ngram_indexes` says, times its weight (IDF, TFIDF). Of n-grams that share a place the counts add up
// (TF, TFIDF), or the last one's weight stands there (IDF).
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "frontend/ir/build.h"
#include "frontend/ops/operands.h"
#include "frontend/ops/texts.h"

namespace cameo::ops {
namespace {

constexpr int64_t kMostOfSkips = 1024;

/// The n-grams of one length, each with its number among all, by which `ngram_indexes` and `weights` go.
struct Pool {
  int64_t length = 0;
  std::map<std::vector<int64_t>, size_t> numbers;
};

/// Of all n-grams; of strings their codes.
std::vector<int64_t> pool_elements(const NodeView& n) {
  if (n.dtype() != DType::str) return n.attr_ints("pool_int64s");
  std::vector<int64_t> codes;
  for (const std::string& text : n.attr_strings("pool_strings")) codes.push_back(code_of(text));
  return codes;
}

std::vector<Pool> pools_of(const NodeView& n) {
  const auto elements = pool_elements(n), begins = n.attr_ints("ngram_counts"), places = n.attr_ints("ngram_indexes");
  const auto all = static_cast<int64_t>(elements.size());
  std::vector<Pool> pools;
  size_t next = 0;  // of all n-grams
  for (size_t i = 0; i < begins.size(); ++i) {
    const int64_t begin = begins[i], end = i + 1 < begins.size() ? begins[i + 1] : all;
    Pool pool{static_cast<int64_t>(i + 1), {}};
    if (begin < 0 || end < begin || end > all || (end - begin) % pool.length)
      n.fail(Code::E0204, fmt::format("`ngram_counts` says that {}-grams are elements {} to {} of {}", pool.length,
                                      begin, end, all));
    for (auto at = elements.begin() + begin; at != elements.begin() + end; at += pool.length, ++next) {
      if (next >= places.size() || places[next] < 0 || places[next] > kMaxExtent)
        n.fail(Code::E0204, fmt::format("`ngram_indexes` has no place for n-gram {}", next));
      pool.numbers.insert_or_assign({at, at + pool.length}, next);
    }
    pools.push_back(std::move(pool));
  }
  return pools;
}

int64_t width_of(const NodeView& n) {
  const auto places = n.attr_ints("ngram_indexes");
  if (places.empty()) n.fail(Code::E0204, "`ngram_indexes` is empty");
  const int64_t last = *std::ranges::max_element(places);
  constexpr int64_t kMost = 1 << 26;
  if (last < 0 || last >= kMost) n.fail(Code::E0204, fmt::format("`ngram_indexes` holds {}", last));
  return last + 1;
}

void infer_tf_idf(Infer& n) {
  if (n.rank() > 2) n.fail(Code::E0302, "X is " + to_string(n.type(0)) + ", not one row or rows");
  const std::string mode = n.attr_string("mode");
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF")
    n.fail(Code::E0204, fmt::format("`mode` is `{}`", printable(mode)), "TF, IDF or TFIDF");
  const int64_t skips = n.attr_int("max_skip_count"), least = n.attr_int("min_gram_length"),
                most = n.attr_int("max_gram_length");
  if (skips < 0 || skips > kMostOfSkips || least < 1 || most < least)
    n.fail(Code::E0204, fmt::format("n-grams of {} to {} elements, with {} skipped at most", least, most, skips));
  pools_of(n);
  const int64_t width = width_of(n);
  const size_t ngrams = n.attr_ints("ngram_indexes").size();
  if (n.has_attr("weights") && n.attr_floats("weights").size() != ngrams)
    n.fail(Code::E0204, fmt::format("{} `weights` for {} n-grams", n.attr_floats("weights").size(), ngrams));
  n.output(0, DType::f32, n.rank() == 2 ? Shape{n.shape()[0], width} : Shape{width});
}

class TfIdf {
 public:
  explicit TfIdf(const MeaningView& n)
      : n_(n), b_(n), width_(width_of(n)), places_(n.attr_ints("ngram_indexes")), mode_(n.attr_string("mode")) {
    if (mode_ != "TF" && n.has_attr("weights")) weights_ = n.attr_floats("weights");
    rows_ = n.rank() == 2 ? b_.in(0) : b_.reshape(b_.in(0), {1, -1});
  }

  Meaning meaning() {
    const ValueId shape = b_.concat({b_.slice(b_.op("Shape", {rows_}), 0, 0, 1), b_.ints({width_})}, 0);
    ValueId y = b_.op("Expand", {b_.scalar(DType::f32, 0), shape});
    for (const Pool& pool : pools_of(n_))
      if (pool.length >= n_.attr_int("min_gram_length") && pool.length <= n_.attr_int("max_gram_length") &&
          !pool.numbers.empty())
        y = b_.add(y, counted(pool));
    if (mode_ == "IDF") y = b_.cast(b_.op("Less", {b_.like(y, 0), y}), DType::f32);
    if (mode_ == "IDF" && !weights_.empty()) y = b_.mul(y, weights_of_places());
    return b_.outputs({n_.rank() == 2 ? y : b_.squeeze(y, {0})});
  }

 private:
  /// The counts of a pool at their places: those that share one add up.
  ValueId counted(const Pool& pool) {
    std::vector<int64_t> elements;
    std::vector<std::vector<int64_t>> ngrams_at(width_);
    std::vector<double> weights;
    int64_t number = 0;
    for (const auto& [ngram, number_of_all] : pool.numbers) {
      elements.insert(elements.end(), ngram.begin(), ngram.end());
      if (mode_ == "TFIDF" && !weights_.empty()) weights.push_back(weights_[number_of_all]);
      ngrams_at[static_cast<size_t>(places_[number_of_all])].push_back(number++);
    }
    const DType t = n_.dtype() == DType::str ? DType::str : DType::i64;
    const std::vector<int64_t> dims{number, pool.length};
    const ValueId rows_of_pool = b_.cast(b_.graph().constant(Tensor::of<int64_t>(t, dims, elements)), n_.dtype());
    ValueId counts = b_.graph().add(get_operator("CountNgrams", "cameo"), {rows_, rows_of_pool},
                                    {{"skips", n_.attr_int("max_skip_count")}})[0];
    if (!weights.empty()) counts = b_.mul(counts, floats(weights));
    const ValueId with_none = b_.op("Pad", {counts, b_.ints({0, 0, 0, 1})});
    size_t layers = 0;
    for (const auto& ngrams : ngrams_at) layers = std::max(layers, ngrams.size());
    ValueId y;
    for (size_t layer = 0; layer < layers; ++layer) {
      std::vector<int64_t> from;
      for (const auto& ngrams : ngrams_at) from.push_back(layer < ngrams.size() ? ngrams[layer] : number);
      const ValueId part = b_.gather(with_none, b_.ints(from), 1);
      y = y ? b_.add(y, part) : part;
    }
    return y;
  }
  ValueId weights_of_places() {
    std::vector<double> weights(static_cast<size_t>(width_), 1);
    for (size_t i = 0; i < places_.size(); ++i) weights[static_cast<size_t>(places_[i])] = weights_[i];
    return floats(weights);
  }
  ValueId floats(const std::vector<double>& values) {
    Tensor t(DType::f32, {std::ssize(values)});
    for (size_t i = 0; i < values.size(); ++i) t.set(static_cast<int64_t>(i), values[i]);
    return b_.graph().constant(std::move(t));
  }

  const MeaningView& n_;
  Build b_;
  int64_t width_;
  std::vector<int64_t> places_;
  std::string mode_;
  std::vector<double> weights_;
  ValueId rows_;
};

Meaning tf_idf(const MeaningView& n) { return TfIdf(n).meaning(); }

}  // namespace

Operator declare_tf_idf_vectorizer() {
  return {.name = "TfIdfVectorizer",
          .since = {9},
          .inputs = {{"X", kIndices | kStrings}},
          .attributes = {{"max_gram_length", AttrKind::Int},
                         {"max_skip_count", AttrKind::Int},
                         {"min_gram_length", AttrKind::Int},
                         {"mode", AttrKind::String},
                         {"ngram_counts", AttrKind::Ints},
                         {"ngram_indexes", AttrKind::Ints},
                         {"pool_int64s", AttrKind::Ints},
                         {"pool_strings", AttrKind::Strings},
                         {"weights", AttrKind::Floats}},
          .infer = infer_tf_idf,
          .meaning = tf_idf};
}

}  // namespace cameo::ops
