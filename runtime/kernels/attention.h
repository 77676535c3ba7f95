// attention: Y = softmax(cap(Q K^T scale) + mask) V, in one pass over the keys (FlashAttention, Dao 2022, for the
// caches of a core): a unit of work keeps for each of its rows the largest score so far, the sum of exponentials and
// the sum of values, all of which are scaled down when a larger score comes. Keys and values are brought into panels, a
// block of them at a time, which all tiles of the unit read; a few rows read them where they stand. What a row gives
// depends on the tile's numbers and never on the chunks.
// Keys behind the last one that a unit's rows may see are not read: a NaN among their values does not show, as it would
// in a sum with weights of 0.
#pragma once
#include "runtime/call.h"
#include "runtime/kernels/attention_shape.h"
#include "runtime/kernels/contract_operands.h"
#include "runtime/rt/fold.h"
#include "runtime/rt/math.h"

namespace rt {

template <class T>
struct AttentionRows {  // element i of a row: at + sequence * batch + number * head + position * row + i
  T* at = nullptr;
  i64 batch = 0, head = 0, row = 0;
  RT_FN T* of(i64 b, i64 h, i64 r) const { return at + b * batch + h * head + r * row; }
};
template <class T>
RT_FN AttentionRows<T> attention_rows(T* at, i64 batch, i64 head, i64 row) {
  return {at, batch, head, row};
}
struct NoMask {};
RT_FN AttentionRows<const NoMask> no_mask() { return {}; }

struct AttentionOperands {
  AttentionRows<const f32> q, past_k, past_v, k, v;
  AttentionRows<f32> y, present_k, present_v;  // null: not wanted
  bool streams = false;                        // what is present goes past the caches: they could not hold it
};
struct AttentionScores {
  f32 scale, cap;                               // cap 0: none
  bool causal, guarded;                         // a row without any key gives zeros; else it is NaN
  f32 masked = -detail::Format<f32>::infinity;  // the score of a key that a boolean mask disallows
};

#if !defined(RT_KERNEL)
namespace detail {

template <int MR, int NV, bool InPanels, int ScoreSplits, int ValueSplits, class Width, class M>
struct Attention {
  using V = vec<f32, kPart>;
  using ValuePanels = Constant<panels_of(Width::value)>;
  static constexpr int kAcross = largest_part<ValuePanels>(NV);
  static constexpr i64 kWide = ValuePanels::value * kPanel;
  static constexpr f32 kNone = -Format<f32>::infinity, kLog2E = 0x1.715476p0f;

  const Call& call;
  const AttentionShape& shape;
  const AttentionTile& tile;
  const AttentionScores& how;
  const AttentionOperands& x;
  const AttentionRows<const M>& mask;
  AttentionScratch at;
  i64 batch = 0, group = 0, first = 0, count = 0;  // the unit's rows

  /// Whether scores are products and nothing else. Then q is scaled so that they are exponents of 2, and the largest
  /// score is rounded up to an integer, which exp2 takes off for nothing.
  RT_FN bool plain() const { return kSame<M, NoMask> && how.cap == 0; }
  RT_FN f32* part(i64 offset) const { return static_cast<f32*>(call.scratch) + offset; }
  RT_FN i64 head_of(i64 row) const { return group * shape.heads + row / shape.queries; }
  RT_FN i64 query_of(i64 row) const { return row % shape.queries; }
  /// The row that stands at place `r` of the unit; places behind the last one repeat it.
  RT_FN i64 row_at(i64 r) const { return first + (r < count ? r : count - 1); }

