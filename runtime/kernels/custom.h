// custom: a function over whole tensors that a file of the user's has (cameo/op.h), of which each thread does its part
// of one axis. What a function says of its failure stands at the front of its thread's scratch, a place for each chunk:
// the run ends before anything else is written there.
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
  char* failure = static_cast<char*>(call.scratch) + call.chunk * cameo::op::Run::failure_bytes();
  __builtin_memset(failure, 0, cameo::op::Run::failure_bytes());
  run.keep_failure_in(failure);
  run.list = attributes;
  run.attribute_count = Attributes - 1;
  run.outputs = outputs;
  run.output_count = Outputs - 1;
  run.inputs = inputs;
  run.input_count = Inputs - 1;
  run.begin = extent * call.chunk / call.chunks;
  run.end = extent * (call.chunk + 1) / call.chunks;
  run.scratch = static_cast<char*>(call.scratch) + call.chunks * cameo::op::Run::failure_bytes();
  if (run.begin < run.end || extent == 0) op.run(run);
  if (failure[0]) raise_sentence(call.fault, failure);
}

}  // namespace rt
