// The graph's inputs: their types with the dims of the command line bound. First every flag says what it knows about a
// name, then the types are made from that; a flag that names nothing is an error that lists what there is.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "frontend/import/import_internal.h"
#include "frontend/ir/limits.h"

namespace cameo::importing {
namespace {

struct Axis {
  std::string position;  // INPUT[AXIS]
  std::string text;      // as the model writes it; empty when it is a number
  Expr extent;
};
struct Declared {
  const onnx::ValueInfoProto* proto;
  DType dtype = DType::undefined;
  std::optional<std::vector<Axis>> axes;  // nothing: the model gives no rank
  std::optional<Type> list = {};          // instead, of what is no tensor
  bool ok = true;
  std::string title() const { return printable(proto->name()); }
};

class InputTyper {
 public:
  InputTyper(const ImportOptions& options, SizeBounds& bounds, Model& model,
             const std::function<void(Diagnostic)>& report)
      : options_(options), known_(bounds), model_(model), report_(report), dims_(options.dims) {
    std::erase_if(dims_, [](auto& d) { return d.second < 0; });
  }

  std::vector<Input> run(const std::vector<const onnx::ValueInfoProto*>& protos) {
    for (const auto* p : protos) declared_.push_back(declare(*p));
    bind_positions();
    bind_shapes();
    bind_claims();
    bind_ranges();
    check_dims_used();
    std::vector<Input> inputs;
    for (Declared& d : declared_) inputs.push_back({d.proto, type_of(d)});
    return inputs;
  }

 private:
  void fail(Code code, std::string message, std::string help = {}) {
    report_({code, std::move(message), {}, {}, {}, std::move(help)});
  }

  Declared declare(const onnx::ValueInfoProto& p) {
    Declared d{&p, DType::undefined, std::nullopt};
    d.ok = false;
    if (is_list(p.type())) return declare_list(std::move(d));
    if (p.type().value_case() != onnx::TypeProto::kTensorType) {
      fail(Code::E0403, fmt::format("input `{}` is {}: only tensors can be inputs", d.title(), describe(p.type())));
      return d;
    }
    const auto& t = p.type().tensor_type();
    d.dtype = dtype_of(t.elem_type());
    if (d.dtype == DType::undefined) {
      fail(Code::E0403, fmt::format("input `{}` has the unknown element type {}", d.title(), t.elem_type()));
      return d;
    }
    d.ok = true;
    if (!t.has_shape()) return d;
    d.axes.emplace();
    for (const auto& dim : t.shape().dim()) d.axes->push_back(declare_axis(d, dim, d.axes->size()));
    return d;
  }

  Declared declare_list(Declared d) {
    try {
      d.list = type_of_element(d.proto->type());
      d.ok = true;
    } catch (CompileError& e) {
      e.diagnostic.message = fmt::format("input `{}`: {}", d.title(), e.diagnostic.message);
      report_(std::move(e.diagnostic));
    }
    return d;
  }
  /// The type of a list with these dims for the tensors in it; nothing where the model declares others.
  static std::optional<Type> with_dims(const Type& t, const std::vector<SizeRange>& shape) {
    if (t.is_list()) {
      const auto of = with_dims(*t.of, shape);
      return of ? std::optional(Type::list(t.kind, *of, t.key)) : std::nullopt;
    }
    Type given(t.dtype, {});
    for (const SizeRange& n : shape)
      given.shape.push_back(n.is_number() ? Dim(static_cast<int64_t>(n.low)) : any_extent());
    if (t.ranked && t.rank() != given.rank()) return std::nullopt;
    for (int d = 0; t.ranked && d < t.rank(); ++d)
      if (t.shape[d].is_static()) {
        if (given.shape[d].is_static() && given.shape[d] != t.shape[d]) return std::nullopt;
        given.shape[d] = t.shape[d];
      }
    return given;
  }