  // ---- a unit
  RT_FN void run() {
    const i64 blocks = round_up_div(shape.rows(), tile.block), units = shape.batch * shape.groups * blocks;
    const i64 end = units * (call.chunk + 1) / call.chunks;
    RT_ROLLED
    for (i64 u = units * call.chunk / call.chunks; u < end; ++u) {
      batch = u / blocks / shape.groups;
      group = u / blocks % shape.groups;
      first = u % blocks * tile.block;
      count = shape.rows() - first < tile.block ? shape.rows() - first : tile.block;
      attend();
    }
    if (x.streams) detail::end_streams();
  }
  RT_FN void attend() const {
    const i64 end = begin();
    RT_ROLLED
    for (i64 key = 0; key < end;) {  // a block lies in the cache or behind it
      const bool past = key < shape.past;
      i64 next = key + tile.keys < end ? key + tile.keys : end;
      if (past && next > shape.past) next = shape.past;
      const i64 from = past ? key : key - shape.past;
      extend_caches(key, next);
      take_block(key, next - key, (past ? x.past_k : x.k).of(batch, group, from), (past ? x.past_k : x.k).row,
                 (past ? x.past_v : x.v).of(batch, group, from), (past ? x.past_v : x.v).row);
      key = next;
    }
    extend_caches(end, shape.total());
    finish();
  }
  /// Nothing is summed yet; the end of the keys that any of the rows may see.
  RT_FN i64 begin() const {
    f32 *const q = part(at.q), *const sums = part(at.sums);
    const f32 scale = plain() ? how.scale * kLog2E : how.scale;
    i64 end = 0;
    RT_ROLLED
    for (i64 r = 0; r < round_up_div(count, MR) * MR; ++r) {
      const i64 row = row_at(r), limit = how.causal ? query_of(row) + shape.past + 1 : shape.total();
      copy(q + r * shape.size, x.q.of(batch, head_of(row), query_of(row)), shape.size, scale);
      part(at.top)[r] = kNone;
      part(at.total)[r] = 0;
      part(at.limit)[r] = static_cast<f32>(limit < shape.total() ? limit : shape.total());
      RT_ROLLED
      for (i64 i = 0; i < kWide; i += kPart) store(sums + r * kWide, Lanes<kPart>{i}, V{});
      if (part(at.limit)[r] > static_cast<f32>(end)) end = limit < shape.total() ? limit : shape.total();
    }
    return end;
  }
  RT_FN void take_block(i64 key, i64 keys, const f32* k, i64 k_stride, const f32* v, i64 v_stride) const {
    Panels<f32> values{v, kPanel, v_stride};
    if constexpr (InPanels) {
      const StridedB<f32, 0> columns = strided_b(k, Strides<0>{}, 1, k_stride);
      RT_ROLLED
      for (i64 p = 0; p < panels_of(keys); ++p)
        columns.pack_panel(part(at.k) + p * shape.size * kPanel, k + p * kPanel * k_stride, keys - p * kPanel,
                           shape.size);
    }
    if constexpr (InPanels || !kIsMultiple<Width, kPanel>) {
      const StridedB<f32, 0> columns = strided_b(v, Strides<0>{}, v_stride, 1);
      RT_ROLLED
      for (i64 p = 0; p < ValuePanels::value; ++p)
        columns.pack_panel(part(at.v) + p * keys * kPanel, v + p * kPanel, Width::value - p * kPanel, keys);
      values = {part(at.v), keys * kPanel, kPanel};
    }
    RT_ROLLED
    for (i64 r = 0; r < count; r += MR) {
      score(r, keys, k, k_stride);
      weigh(r, key, keys);
      add_values(r, keys, values);
    }
  }

