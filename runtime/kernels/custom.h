// custom: a function over whole tensors that a file of the user's has (cameo/op.h), of which each thread does its part
// of one axis.
#pragma once
#include "runtime/call.h"
#include "runtime/cameo/op.h"

namespace rt {

using CustomTensor = cameo::op::Tensor;
using CustomAttribute = cameo::op::Attribute;
using CustomKind = cameo::op::Kind;

template <class T>
inline CustomTensor custom_tensor(const T* data, const int64_t* dims, int rank, int type) {
  CustomTensor t;
  t.data = const_cast<T*>(data);
  t.dims = dims;
  t.rank = rank;
  t.type = static_cast<cameo::op::Type>(type);
  return t;
}

/// Lists end with an absent tensor or an attribute without a name, which is not counted.
template <int Outputs, int Inputs, int Attributes>
inline void custom(const Call& call, const cameo::op::Operator& op, int64_t extent,
                   const CustomTensor (&outputs)[Outputs], const CustomTensor (&inputs)[Inputs],
                   const CustomAttribute (&attributes)[Attributes]) {
  cameo::op::Run run;
  char failure[cameo::op::Run::failure_bytes()] = {};
  run.keep_failure_in(failure);
  run.list = attributes;
  run.attribute_count = Attributes - 1;
  run.outputs = outputs;
  run.output_count = Outputs - 1;
  run.inputs = inputs;
  run.input_count = Inputs - 1;
  run.begin = extent * call.chunk / call.chunks;
  run.end = extent * (call.chunk + 1) / call.chunks;
  run.scratch = call.scratch;
  if (run.begin < run.end || extent == 0) op.run(run);
  if (failure[0]) raise_fault(call.fault, kRefusedFault, 0, 0);
}

}  // namespace rt