  Axis declare_axis(Declared& d, const onnx::TensorShapeProto::Dimension& dim, size_t axis) {
    Axis a{fmt::format("{}[{}]", d.proto->name(), axis), {}, {}};
    if (dim.has_dim_value() && dim.dim_value() >= 0) {
      a.extent = integer(dim.dim_value());
      return a;
    }
    if (dim.has_dim_value() && dim.dim_value() < -1) {  // -1 is how some exporters write "any", as a name, too
      fail(Code::E0302, fmt::format("input `{}` has the extent {} on axis {}", d.title(), dim.dim_value(), axis));
      d.ok = false;
    }
    const bool has_name = !dim.dim_param().empty() && dim.dim_param() != "-1";
    a.text = has_name ? dim.dim_param() : a.position;
    a.extent = has_name ? parse_dim(dim.dim_param()) : symbol(a.position);
    return a;
  }

  /// Of an input whose rank a flag gives.
  static void declare_axes(Declared& d, size_t rank) {
    d.axes.emplace();
    for (size_t k = 0; k < rank; ++k) {
      const std::string position = fmt::format("{}[{}]", d.proto->name(), k);
      d.axes->push_back({position, position, symbol(position)});
    }
  }

  /// `INPUT[AXIS]=N` and a whole expression `past + 1=N` say the same as their symbol.
  void bind_positions() {
    for (Declared& d : declared_)
      for (Axis& a : d.axes.value_or(std::vector<Axis>{}))
        for (const std::string& key : {a.position, a.text})
          if (auto it = options_.dims.find(key); it != options_.dims.end() && !a.extent.is_const()) {
            used_.insert(key);
            if (it->second < 0 || it->second > kMaxExtent)
              fail(Code::E0503,
                   fmt::format("`--dim {}={}`: an extent is 0 to {}", printable(key), it->second, kMaxExtent));
            else
              claim(a, it->second, fmt::format("--dim {}={}", printable(key), it->second));
          }
    for (Declared& d : declared_)
      for (Axis& a : d.axes.value_or(std::vector<Axis>{}))
        for (auto& s : symbols_of(a.extent)) used_.insert(s);
  }

  void claim(const Axis& a, int64_t value, std::string flag) {
    claims_.push_back({a.extent, value});
    claimed_.push_back({a, std::move(flag)});
  }
  void bind_claims() {
    solve_dims(claims_, dims_);
    for (size_t i = 0; i < claims_.size(); ++i) {
      const auto& [axis, flag] = claimed_[i];
      std::string known = fmt::format("axis `{}` is `{}`", printable(axis.position), printable(axis.text));
      if (Expr e = bind_symbols(axis.extent, dims_); e.is_const())
        known = fmt::format("axis `{}` is {}", printable(axis.position), e.int_value());
      if (claims_[i].state == DimClaim::Fails)
        fail(Code::E0503, fmt::format("`{}` does not fit: {}", flag, known));
      else if (claims_[i].state == DimClaim::Open)
        fail(Code::E0503, fmt::format("`{}` does not say enough: {}", flag, known),
             fmt::format("bind {}", fmt::join(symbols_of(bind_symbols(axis.extent, dims_)), " or ")));
    }
  }