  // ---- scores of a tile: [MR][kScoreStride]
  RT_FN f32* scores_of(int row) const { return part(at.scores) + row * kScoreStride; }
  RT_FN void score(i64 r, i64 keys, const f32* k, i64 k_stride) const {
    const f32* const q = part(at.q) + r * shape.size;
    if constexpr (InPanels) {
      const TileSplit across = split_columns<NV>(keys);
      if (plain()) {
        RT_ROLLED
        for (int i = 0; i < MR; ++i) store(part(at.largest) + i * kPart, Lanes<kPart>{0}, splat<V>(kNone));
      }
      RT_ROLLED
      for (i64 p = 0; p < across.parts; ++p)
        each_size<NV, i64>(across, p, [&](auto size) __attribute__((always_inline)) {
          constexpr int W = decltype(size)::value;
          const f32* const panels = part(at.k) + across.begin(p) * shape.size * kPanel;
          using Sums = Accumulators<MR, W, ScoreSplits>;
          Sums sums;
          sums.clear();
          sums.add_products(q, shape.size, Panels<f32>{panels, shape.size * kPanel, kPanel}, shape.size);
          sums.join();
          keep<W>(indices<Sums::kSums>{}, sums.sum, across.begin(p) * kPanel);
        });
    } else {
      RT_ROLLED
      for (int i = 0; i < MR; ++i) RT_ROLLED
      for (i64 c = 0; c < keys; c += kBlock) {
        const Block sums =
            dot_square(indices<kBlock>{}, q + i * shape.size, k + c * k_stride, k_stride, keys - 1 - c, shape.size);
        store(scores_of(i), Lanes<kBlock>{c}, sums);
      }
    }
  }
  template <int W, int... I>
  RT_FN void keep(Indices<int, I...>, const V* sums, i64 column) const {
    constexpr int kVectors = W * kParts;
    (..., store(scores_of(I / kVectors), Lanes<kPart>{column + I % kVectors * kPart}, sums[I]));
    if (plain()) raise<kVectors>(indices<MR>{}, sums);
  }
  template <int Vectors, int... I>
  RT_FN void raise(Indices<int, I...>, const V* sums) const {
    (..., raise_row(indices<Vectors>{}, part(at.largest) + I * kPart, sums + I * Vectors));
  }
  template <int... J>
  RT_FN static void raise_row(Indices<int, J...>, f32* to, const V* sums) {
    V largest = load(to, Lanes<kPart>{0});
    (..., (largest = sums[J] > largest ? sums[J] : largest));
    store(to, Lanes<kPart>{0}, largest);
  }
  /// Scores of a row with a block's keys from `column` on, of the products that stand there: all of them with keys that
  /// it may see if Whole, else a key that it may not see, and what is no key, has -inf.
  template <bool Whole>
  RT_FN V score_of(V score, i64 r, i64 key, i64 keys, i64 column) const {
    if (how.cap != 0) score = tanh(V(score / splat<V>(how.cap))) * splat<V>(how.cap);
    const V none = splat<V>(kNone), position = iota<V>() + splat<V>(static_cast<f32>(key + column));
    if constexpr (!kSame<M, NoMask>) {
      const i64 row = row_at(r);
      const auto* const from = mask.of(batch, head_of(row), query_of(row));
      const auto inside = condition(position < splat<V>(static_cast<f32>(shape.total())));
      const auto bias = [&] {
        if constexpr (Whole) return load(from, Lanes<kPart>{key + column});
        if constexpr (!Whole) return load_or(from, Lanes<kPart>{key + column}, inside, value_in<M>{});
      }();
      if constexpr (kSame<M, bool>) {
        score = native<V>(bias) ? score : splat<V>(how.masked);
      } else {
        score = bias == none ? none : score + bias;
      }
    }
    if constexpr (Whole) return score;
    const f32 limit = part(at.limit)[r], end = static_cast<f32>(key + keys);
    return position < splat<V>(limit < end ? limit : end) ? score : none;
  }

