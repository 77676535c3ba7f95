// dequantized_products: a product of f32 with weights that are quantised alone (MatMulNBits, and MatMul or Gemm by
// what DequantizeLinear makes of a constant) is a DequantizedMatMul, whose weights stay as small as they are.
// Weights of 8 bits do so for few rows only, of which memory is the bound: for more rows f32 weights are faster.
// Codes are shifted such that none has a sign, which takes as much off as their zero points.
#include <algorithm>

#include "frontend/ir/operator.h"
#include "optimizer/pipeline.h"
#include "optimizer/rewrites/operands.h"

namespace cameo {
namespace {

constexpr int64_t kFewRows = 8;

/// Quantised weights of a matrix with `terms` rows and `columns` columns, in blocks of rows.
struct CodedWeights {
  int64_t terms = 0, columns = 0, blocks = 0, bits = 0;
  Tensor codes, scales, zeros;
  std::vector<int64_t> order;  // the term that each row multiplies; none: as they stand

  CodedWeights(int64_t k, int64_t n, int64_t count, int64_t size)
      : terms(k),
        columns(n),
        blocks(count),
        bits(size),
        codes(DType::u8, {k, n}),
        scales(DType::f32, {count, n}),
        zeros(DType::u8, {count, n}) {}
  bool has_one_zero() const {
    for (int64_t i = 1; i < zeros.size(); ++i)
      if (zeros.get_int(i) != zeros.get_int(0)) return false;
    return true;
  }
};

ValueId product_of(Graph& into, const Node& n, ValueId a, CodedWeights w) {
  Attrs attrs{{"bits", w.bits}};
  if (!w.order.empty()) {
    const ValueId order = into.constant(Tensor::i64({w.terms}, w.order));
    a = into.add(get_operator("Gather"), {a, order}, {{"axis", -1}}, n.provenance)[0];
  }
  std::vector<ValueId> inputs{a, into.constant(std::move(w.codes)), into.constant(std::move(w.scales))};
  if (w.has_one_zero())
    attrs["zero"] = w.zeros.get_int(0);
  else
    inputs.push_back(into.constant(std::move(w.zeros)));
  return into.add(get_operator("DequantizedMatMul", "cameo"), std::move(inputs), std::move(attrs), n.provenance)[0];
}

bool is_row_matrix(const Graph& g, ValueId a) { return g.type(a).dtype == DType::f32 && g.type(a).rank() >= 1; }

// ---- MatMulNBits

/// Number `i` of those that stand in bytes, the first one in the lowest bits.
int64_t packed_number(const Tensor& t, int64_t byte, int64_t i, int64_t bits) {
  const int64_t each = 8 / bits;
  return t.get_int(byte + i / each) >> i % each * bits & ((1 << bits) - 1);
}

/// The terms in the order of their blocks (`g_idx`), where each block has as many as its size.
std::optional<std::vector<int64_t>> in_order_of_blocks(const Tensor& block_of, int64_t terms, int64_t size) {
  std::vector<std::vector<int64_t>> members(static_cast<size_t>(terms / size));
  for (int64_t term = 0; term < terms; ++term) {
    const int64_t block = block_of.get_int(term);
    members[static_cast<size_t>(block < 0 ? block + terms / size : block)].push_back(term);
  }
  std::vector<int64_t> order;
  for (const auto& terms_of_block : members) {
    if (std::ssize(terms_of_block) != size) return std::nullopt;
    order.insert(order.end(), terms_of_block.begin(), terms_of_block.end());
  }
  return order;
}

std::optional<CodedWeights> weights_of_bits(const Graph& g, const Node& n, std::span<const ValueId> in) {
  const NodeView view(g, n);
  const int64_t bits = view.attr_int("bits"), k = view.attr_int("K"), columns = view.attr_int("N");
  const int64_t size = view.attr_int("block_size");
  const Tensor *b = constant(g, in[1]), *scales = constant(g, in[2]), *zeros = constant(g, operand(in, 3));
  const Tensor* block_of = constant(g, operand(in, 4));
  const bool plain = (bits == 4 || bits == 8) && size % 2 == 0 && k % size == 0 && (block_of || !operand(in, 4));
  if (!plain || !b || !scales || scales->dtype() != DType::f32) return std::nullopt;
  if (operand(in, 3) && (!zeros || zeros->dtype() != DType::u8)) return std::nullopt;
  const int64_t blocks = k / size, bytes = size * bits / 8, bytes_of_zeros = (blocks * bits + 7) / 8;
  CodedWeights w(k, columns, blocks, bits);
  if (block_of) {
    auto order = in_order_of_blocks(*block_of, k, size);
    if (!order) return std::nullopt;
    if (!std::ranges::is_sorted(*order)) w.order = std::move(*order);
  }
  for (int64_t column = 0; column < columns; ++column)
    for (int64_t block = 0; block < blocks; ++block) {
      w.scales.set(block * columns + column, scales->get(column * blocks + block));
      const int64_t zero =
          zeros ? packed_number(*zeros, column * bytes_of_zeros, block, bits) : int64_t{1} << (bits - 1);
      w.zeros.set_int(block * columns + column, zero);
      for (int64_t row = block * size; row < (block + 1) * size; ++row) {
        const int64_t term = w.order.empty() ? row : w.order[static_cast<size_t>(row)];
        w.codes.set_int(row * columns + column, packed_number(*b, column * blocks * bytes, term, bits));
      }
    }
  return w;
}

// ---- DequantizeLinear

int64_t bits_of(DType t) {
  const int64_t bits = row(t).bits;
  return is_integer(t) && (bits == 4 || bits == 8) ? bits : 0;
}

/// Of a matrix whose columns are the product's, or, transposed, its rows, with a scale for each, for all, or for each
/// block of terms.
std::optional<CodedWeights> weights_of_dequantized(const Graph& g, ValueId v, bool transposed) {
  const NodeId made = v ? g[v].producer : NodeId{};
  if (!made || g[made].op->name != "DequantizeLinear" || g.type(v).dtype != DType::f32 || g.type(v).rank() != 2)
    return std::nullopt;
  const NodeView view(g, g[made]);
  const auto& in = g[made].inputs;
  const Tensor *x = constant(g, in[0]), *scale = constant(g, in[1]), *zero = constant(g, operand(in, 2));
  if (!x || !scale || scale->dtype() != DType::f32 || (operand(in, 2) && !zero)) return std::nullopt;
  const int along = transposed ? 1 : 0, across = 1 - along;  // axes of the terms and of the columns
  const int64_t bits = bits_of(x->dtype()), k = x->dims()[along], columns = x->dims()[across];
  const int64_t axis = NodeView::axis(view.attr_int("axis"), 2), block = view.attr_int("block_size");
  const bool by_blocks = scale->rank() == 2 && axis == along && block > 0 && block % 2 == 0 && k % block == 0;
  const bool by_columns = scale->rank() == 1 && scale->size() == columns && axis == across;
  if (!bits || k % 2 || columns == 0 || !(by_blocks || by_columns || scale->size() == 1)) return std::nullopt;
  const int64_t blocks = by_blocks ? k / block : 1, shift = is_signed(x->dtype()) ? int64_t{1} << (bits - 1) : 0;
  CodedWeights w(k, columns, blocks, bits);
  const auto place = [&](int64_t i, int64_t rows) {  // of what the product's matrix has at i
    return transposed ? i % columns * rows + i / columns : i;
  };
  for (int64_t i = 0; i < blocks * columns; ++i) {
    const int64_t at = scale->size() == 1 ? 0 : place(i, blocks);
    w.scales.set(i, scale->get(at));
    w.zeros.set_int(i, shift + (zero ? zero->get_int(at) : 0));
  }
  for (int64_t i = 0; i < k * columns; ++i) w.codes.set_int(i, shift + x->get_int(place(i, k)));
  return w;
}

/// A MatMul, or a Gemm that is one and a sum.
bool is_product(const Graph& g, const Node& n) {
  if (n.op->name != "Gemm") return n.op->name == "MatMul";
  const NodeView view(g, n);
  return view.attr_float("alpha") == 1 && view.attr_float("beta") == 1 && !view.attr_int("transA");
}

std::optional<ValueId> dequantized_product(PassContext& context, Graph& into, const Node& n,
                                           std::span<const ValueId> in) {
  const bool of_bits = n.op->name == "MatMulNBits";
  if (!(of_bits || is_product(into, n)) || !is_row_matrix(into, in[0])) return std::nullopt;
  const bool gemm = n.op->name == "Gemm", transposed = gemm && NodeView(into, n).attr_int("transB");
  auto w = of_bits ? weights_of_bits(into, n, in) : weights_of_dequantized(into, in[1], transposed);
  if (!w) return std::nullopt;
  Shape rows = into.type(in[0]).shape;
  rows.pop_back();
  if (w->bits == 8 && !of_bits && product(rows).estimate() > kFewRows) return std::nullopt;
  if (!context.apply("dequantized_matmul", into, n.provenance)) return std::nullopt;
  const ValueId bias = of_bits ? operand(in, 5) : gemm ? operand(in, 2) : ValueId{};
  const ValueId y = product_of(into, n, in[0], std::move(*w));
  return bias ? into.add(get_operator("Add"), {y, bias}, {}, n.provenance)[0] : y;
}

}  // namespace

Graph dequantized_products(const Graph& g, PassContext& context) {
  return replay(g, [&](Graph& into, const Node& n, std::span<const ValueId> in) -> std::optional<std::vector<ValueId>> {
    const auto y = dequantized_product(context, into, n, in);
    return y ? std::optional(std::vector<ValueId>{*y}) : std::nullopt;
  });
}

}  // namespace cameo
