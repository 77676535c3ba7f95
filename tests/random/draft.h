// A model that is being drawn: its lines, in the grammar of tests/optimizer/README.md, and beside them the graph that
// types each value, so that every node is valid when it is written.
//
// An output that is not exact is judged by its error (frontend/reference/compare.h), which means nothing once a
// discrete decision hangs on it. So each value has a Level, and operators say which they take: comparisons, floors,
// casts to integers and indices take exact values alone.
#pragma once
#include <cmath>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "frontend/ir/graph.h"
#include "frontend/ir/operator.h"

namespace cameo::random {

/// Numbers that are the same everywhere for the same seed.
class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  /// Of [low, high].
  int64_t in(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(engine_() % static_cast<uint64_t>(high - low + 1));
  }
  bool percent(int chance) { return in(1, 100) <= chance; }
  uint64_t seed() { return engine_() % 1000000; }
  template <class T>
  const T& of(const std::vector<T>& v) {
    return v[static_cast<size_t>(in(0, static_cast<int64_t>(v.size()) - 1))];
  }
  template <class T>
  T of(std::initializer_list<T> v) {
    return v.begin()[in(0, static_cast<int64_t>(v.size()) - 1)];
  }

 private:
  std::mt19937_64 engine_;
};

enum class Level {
  Exact,  // the same bits on every road: integers, moved or whole numbers, single IEEE operations
  Close,  // of an error that stays small in sums, products and smooth functions
  Final,  // to be moved and given out, nothing else
};

struct Local {
  std::string name;
  ValueId id;
  DType dtype = DType::undefined;
  std::vector<int64_t> dims;
  Level level = Level::Exact;
  bool whole = false;       // whole numbers,
  double bound = HUGE_VAL;  // of at most this magnitude
  int rank() const { return static_cast<int>(dims.size()); }
  int64_t size() const;
};

/// The largest magnitude up to which a type holds every whole number.
double exact_whole(DType t);

class Draft {
 public:
  Draft(Random& random, std::string prefix, bool inner = false)
      : random(random), prefix_(std::move(prefix)), inner_(inner) {}

  Random& random;
  std::vector<std::string> lines;
  std::vector<Local> values;  // of this graph, in order of making
  std::vector<Local> needed;  // that must be outputs
  int refused = 0;            // nodes that the shape rules did not take

  bool inner() const { return inner_; }  // a body, which has no inputs of its own

  // ---- values ----
  std::vector<int64_t> dims(int max_rank = 8);
  DType dtype(DTypes among);
  /// A new input or constant: whole, uniform or extreme numbers.
  Local leaf(DType t, const std::vector<int64_t>& dims, bool tame = false);
  Local input(DType t, const std::vector<int64_t>& dims, const std::string& values);
  Local constant(DType t, const std::vector<int64_t>& dims, const std::string& values);
  Local ints(const std::vector<int64_t>& v, DType t = DType::i64);  // a constant vector
  /// One of the values that fit, the newest more often than others, or a leaf.
  Local pick(DTypes types, Level most = Level::Exact, int least_rank = 0, int most_rank = 8);
  std::optional<Local> find(const std::function<bool(const Local&)>& fits);
  /// A value that broadcasts with `x`.
  Local partner(const Local& x, Level most);
  /// Indices into an extent; of bodies inside of it, else most of them. What is made with them should be needed: a
  /// kernel need not notice what is wrong with elements that no output wants.
  Local indices(const std::vector<int64_t>& dims, int64_t extent, DTypes types = kIndices);

  // ---- nodes ----
  /// Adds a node; null where the operator's rules refuse it, or where an output would be large.
  std::optional<std::vector<Local>> node(std::string_view op, const std::vector<Local>& inputs, Attrs attrs = {},
                                         int outputs = 1, const std::vector<Draft*>& bodies = {});
  /// As node, of one output with these properties.
  bool add(std::string_view op, const std::vector<Local>& inputs, Attrs attrs, Level level, bool whole = false,
           double bound = HUGE_VAL);
  void keep(Local v, Level level, bool whole, double bound);

  /// A body: a draft whose values begin with its inputs.
  Draft body();
  /// Its input of the type of an outer value, which keeps its name if it is captured.
  Local body_input(const Local& outer, bool captured);
  void output(const std::vector<Local>& v);

 private:
  std::string fresh();
  std::string prefix_;
  bool inner_;
  Graph graph_;
  int names_ = 0, bodies_ = 0;
};

}  // namespace cameo::random
