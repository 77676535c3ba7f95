// The labels of ai.onnx.ml's classifiers: an integer or a string a class.
#pragma once
#include <fmt/format.h>

#include "frontend/ir/build.h"
#include "frontend/ops/operands.h"
#include "frontend/ops/texts.h"

namespace cameo::ops {

class ClassLabels {
 public:
  ClassLabels(const NodeView& n, std::string_view integers, std::string_view strings)
      : are_strings_(n.has_attr(strings) && !n.attr_strings(strings).empty()) {
    if (n.has_attr(integers)) labels_ = n.attr_ints(integers);
    if (are_strings_) strings_ = n.attr_strings(strings);
    if (are_strings_ && !labels_.empty())
      n.fail(Code::E0204, fmt::format("`{}` and `{}` are both given", integers, strings));
    count_ = are_strings_ ? std::ssize(strings_) : std::ssize(labels_);
  }
  int64_t count() const { return count_; }
  DType dtype() const { return are_strings_ ? DType::str : DType::i64; }
  int64_t operator[](int64_t i) const { return labels_[i]; }

  /// One behind the other.
  ValueId all(Build& b) const { return are_strings_ ? texts(b, strings_) : b.ints(labels_); }
  /// Of the class that each row's index says.
  ValueId of_indices(Build& b, ValueId indices) const {
    return !are_strings_ && labels_.empty() ? indices : b.gather(all(b), indices);
  }
  /// Of two classes, by a condition for each row.
  ValueId of_condition(Build& b, ValueId is_second) const { return of_indices(b, b.cast(is_second, DType::i64)); }
  /// Where there is one class, whether it is that, which ONNX Runtime writes as "1" and "0" among strings; else 0 or
  /// `one`.
  ValueId of_single(Build& b, ValueId is_it, int64_t one) const {
    const ValueId is = b.cast(is_it, DType::i64);
    if (are_strings_) return b.gather(texts(b, {"0", "1"}), is);
    return b.mul(is, b.scalar(DType::i64, static_cast<double>(one)));
  }
  /// Of the class with the greatest score, the first of equals; `scores` [rows, classes].
  ValueId of_greatest(Build& b, ValueId scores) const {
    return of_indices(b, b.op("ArgMax", {scores}, {{"axis", int64_t{1}}, {"keepdims", int64_t{0}}}));
  }

 private:
  bool are_strings_;
  int64_t count_ = 0;
  std::vector<int64_t> labels_;
  std::vector<std::string> strings_;
};

}  // namespace cameo::ops