  /// What a flag's range says of the one symbol of an axis.
  struct RangeClaim {
    Axis axis;
    Interval range;
    std::string flag;
  };
  void bind_range(const RangeClaim& claim) {
    const auto& [a, range, flag] = claim;
    const Affine e = affine(bind_symbols(a.extent, dims_));
    const std::string axis = fmt::format("axis `{}` is", printable(a.position)), text = printable(a.text);
    if (e.terms.empty()) {
      const std::string by_name = text.empty() ? "" : fmt::format(" `{}`,", text);
      return fail(Code::E0503, fmt::format("`{}` does not fit: {}{} {}", flag, axis, by_name, e.constant));
    }
    if (e.terms.size() > 1 || e.terms[0].term.op() != Op::Symbol || e.terms[0].coefficient != 1)
      return fail(Code::E0503, fmt::format("`{}` does not say enough: {} `{}`", flag, axis, text),
                  "give its symbols ranges");
    const std::string name(symbol_name(e.terms[0].term));
    const bool open = range.high == kOpen;
    Interval bounds{std::max<Wide>(0, range.low - e.constant),
                    open ? std::max<Wide>(range.low, known_.most_of_open) : range.high - e.constant};
    if (const auto required = known_.required.find(name); open && required != known_.required.end())
      bounds = {std::max(bounds.low, required->second.low), std::min(bounds.high, required->second.high)};
    if (bounds.low > bounds.high)
      return fail(Code::E0503, fmt::format("`{}` leaves no size: {} `{}`", flag, axis, text));
    const Expr size = symbol(name, bounds, open);
    if (const auto [known, fresh] = bounded_.try_emplace(name, size); !fresh && known->second != size)
      fail(Code::E0503, fmt::format("`{}` gives `{}` another range than a flag before it", flag, printable(name)));
  }
  std::vector<Axis> symbolic_axes() const {
    std::vector<Axis> all;
    for (const Declared& d : declared_)
      for (const Axis& a : d.axes.value_or(std::vector<Axis>{}))
        if (!a.extent.is_const()) all.push_back(a);
    return all;
  }
  void claim_range(const Axis& axis, Interval range, const std::string& flag) {
    if (range.low < 0 || range.low > range.high || (range.high > kMaxExtent && range.high != kOpen))
      fail(Code::E0503, fmt::format("`{}`: sizes go up from 0 to {} at most", flag, kMaxExtent));
    else
      ranged_.push_back({axis, range, flag});
  }
  void bind_ranges() {
    for (const auto& [name, range] : options_.ranges) {
      const std::string flag = fmt::format("--dim {}={}", printable(name), range_text(range));
      std::vector<Axis> named = symbolic_axes();
      const bool is_symbol = used_.contains(name);
      std::erase_if(named, [&](const Axis& a) { return a.position != name && a.text != name; });
      if (named.empty() && is_symbol) named.push_back({name, name, symbol(name)});
      if (!named.empty()) used_.insert(name);
      for (const Axis& a : named) claim_range(a, range, flag);
    }
    std::set<std::string> open;
    for (const RangeClaim& c : ranged_)
      if (c.range.high == kOpen)
        for (std::string& name : symbols_of(c.axis.extent)) open.insert(std::move(name));
    if (open.empty())
      known_.most_of_open = 0;
    else if (!known_.most_of_open)
      known_.most_of_open = most_of_open(open.size());
    for (const RangeClaim& c : ranged_) bind_range(c);
    stand_plainly();
  }
  /// A run reads symbols off the dims of its inputs: where there are only sums of one, such a sum becomes the symbol.
  void stand_plainly() {
    for (auto& [name, bounded] : bounded_) {
      const std::vector<Axis> axes = symbolic_axes();
      const auto sum_of = [&](const Axis& a) { return affine(bind_symbols(a.extent, dims_)); };
      const auto is_sum = [&](const Axis& a) {
        const Affine sum = sum_of(a);
        return sum.terms.size() == 1 && sum.terms[0].term == symbol(name) && sum.terms[0].coefficient == 1;
      };
      if (std::ranges::any_of(axes, [&](const Axis& a) { return is_sum(a) && sum_of(a).constant == 0; })) continue;
      const auto axis = std::ranges::find_if(axes, is_sum);
      if (axis == axes.end()) continue;
      const int64_t more = sum_of(*axis).constant;
      const Interval range = range_of(bounded);
      bounded = symbol(axis->text, {range.low + more, range.high + more}, is_open(bounded)) - integer(more);
    }
    stand_as_wholes();
  }
  /// Where a symbol stands in no dim but in products, or in sums with others, the dims that it stands in are symbols.
  void stand_as_wholes() {
    const std::vector<Axis> axes = symbolic_axes();
    std::set<std::string> plain;
    for (const Axis& a : axes)
      if (const Affine sum = affine(bind_symbols(a.extent, dims_));
          sum.terms.size() == 1 && sum.terms[0].term.op() == Op::Symbol && sum.terms[0].coefficient == 1)
        plain.emplace(symbol_name(sum.terms[0].term));
    for (const Axis& a : axes) {
      const Expr extent = bind_symbols(a.extent, dims_);
      const std::vector<std::string> names = symbols_of(extent);
      const auto is_plain = [&](const std::string& name) { return plain.contains(name); };
      const auto is_bounded = [&](const std::string& name) { return bounded_.contains(name); };
      if (std::ranges::all_of(names, is_plain) || !std::ranges::all_of(names, is_bounded)) continue;
      const Expr known = bounded(extent);
      Interval range = range_of(known);
      if (is_open(known)) range.high = std::max<Wide>(range.low, known_.most_of_open);
      wholes_.emplace(extent, symbol(a.text, range, is_open(known)));
    }
  }
  Expr bounded(Expr extent) const {
    if (const auto whole = wholes_.find(bind_symbols(extent, dims_)); whole != wholes_.end()) return whole->second;
    return rewrite(bind_symbols(extent, dims_), [&](Expr e) {
      if (e.op() != Op::Symbol) return e;
      const auto known = bounded_.find(std::string(symbol_name(e)));
      return known == bounded_.end() ? e : known->second;
    });
  }

