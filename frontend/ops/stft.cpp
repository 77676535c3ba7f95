// STFT: frames of the signal, each `frame_step` after the one before, times the window, then their Fourier transform.
#include <numeric>

#include "frontend/ops/signal.h"

namespace cameo::ops {
namespace {

constexpr int64_t kMostFramed = int64_t{1} << 24;  // samples in all frames

struct Frames {
  Dim step, count;
  Transform transform;
  bool is_known() const { return step.is_static() && transform.is_known(); }
};

/// An operand that counts samples: a run's is held to a bound.
Dim count_of(const NodeView& n, int input, std::string_view what) {
  const Expr count = scalar_element(n, input);
  return count.is_const() ? Dim(count) : given_dim(n, count, 2, what);
}

Frames frames(const NodeView& n) {
  if (n.rank() != 3 || (n.has(2) && n.rank(2) != 1))
    n.fail(Code::E0302, fmt::format("`signal` is {}, it must be batch x samples x components", to_string(n.type(0))));
  Frames f;
  f.step = count_of(n, 1, "frame_step");
  f.transform.components = static_dim(n, 0, 2);
  if (f.transform.components != 1 && f.transform.components != 2)
    n.fail(Code::E0302, fmt::format("`signal` is {}: a sample has 1 or 2 components", to_string(n.type(0))));
  f.transform.length = n.has(3) ? count_of(n, 3, "frame_length") : n.has(2) ? n.shape(2)[0] : n.shape()[1];
  f.transform.samples = f.transform.length;
  f.transform.onesided = n.attr_int("onesided");
  if (!n.fits(1, f.step)) n.fail(Code::E0304, fmt::format("`frame_step` is {}", to_string(f.step)));
  if (f.transform.onesided && f.transform.components == 2) n.fail(Code::E0302, "a complex `signal` with `onesided`");
  if (n.has(2) && !n.agree(n.shape(2)[0], f.transform.length))
    n.fail(Code::E0302,
           fmt::format("`window` is {} for frames of {}", to_string(n.type(2)), to_string(f.transform.length)));
  check_transform(n, f.transform);
  const Expr starts = n.shape()[1].extent() - f.transform.length.extent() + integer(1);
  if (!n.may_hold(lt(-f.step.extent(), starts)))
    n.fail(Code::E0302, fmt::format("`signal` is {}, shorter than a frame of {}", to_string(n.type(0)),
                                    to_string(f.transform.length)));
  f.count = dim_of(max(-floor_div(-starts, max(f.step.extent(), integer(1))), integer(0)));
  return f;
}

void infer_stft(Infer& n) {
  Frames f = frames(n);
  n.output(0, n.dtype(), {n.shape()[0], f.count, f.transform.bins(), 2});
}

/// For each frame the numbers of its samples.
ValueId samples_of(Build& b, const Frames& f) {
  const int64_t length = f.transform.length.value();
  std::vector<int64_t> within(length);
  std::iota(within.begin(), within.end(), 0);
  const ValueId none = b.scalar(DType::i64, 0), step = b.scalar(DType::i64, static_cast<double>(f.step.value()));
  const ValueId extent = b.op("Shape", {b.in(0)}, {{"start", int64_t{1}}, {"end", int64_t{2}}});
  const ValueId starts = b.sub(b.squeeze(extent, {0}), b.scalar(DType::i64, static_cast<double>(length - 1)));
  return b.add(b.unsqueeze(b.op("Range", {none, starts, step}), {1}), b.ints(within));
}

/// Of frames whose step or length only a run knows.
Meaning stft_of_run(const MeaningView& n, const Frames& f) {
  const std::vector<Expr> out = n.index();
  const DType t = accumulator(n.dtype());
  const auto sample_at = [&](Expr sample, int64_t component) {
    const Expr x = cast(n.load(0, {out[0], out[1] * f.step.extent() + sample, integer(component)}), t);
    return n.has(2) ? x * cast(n.load(2, {sample}), t) : x;
  };
  return Compute{{{out, cast(transformed(f.transform, t, out[2], out[3], sample_at), n.dtype())}}};
}

Meaning stft(const MeaningView& n) {
  const Frames f = frames(n);
  if (!f.is_known()) return stft_of_run(n, f);
  Build b(n);
  DType t = accumulator(n.dtype());
  const int64_t length = f.transform.length.value(), most = f.count.upper();
  int64_t table[] = {most, length};
  if (most != kOpen && element_count(table).value_or(INT64_MAX) > kMostFramed)
    n.fail(Code::E0402, fmt::format("{} frames of {} samples: more than {} elements", most, length, kMostFramed));
  ValueId x = b.gather(b.cast(b.in(0), t), samples_of(b, f), 1);
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