  // ---- their weights
  /// exp(score - top), or 2^(score - top) if plain, to 2^-24 of 1: what rounding a product adds is less than a weight
  /// of 1 is rounded by.
  template <class T>
  RT_FN T weight_of(T score, f32 top) const {
    if (plain() && top < kMostBaseOfExp2 && top > -kMostBaseOfExp2) return exp2_flush(score, top);
    const T less = score - splat<T>(top);
    return exp2_flush(plain() ? less : T(less * splat<T>(kLog2E)));
  }
  /// The largest of a row's scores, which replace the products.
  RT_FN f32 largest_score(f32* scores, i64 r, i64 key, i64 keys) const {
    const i64 seen = static_cast<i64>(part(at.limit)[r]) - key, whole = (seen < keys ? seen : keys) / kPart * kPart;
    V largest = splat<V>(kNone);
    i64 c = 0;
    RT_ROLLED
    for (; c < whole; c += kPart) {
      const V s = score_of<true>(load(scores, Lanes<kPart>{c}), r, key, keys, c);
      store(scores, Lanes<kPart>{c}, s);
      largest = s > largest ? s : largest;
    }
    RT_ROLLED
    for (; c < keys; c += kPart) {
      const V s = score_of<false>(load(scores, Lanes<kPart>{c}), r, key, keys, c);
      store(scores, Lanes<kPart>{c}, s);
      largest = s > largest ? s : largest;
    }
    return detail::across(Accumulator<Max, V>{largest}).result();
  }
  RT_FN void weigh(i64 r, i64 key, i64 keys) const {
    raise_tops(r, key, keys);
    RT_ROLLED
    for (int i = 0; i < MR; ++i) {
      f32* const scores = scores_of(i);
      const f32 top = part(at.top)[r + i], base = top == kNone ? 0 : top;
      V sum{};
      RT_ROLLED
      for (i64 c = 0; c < keys; c += kPart) {
        const V e = weight_of(load(scores, Lanes<kPart>{c}), base);
        store(scores, Lanes<kPart>{c}, e);
        sum += e;
      }
      f32& total = part(at.total)[r + i];
      total = total * part(at.rescale)[i] + detail::across(Accumulator<Sum, V>{sum}).result();
    }
  }
  /// The largest scores that the rows of a tile have met, and by what their sums so far change. Apart from the weights:
  /// rows wait for their largest score side by side.
  RT_FN void raise_tops(i64 r, i64 key, i64 keys) const {
    const bool known = knows_largest(r, key, keys);
    RT_ROLLED
    for (int i = 0; i < MR; ++i) {
      f32& top = part(at.top)[r + i];
      const f32 before = top, score = known ? largest_product(i) : largest_score(scores_of(i), r + i, key, keys),
                highest = plain() ? ceil(score) : score;
      top = highest > before ? highest : before;
      part(at.rescale)[i] = top == before ? 1 : before == kNone ? 0 : weight_of(before, top);
    }
  }
  /// Whether all of a tile's products are scores, so that the largest of each row was found as they were made.
  RT_FN bool knows_largest(i64 r, i64 key, i64 keys) const {
    bool known = InPanels && plain() && keys % kPanel == 0;
    RT_ROLLED
    for (int i = 0; i < MR; ++i) known = known && part(at.limit)[r + i] >= static_cast<f32>(key + keys);
    return known;
  }
  RT_FN f32 largest_product(int row) const {
    return detail::across(Accumulator<Max, V>{load(part(at.largest) + row * kPart, Lanes<kPart>{0})}).result();
  }