  const std::vector<SizeRange>* shape_for(size_t i) {
    for (const std::string& key : {declared_[i].proto->name(), std::to_string(i)})
      if (auto it = options_.shapes.find(key); it != options_.shapes.end()) {
        used_shapes_.insert(key);
        return &it->second;
      }
    return nullptr;
  }

  /// 2x3, or 1..8,3 where there are ranges.
  static std::string shape_text(const std::vector<SizeRange>& shape) {
    const bool numbers = std::ranges::all_of(shape, &SizeRange::is_number);
    std::string text;
    for (const SizeRange& n : shape)
      text += (text.empty() ? ""
               : numbers    ? "x"
                            : ",") +
              (n.is_number() ? fmt::format("{}", static_cast<int64_t>(n.low)) : range_text(n));
    return text;
  }
  static bool is_possible(const std::vector<SizeRange>& shape) {
    std::vector<int64_t> numbers;
    for (const SizeRange& n : shape)
      if (n.is_number()) numbers.push_back(static_cast<int64_t>(n.low));
    return std::ranges::none_of(numbers, [](int64_t n) { return n < 0; }) && element_count(numbers);
  }
  void bind_shapes() {
    for (size_t i = 0; i < declared_.size(); ++i) {
      Declared& d = declared_[i];
      const std::vector<SizeRange>* shape = shape_for(i);
      if (!shape) continue;
      const std::string flag = fmt::format("--shape {}={}", d.title(), shape_text(*shape));
      if (!is_possible(*shape)) {
        fail(Code::E0503, fmt::format("`{}`: no tensor has these dims", flag));
        d.ok = false;
      } else if (d.list) {
        if (const auto given = with_dims(*d.list, *shape))
          d.list = given;
        else
          fail(Code::E0503, fmt::format("`{}` does not fit: the input is {}", flag, to_string(*d.list)));
      } else if (d.axes && d.axes->size() != shape->size()) {
        fail(Code::E0503, fmt::format("`{}` has {} dims, the input has {}", flag, shape->size(), d.axes->size()));
      } else {
        if (!d.axes) declare_axes(d, shape->size());
        for (size_t k = 0; k < shape->size(); ++k) {
          const SizeRange& n = (*shape)[k];
          n.is_number() ? claim((*d.axes)[k], static_cast<int64_t>(n.low), flag) : claim_range((*d.axes)[k], n, flag);
        }
      }
    }
    for (auto& [name, shape] : options_.shapes)
      if (!used_shapes_.count(name)) no_such("--shape", name, "inputs", input_names());
  }

  std::vector<std::string> input_names() const {
    std::vector<std::string> names;
    for (const Declared& d : declared_) names.push_back(d.proto->name());
    return names;
  }
  void check_dims_used() {
    std::vector<std::string> known;
    for (Declared& d : declared_)
      for (Axis& a : d.axes.value_or(std::vector<Axis>{}))
        if (!a.text.empty() && std::ranges::find(known, a.text) == known.end()) known.push_back(a.text);
    for (auto& [name, value] : options_.dims)
      if (!used_.count(name)) no_such("--dim", name, "symbolic dims", known);
    for (auto& [name, range] : options_.ranges)
      if (!used_.count(name)) no_such("--dim", name, "symbolic dims", known);
  }
  void no_such(std::string_view flag, const std::string& name, std::string_view what,
               const std::vector<std::string>& known) {
    std::string list;
    for (size_t i = 0; i < std::min<size_t>(known.size(), 20); ++i)
      list += fmt::format("{}`{}`", i ? ", " : "", printable(known[i]));
    fail(Code::E0502, fmt::format("`{} {}` names nothing in the model", flag, printable(name)),
         known.empty() ? fmt::format("the model has no {}", what) : fmt::format("its {} are {}", what, list));
  }

