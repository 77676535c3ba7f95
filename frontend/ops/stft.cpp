// STFT: frames of the signal, each `frame_step` after the one before, times the window, then their Fourier transform.
#include "frontend/ops/signal.h"

namespace cameo::ops {
namespace {

constexpr int64_t kMostFramed = int64_t{1} << 24;  // samples in all frames

struct Frames {
  int64_t step = 1;
  Dim count;
  Transform transform;
};

Frames frames(const NodeView& n) {
  if (n.rank() != 3 || (n.has(2) && n.rank(2) != 1))
    n.fail(Code::E0302, fmt::format("`signal` is {}, it must be batch x samples x components", to_string(n.type(0))));
  Frames f;
  f.step = scalar_int(n, 1);
  f.transform.components = static_dim(n, 0, 2);
  if (f.transform.components != 1 && f.transform.components != 2)
    n.fail(Code::E0302, fmt::format("`signal` is {}: a sample has 1 or 2 components", to_string(n.type(0))));
  f.transform.length = n.has(3) ? scalar_int(n, 3) : n.has(2) ? static_dim(n, 2, 0) : static_dim(n, 0, 1);
  f.transform.samples = f.transform.length;
  f.transform.onesided = n.attr_int("onesided");
  if (f.step < 1) n.fail(Code::E0304, fmt::format("`frame_step` is {}", f.step));
  if (f.transform.onesided && f.transform.components == 2) n.fail(Code::E0302, "a complex `signal` with `onesided`");
  if (n.has(2) && !n.agree(n.shape(2)[0], f.transform.length))
    n.fail(Code::E0302, fmt::format("`window` is {} for frames of {}", to_string(n.type(2)), f.transform.length));
  check_transform(n, f.transform);
  f.count = (n.shape()[1] - Dim(f.transform.length)) / Dim(f.step) + Dim(1);
  if (f.count.is_static() && f.count.value() < 0)
    n.fail(Code::E0302,
           fmt::format("`signal` is {}, shorter than a frame of {}", to_string(n.type(0)), f.transform.length));
  return f;
}

void infer_stft(Infer& n) {
  Frames f = frames(n);
  n.output(0, n.dtype(), {n.shape()[0], f.count, f.transform.bins(), 2});
}

Meaning stft(const MeaningView& n) {
  Build b(n);
  Frames f = frames(n);
  DType t = accumulator(n.dtype());
  int64_t count = f.count.is_static() ? f.count.value() : -1;
  if (count < 0)
    n.fail(Code::E0404, fmt::format("`signal` is {}: its length must be known when compiling", to_string(n.type(0))));
  int64_t table[] = {count, f.transform.length};
  if (element_count(table).value_or(INT64_MAX) > kMostFramed)
    n.fail(Code::E0402,
           fmt::format("{} frames of {} samples: more than {} elements", count, f.transform.length, kMostFramed));
  Tensor index(DType::i64, {count, f.transform.length});
  for (int64_t i = 0; i < index.size(); ++i) index.set_int(i, i / f.transform.length * f.step + i % f.transform.length);
  ValueId x = b.gather(b.cast(b.in(0), t), b.graph().constant(index), 1);
  if (b.in(2)) x = b.mul(x, b.unsqueeze(b.cast(b.in(2), t), {1}));
  return b.outputs({b.cast(transformed(b, x, f.transform), n.dtype())});
}

}  // namespace

Operator declare_stft() {
  return {.name = "STFT",
          .since = {17},
          .inputs = {{"signal", kFloats},
                     {"frame_step", kIndices},
                     {"window", kFloats, InputSpec::Optional, 0},
                     {"frame_length", kIndices, InputSpec::Optional}},
          .outputs = {{"output"}},
          .attributes = {{"onesided", 1}},
          .infer = infer_stft,
          .meaning = stft};
}

}  // namespace cameo::ops