  // ---- values
  RT_FN void add_values(i64 r, i64 keys, Panels<f32> values) const {
    const TileSplit across = split_tiles(ValuePanels::value, kAcross);
    RT_ROLLED
    for (i64 p = 0; p < across.parts; ++p)
      each_size<kAcross, ValuePanels>(across, p, [&](auto size) __attribute__((always_inline)) {
        constexpr int W = decltype(size)::value;
        const Panels<f32> from{values.at + across.begin(p) * values.panel_step, values.panel_step, values.k_step};
        add_products<W>(part(at.sums) + r * kWide + across.begin(p) * kPanel, part(at.rescale), part(at.scores), from,
                        keys);
      });
  }
  /// A function of its own: inlined, the sums would share the registers with whatever else of the kernel is alive.
  template <int W>
  __attribute__((noinline)) static void add_products(f32* to, const f32* rescale, const f32* weights,
                                                     Panels<f32> values, i64 keys) {
    using Sums = Accumulators<MR, W, ValueSplits>;
    Sums sums;
    sums.clear();
    sums.add_products(weights, kScoreStride, values, keys);
    sums.join();
    add<W>(indices<Sums::kSums>{}, sums.sum, rescale, to);
  }
  template <int W, int... I>
  RT_FN static void add(Indices<int, I...>, const V* sums, const f32* rescale, f32* to) {
    constexpr int kVectors = W * kParts;
    (..., add_one(sums[I], rescale[I / kVectors], to + I / kVectors * kWide + I % kVectors * kPart));
  }
  RT_FN static void add_one(V sum, f32 rescale, f32* to) {
    store(to, Lanes<kPart>{0}, V(load(to, Lanes<kPart>{0}) * splat<V>(rescale) + sum));
  }
  RT_FN void finish() const {
    RT_ROLLED
    for (i64 r = 0; r < count; ++r) {
      const f32 total = part(at.total)[r], share = 1 / (how.guarded && total == 0 ? 1 : total);
      f32 *const sums = part(at.sums) + r * kWide, *const y = x.y.of(batch, head_of(first + r), query_of(first + r));
      i64 i = 0;
      RT_ROLLED
      for (; i + kPart <= Width::value; i += kPart)
        store(y, Lanes<kPart>{i}, V(load(sums, Lanes<kPart>{i}) * splat<V>(share)));
      RT_ROLLED
      for (; i < Width::value; ++i) y[i] = sums[i] * share;
    }
  }

  // ---- the caches
  /// By the unit of a group's first rows: some keys and their values, which it reads next.
  RT_FN void extend_caches(i64 key, i64 end) const {
    if (first != 0) return;
    if (x.present_k.at) extend(x.present_k, x.past_k, x.k, shape.size, key, end);
    if (x.present_v.at) extend(x.present_v, x.past_v, x.v, Width::value, key, end);
  }
  RT_FN void extend(AttentionRows<f32> to, AttentionRows<const f32> past, AttentionRows<const f32> now, i64 size,
                    i64 key, i64 end) const {
    RT_ROLLED
    for (; key < end; ++key) {
      f32* const row = to.of(batch, group, key);
      const f32* const from = key < shape.past ? past.of(batch, group, key) : now.of(batch, group, key - shape.past);
      if (x.streams && size % kPart == 0 && reinterpret_cast<u64>(row) % sizeof(V) == 0) {
        RT_ROLLED
        for (i64 i = 0; i < size; i += kPart) stream(row + i, load_next<f32, kPart>(from + i));
      } else {
        copy(row, from, size);
      }
    }
  }
  RT_FN static void copy(f32* to, const f32* from, i64 size, f32 scale = 1) {
    i64 i = 0;
    RT_ROLLED
    for (; i + kPart <= size; i += kPart) store(to, Lanes<kPart>{i}, V(load(from, Lanes<kPart>{i}) * splat<V>(scale)));
    RT_ROLLED
    for (; i < size; ++i) to[i] = from[i] * scale;
  }
};

}  // namespace detail

// `width` is value_size as a constant (`c<64>`), `keys` those of a block: kMostKeys at most. A tile of MR rows by NV
// panels; InPanels: keys are brought into panels, else the few rows of a unit read them where they stand. Splits: of
// the sums over a key's elements in panels, and of those over keys, as contract's.
template <int MR, int NV, bool InPanels, int ScoreSplits = 1, int ValueSplits = 1, class Width, class M>
RT_FN void attention(const Call& call, const AttentionShape& shape, Width, i64 block, i64 keys,
                     const AttentionScores& how, const AttentionOperands& x, AttentionRows<const M> mask) {
  const AttentionTile tile{MR, NV, block, keys};
  detail::Attention<MR, NV, InPanels, ScoreSplits, ValueSplits, Width, M>{
      call, shape, tile, how, x, mask, attention_scratch(shape, tile)}
      .run();
}
#endif

}  // namespace rt
