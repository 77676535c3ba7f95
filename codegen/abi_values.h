// Values as the C ABI takes and gives them: tensors, of strings too, and lists of such.
#pragma once
#include <cstdint>
#include <deque>
#include <vector>

#include "frontend/ir/tensor.h"
#include "runtime/cameo.h"

namespace cameo {

/// A value for an input, with all that it points to; it does not move. What kinds of lists there are the library says.
class AbiValue {
 public:
  AbiValue(const cameo_api& api, size_t input, const Tensor& t, int depth = 0);
  AbiValue(const AbiValue&) = delete;
  const cameo_value& get() const { return value_; }

 private:
  void set_items(const cameo_api& api, size_t input, const Tensor& list, int depth);
  void set_strings(const Tensor& strings);

  cameo_value value_ = {};
  Tensor held_;  // the bytes that the runtime takes
  std::vector<int64_t> shape_;
  std::deque<AbiValue> of_items_;
  std::vector<cameo_value> items_;
  std::vector<const char*> texts_;
  std::vector<int64_t> lengths_;
};

/// For an output whose memory is the context's.
cameo_value abi_output(const cameo_api& api, size_t output);
/// A copy.
Tensor tensor_of(const cameo_value& value);

}  // namespace cameo
