// ConvTranspose as a gather: output o takes tap k from input (o + begin - k * dilation) / stride where that divides
// evenly; elsewhere the index is -1, which reads a zero.
#include "frontend/ops/conv.h"

namespace cameo::ops {
namespace {

struct Transposed {
  Window window;
  int64_t group = 1;
  Dim maps;  // of one group
};

std::vector<int64_t> taps(const NodeView& n) {
  std::vector<int64_t> kernel;
  for (int a = 2; a < n.rank(1); ++a) {
    if (!n.shape(1)[a].is_static())
      n.fail(Code::E0404, fmt::format("W is {}: its taps must be known when compiling", to_string(n.type(1))));
    kernel.push_back(n.shape(1)[a].value());
  }
  if (n.has_attr("kernel_shape") && n.attr_ints("kernel_shape") != kernel)
    n.fail(Code::E0302, fmt::format("`kernel_shape` is not that of W, {}", to_string(n.type(1))));
  return kernel;
}

/// Takes `total` elements off a whole output, the odd one at the end for SAME_UPPER and else at the beginning. Where
/// the output is to be larger than a whole one, zeros stand behind it, as TensorFlow has it; by the letter of ONNX half
/// of them would stand in front. ONNX Runtime has such an output for `output_shape` alone: with `auto_pad` its outputs
/// end where the last tap does, 11 for an input of 4, 2 taps and a stride of 3, for which ONNX's text says 12.
void crop(WindowAxis& w, Expr total, bool upper) {
  Expr half = floor_div(total, integer(2));
  w.begin = upper ? half : total - half;
  w.end = total - w.begin;
}

Transposed transposed(const NodeView& n) {
  if (n.rank(0) < 2 || n.rank(1) != n.rank(0))
    n.fail(Code::E0302,
           fmt::format("X is {} and W is {}: they must have one rank", to_string(n.type(0)), to_string(n.type(1))));
  Transposed t{{}, n.attr_int("group"), n.shape(1)[1]};
  Dim c = n.shape(0)[1], of_w = n.shape(1)[0];
  if (t.group < 1 || !n.agree(c, of_w) || !n.divides(t.group, c))
    n.fail(Code::E0302,
           fmt::format("X is {} and W is {} with `group` {}", to_string(n.type(0)), to_string(n.type(1)), t.group));
  auto kernel = taps(n);
  size_t axes = kernel.size();
  check_kernel(n, kernel);
  auto strides = per_axis(n, "strides", axes, 1, 1), dilations = per_axis(n, "dilations", axes, 1, 1);
  check_pads(n, "with --lenient negative pads of a transposed convolution add to its output");
  auto pads = per_axis(n, "pads", 2 * axes, 0, 0), extra = per_axis(n, "output_padding", axes, 0, 0);
  std::vector<int64_t> shape = n.has_attr("output_shape") ? n.attr_ints("output_shape") : std::vector<int64_t>{};
  if (shape.size() == axes + 2) shape.erase(shape.begin(), shape.begin() + 2);  // some exporters name N and C too
  if (!shape.empty() && shape.size() != axes)
    n.fail(Code::E0204, fmt::format("`output_shape` has {} entries for {} spatial axes", shape.size(), axes));
  for (int64_t extent : shape)
    if (extent < 0 || extent > kMaxExtent)
      n.fail(Code::E0204, fmt::format("`output_shape` holds {}, not 0 to {}", extent, kMaxExtent));
  std::string mode = n.attr_string("auto_pad");
  for (size_t a = 0; a < axes; ++a) {
    WindowAxis w{kernel[a], strides[a], dilations[a], integer(0), integer(0), n.shape(0)[2 + a], {}};
    Dim whole = (w.in - Dim(1)) * Dim(w.stride) + Dim(w.reach() + extra[a]);
    if (!shape.empty() || mode.starts_with("SAME")) {
      w.out = shape.empty() ? w.in * Dim(w.stride) : Dim(shape[a]);
      crop(w, max(whole.extent() - w.out.extent(), integer(0)), mode == "SAME_UPPER");
    } else {
      if (mode != "VALID") w.begin = integer(pads[a]), w.end = integer(pads[axes + a]);
      w.out = Dim(whole.extent() - w.begin - w.end);
    }
    if (w.out.is_static() && w.out.value() < 0)
      n.fail(Code::E0302, fmt::format("the pads take all of axis {} of the output away", 2 + a));
    t.window.push_back(w);
  }
  return t;
}

void infer_conv_transpose(Infer& n) {
  Transposed t = transposed(n);
  Shape s = pooled_shape(n, t.window);
  s[1] = t.maps * Dim(t.group);
  check_shape(n, 2, {s[1]}, "one an output channel");
  n.output(0, n.dtype(), s);
}

Meaning conv_transpose(const MeaningView& n) {
  Transposed t = transposed(n);
  DType type = accumulator(n.dtype());
  auto out = n.index(), taps = taps_of(t.window);
  Dim channels = n.shape(0)[1] / Dim(t.group);
  Expr c = var(channels.extent());
  Expr in_channel = t.group == 1 ? c : floor_div(out[1], t.maps.extent()) * channels.extent() + c;
  std::vector<Expr> from{out[0], in_channel}, at{in_channel, t.group == 1 ? out[1] : mod(out[1], t.maps.extent())};
  for (size_t a = 0; a < taps.size(); ++a) {
    const WindowAxis& w = t.window[a];
    Expr p = out[2 + a] + w.begin - taps[a] * integer(w.dilation), stride = integer(w.stride);
    from.push_back(select(eq(mod(p, stride), integer(0)), floor_div(p, stride), integer(-1)));
    at.push_back(taps[a]);
  }
  Expr product = cast(n.load(0, from), type) * cast(n.load(1, at), type);
  Expr y = fold(FoldKind::Sum, c, fold_all(FoldKind::Sum, taps, product));
  if (n.has(2)) y = y + cast(n.load(2, {out[1]}), type);
  return Compute{{{out, cast(y, n.dtype())}}};
}

}  // namespace

Operator declare_conv_transpose() {
  return {.name = "ConvTranspose",
          .since = {1, 11, 22},
          .inputs = {{"X", kFloats}, {"W", kFloats, InputSpec::Required, 0}, {"B", kFloats, InputSpec::Optional, 0}},
          .attributes = {{"auto_pad", "NOTSET"},
                         {"dilations", AttrKind::Ints},
                         {"group", 1},
                         {"kernel_shape", AttrKind::Ints},
                         {"output_padding", AttrKind::Ints},
                         {"output_shape", AttrKind::Ints},
                         {"pads", AttrKind::Ints},
                         {"strides", AttrKind::Ints}},
          .infer = infer_conv_transpose,
          .meaning = conv_transpose};
}

}  // namespace cameo::ops
