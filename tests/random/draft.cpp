// See draft.h.
#include "tests/random/draft.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "tests/support/tensor_text.h"

namespace cameo::random {
namespace {

constexpr int64_t kElements = 1500;  // of one value
constexpr int64_t kExtents[] = {0, 1, 1, 1, 1, 2,  2,  2,  3,  3,  3,  4,  4, 5,
                                5, 6, 7, 8, 9, 12, 15, 16, 17, 31, 32, 33, 65};

std::string text_of(double v) {
  if (std::isnan(v)) return "nan";
  if (std::isinf(v)) return v < 0 ? "-inf" : "inf";
  std::string s = fmt::format("{}", static_cast<float>(v));
  return s.find_first_of(".e") == std::string::npos ? s + ".0" : s;
}
std::string text_of(const Attr& a) {
  struct Visitor {
    std::string operator()(int64_t v) { return fmt::format("{}", v); }
    std::string operator()(double v) { return text_of(v); }
    std::string operator()(const std::string& v) { return fmt::format("\"{}\"", v); }
    std::string operator()(const std::vector<int64_t>& v) { return fmt::format("[{}]", fmt::join(v, ", ")); }
    std::string operator()(const std::vector<double>& v) {
      std::string s;
      for (double x : v) s += (s.empty() ? "" : ", ") + text_of(x);
      return "[" + s + "]";
    }
    std::string operator()(const std::vector<std::string>& v) {
      return fmt::format("[\"{}\"]", fmt::join(v, "\", \""));
    }
    std::string operator()(const Constant&) { throw std::logic_error("tensors are not written as attributes"); }
    std::string operator()(const std::shared_ptr<const Type>& v) { return to_string(*v); }
  };
  return std::visit(Visitor{}, a);
}
std::string type_text(DType t, const std::vector<int64_t>& dims) {
  return fmt::format("{}[{}]", name(t), fmt::join(dims, "x"));
}

}  // namespace

int64_t Local::size() const {
  int64_t n = 1;
  for (int64_t d : dims) n *= d;
  return n;
}

double exact_whole(DType t) {
  switch (t) {
    case DType::bf16: return 256;
    case DType::f16: return 2048;
    case DType::f32: return 1 << 24;
    case DType::f64: return 0x1p53;
    default: return HUGE_VAL;
  }
}

std::string Draft::fresh() { return fmt::format("{}{}", prefix_, names_++); }

// ---- values ---------------------------------------------------------------------------------------------------------
std::vector<int64_t> Draft::dims(int max_rank) {
  int rank = random.percent(85) ? static_cast<int>(random.in(0, std::min(4, max_rank)))
                                : static_cast<int>(random.in(0, max_rank));
  std::vector<int64_t> dims;
  int64_t size = 1;
  for (int d = 0; d < rank; ++d) {
    int64_t extent = kExtents[random.in(0, std::size(kExtents) - 1)];
    if (extent == 0 && random.percent(60)) extent = 2;
    if (size * extent > kElements) extent = 1;
    size *= std::max<int64_t>(extent, 1);
    dims.push_back(extent);
  }
  std::ranges::shuffle(dims, std::minstd_rand(static_cast<unsigned>(random.seed())));
  return dims;
}

DType Draft::dtype(DTypes among) {
  static constexpr DType kOften[] = {DType::f32, DType::f32, DType::f32, DType::f32,  DType::i64, DType::i64,
                                     DType::i64, DType::i64, DType::u64, DType::i32,  DType::i32, DType::u32,
                                     DType::b1,  DType::b1,  DType::f16, DType::bf16, DType::f64, DType::f64,
                                     DType::i8,  DType::u8,  DType::i16, DType::u16};
  for (int tries = 0; tries < 200; ++tries)
    if (DType t = kOften[random.in(0, std::size(kOften) - 1)]; among.contains(t)) return t;
  return DType::undefined;
}

void Draft::keep(Local v, Level level, bool whole, double bound) {
  v.level = is_float(v.dtype) ? level : Level::Exact;
  v.whole = whole || !is_float(v.dtype);
  const bool wraps =
      is_integer(v.dtype) && bound >= std::ldexp(1., static_cast<int>(8 * byte_size(v.dtype)) - is_signed(v.dtype));
  v.bound = wraps ? HUGE_VAL : bound;
  values.push_back(std::move(v));
}

Local Draft::input(DType t, const std::vector<int64_t>& dims, const std::string& text) {
  std::string name = fresh();
  lines.push_back(fmt::format("input {} {} = {}", name, type_text(t, dims), text));
  return {name, graph_.add_input(name, Type(t, shape_of(dims))), t, dims};
}
Local Draft::constant(DType t, const std::vector<int64_t>& dims, const std::string& text) {
  std::string name = fresh();
  lines.push_back(fmt::format("const {} {} = {}", name, type_text(t, dims), text));
  return {name, graph_.constant(test::parse_values({t, dims}, text), name), t, dims};
}
Local Draft::ints(const std::vector<int64_t>& v, DType t) {
  return constant(t, {static_cast<int64_t>(v.size())}, fmt::format("{}", fmt::join(v, " ")));
}

Local Draft::leaf(DType t, const std::vector<int64_t>& dims, bool tame) {
  std::string text;
  bool whole = !is_float(t);
  double bound = HUGE_VAL;
  // What 16-bit floats overflow in a chain, a fused kernel keeps: extremes are for the others.
  bool extreme = !tame && byte_size(t) != 0 && !(is_float(t) && byte_size(t) == 2) && random.percent(45);
  if (t == DType::b1) {
    text = fmt::format("rand:{}", random.seed());
  } else if (extreme) {
    text = fmt::format("edge:{}", random.seed());
  } else if (!is_float(t) || random.percent(40)) {
    whole = true, bound = 4;
    text = fmt::format("randint:{}:{}:4", random.seed(), is_signed(t) ? -4 : 0);
  } else {
    bound = 1;
    text = fmt::format("rand:{}", random.seed());
  }
  Local v = inner_ || random.percent(30) ? constant(t, dims, text) : input(t, dims, text);
  keep(v, Level::Exact, whole, bound);
  return values.back();
}

std::optional<Local> Draft::find(const std::function<bool(const Local&)>& fits) {
  std::vector<const Local*> found;
  for (const Local& v : values)
    if (fits(v)) found.push_back(&v);
  if (found.empty()) return std::nullopt;
  int64_t last = static_cast<int64_t>(found.size()) - 1;
  return *found[static_cast<size_t>(random.percent(60) ? random.in(std::max<int64_t>(last - 2, 0), last)
                                                       : random.in(0, last))];
}

Local Draft::pick(DTypes types, Level most, int least_rank, int most_rank) {
  auto fits = [&](const Local& v) {
    return types.contains(v.dtype) && v.level <= most && v.rank() >= least_rank && v.rank() <= most_rank;
  };
  if (random.percent(85))
    if (auto v = find(fits)) return *v;
  std::vector<int64_t> d = dims(most_rank);
  while (static_cast<int>(d.size()) < least_rank) d.insert(d.begin(), random.in(1, 3));
  return leaf(dtype(types), d);
}

namespace {
bool broadcasts(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  for (size_t i = 1; i <= std::min(a.size(), b.size()); ++i) {
    int64_t x = a[a.size() - i], y = b[b.size() - i];
    if (x != y && x != 1 && y != 1) return false;
  }
  return true;
}
}  // namespace

Local Draft::partner(const Local& x, Level most) {
  if (random.percent(65))
    if (auto v =
            find([&](const Local& v) { return v.dtype == x.dtype && v.level <= most && broadcasts(v.dims, x.dims); }))
      return *v;
  std::vector<int64_t> d = x.dims;
  if (random.percent(30)) d.erase(d.begin(), d.begin() + random.in(0, x.rank()));
  for (int64_t& extent : d) {
    if (random.percent(15))
      extent = 1;
    else if (extent == 1 && random.percent(20))
      extent = random.in(2, 4);
  }
  if (d.size() < 8 && random.percent(10)) d.insert(d.begin(), random.in(1, 3));
  return leaf(x.dtype, d, x.level != Level::Exact);
}

/// Remainders, clamps and sums of clamps: what proofs about ranges are made for. Some are not proven, some not true.
Local Draft::indices(const std::vector<int64_t>& dims, int64_t extent, DTypes types) {
  DType t = dtype(types);
  int64_t last = std::max<int64_t>(extent, 1) - 1;
  auto fresh_indices = [&] {
    int64_t low = random.percent(50) ? 0 : -(last + 1);
    std::string text = fmt::format("randint:{}:{}:{}", random.seed(), low, last);
    Local v = inner_ || random.percent(25) ? constant(t, dims, text) : input(t, dims, text);
    keep(v, Level::Exact, true, static_cast<double>(last + 1));
    return v;
  };
  if (extent == 0 || random.percent(35)) return fresh_indices();
  auto some = find([&](const Local& v) { return v.dtype == t && v.dims == dims; });
  Local x = some ? *some : leaf(t, dims);
  auto scalar = [&](int64_t v) { return constant(t, {}, fmt::format("{}", v)); };
  auto kept = [&](std::string_view op, const std::vector<Local>& in) {
    return add(op, in, {}, Level::Exact) ? values.back() : x;
  };
  switch (random.in(0, inner_ ? 4 : 7)) {
    case 0: return kept("Mod", {x, scalar(last + 1)});
    case 1: return kept("Min", {kept("Max", {x, scalar(0)}), scalar(last)});
    case 2: return kept("Clip", {x, scalar(0), scalar(last)});
    case 3: return kept("Sub", {scalar(last), kept("Mod", {x, scalar(last + 1)})});
    case 4: return kept("Mod", {kept("Abs", {x}), scalar(last + 1)});
    case 5: return kept("Add", {kept("Max", {x, scalar(0)}), kept("Max", {partner(x, Level::Exact), scalar(0)})});
    case 6: return kept("Min", {kept("Mul", {x, partner(x, Level::Exact)}), scalar(last)});
    default: return random.percent(30) ? x : fresh_indices();
  }
}

// ---- nodes ----------------------------------------------------------------------------------------------------------
std::optional<std::vector<Local>> Draft::node(std::string_view op, const std::vector<Local>& inputs, Attrs attrs,
                                              int outputs, const std::vector<Draft*>& bodies) {
  std::vector<ValueId> in;
  std::vector<std::shared_ptr<const Graph>> graphs;
  for (const Local& v : inputs) in.push_back(v.id);
  for (Draft* b : bodies) graphs.push_back(std::make_shared<const Graph>(b->graph_));
  std::vector<ValueId> made;
  try {
    made = graph_.add(get_operator(op), in, attrs, {}, 0, outputs, graphs);
  } catch (const CompileError&) {
    ++refused;
    return std::nullopt;
  }
  std::vector<Local> out;
  for (ValueId v : made) {
    const Type& t = graph_.type(v);
    if (t.kind != Kind::Tensor || !is_static(t.shape)) return std::nullopt;
    Local l{fresh(), v, t.dtype, extents(t.shape)};
    if (l.size() > 2 * kElements || l.rank() > 8) return std::nullopt;
    out.push_back(l);
  }
  std::string names, arguments, text;
  for (const Local& v : out) names += (names.empty() ? "" : ", ") + v.name;
  for (const Local& v : inputs) arguments += (arguments.empty() ? "" : ", ") + (v.id ? v.name : "-");
  for (auto& [name, value] : attrs) text += fmt::format(" {}={}", name, text_of(value));
  std::vector<std::string> labels;
  for (Draft* b : bodies) {
    labels.push_back(fmt::format("{}body{}", prefix_, bodies_++));
    lines.push_back("body " + labels.back());
    lines.insert(lines.end(), b->lines.begin(), b->lines.end());
    lines.emplace_back("end");
  }
  if (!labels.empty()) text += fmt::format(" bodies=[{}]", fmt::join(labels, ", "));
  lines.push_back(fmt::format("{} = {}({}){}", names, op, arguments, text));
  return out;
}

bool Draft::add(std::string_view op, const std::vector<Local>& inputs, Attrs attrs, Level level, bool whole,
                double bound) {
  auto out = node(op, inputs, std::move(attrs));
  if (!out) return false;
  keep(out->at(0), level, whole, bound);
  return true;
}

// ---- bodies ---------------------------------------------------------------------------------------------------------
Draft Draft::body() { return Draft(random, fmt::format("{}{}_", prefix_, names_++), true); }

Local Draft::body_input(const Local& outer, bool captured) {
  Local v = outer;
  if (!captured) v.name = fresh();
  v.id = graph_.add_input(v.name, Type(v.dtype, shape_of(v.dims)));
  lines.push_back(fmt::format("input {} {}", v.name, type_text(v.dtype, v.dims)));
  values.push_back(v);
  return v;
}

void Draft::output(const std::vector<Local>& outputs) {
  std::string names;
  for (const Local& v : outputs) {
    names += (names.empty() ? "" : ", ") + v.name;
    graph_.add_output(v.name, v.id);
  }
  lines.push_back("output " + names);
}

}  // namespace cameo::random