  Type type_of(Declared& d) {
    if (!d.ok) return Type::error();
    if (d.list) return *d.list;
    if (!d.axes) {
      fail(Code::E0501, fmt::format("input `{}` has no declared shape", d.title()),
           fmt::format("--shape {}=AxBxC gives it one; an extent may be a range, 1..8", d.title()));
      return Type::error();
    }
    Shape shape;
    bool fits = true;
    for (size_t k = 0; k < d.axes->size(); ++k) {
      Expr e = bounded((*d.axes)[k].extent);
      if (e.is_const() && e.int_value() < 0) {
        fail(Code::E0503,
             fmt::format("axis `{}` would have the extent {}", printable((*d.axes)[k].position), e.int_value()));
        fits = false;
      }
      for (const std::string& name : symbols_of(bind_symbols((*d.axes)[k].extent, dims_)))
        if (!bounded_.contains(name)) model_.unbound.push_back({d.proto->name(), static_cast<int>(k), name});
      shape.push_back(Dim(e));
    }
    return fits && is_possible(d, shape) ? Type(d.dtype, std::move(shape)) : Type::error();
  }

  bool is_possible(const Declared& d, const Shape& shape) {
    std::vector<int64_t> known;
    for (const Dim& e : shape) known.push_back(e.is_static() ? e.value() : e.upper() == kOpen ? 1 : e.upper());
    std::string limit = beyond_limits(d.dtype, known);
    if (!limit.empty()) fail(Code::E0405, fmt::format("input `{}` {}", d.title(), limit));
    return limit.empty();
  }

  const ImportOptions& options_;
  SizeBounds& known_;
  Model& model_;
  const std::function<void(Diagnostic)>& report_;
  std::map<std::string, int64_t> dims_;
  std::map<std::string, Expr> bounded_;              // by name of a symbol: with its bounds
  std::unordered_map<Expr, Expr, ExprHash> wholes_;  // by extent: the symbol in its place
  std::vector<Declared> declared_;
  std::vector<DimClaim> claims_;  // of flags, and for each the axis and the flag
  std::vector<std::pair<Axis, std::string>> claimed_;
  std::vector<RangeClaim> ranged_;
  std::set<std::string> used_, used_shapes_;
};

}  // namespace

std::vector<Input> type_inputs(const std::vector<const onnx::ValueInfoProto*>& inputs, const ImportOptions& options,
                               SizeBounds& bounds, Model& model, const std::function<void(Diagnostic)>& report) {
  return InputTyper(options, bounds, model, report).run(inputs);
}

}  // namespace cameo::importing

namespace cameo {

std::map<std::string, int64_t> dims_from_data(const Model& model,
                                              const std::map<std::string, std::vector<int64_t>>& shapes) {
  std::map<std::string, int64_t> dims;
  std::vector<importing::DimClaim> claims;
  std::vector<ValueId> inputs;  // of each claim
  auto misfit = [&](ValueId v, std::vector<std::string> notes) {
    const std::string& input = model.graph[v].name;
    throw CompileError({Code::E0302,
                        fmt::format("the data for input `{}` is {}, the model takes {}", printable(input),
                                    fmt::join(shapes.at(input), "x"), to_string(model.graph.type(v).shape)),
                        {},
                        {},
                        std::move(notes),
                        {}});
  };
  for (ValueId v : model.graph.inputs()) {
    auto it = shapes.find(model.graph[v].name);
    if (it == shapes.end()) continue;
    const Shape& shape = model.graph.type(v).shape;
    if (shape.size() != it->second.size()) misfit(v, {});
    for (size_t k = 0; k < shape.size(); ++k) {
      claims.push_back({shape[k].extent(), it->second[k]});
      inputs.push_back(v);
    }
  }
  importing::solve_dims(claims, dims);
  for (size_t i = 0; i < claims.size(); ++i) {
    if (claims[i].state != importing::DimClaim::Fails) continue;
    std::vector<std::string> notes;
    for (const std::string& name : importing::symbols_of(claims[i].extent))
      for (size_t k = 0; k < claims.size(); ++k)
        if (claims[k].extent == symbol(name) && claims[k].value == dims[name]) {
          notes.push_back(
              fmt::format("`{}` is {} in `{}`", printable(name), dims[name], printable(model.graph[inputs[k]].name)));
          break;
        }
    misfit(inputs[i], std::move(notes));
  }
  return dims;
}

}  // namespace cameo
