// known_lists: lists whose elements are known when compiling cost nothing. What is taken out of one is the value that
// was put in, what joins its elements is a Concat, its length is a number, and what splits a tensor at known places is
// a Split; the lists go with the replay, where nothing else reads them.
#include "frontend/ops/known_list.h"
#include "optimizer/pipeline.h"

namespace cameo {
namespace {

using ops::known_elements;

class KnownLists {
 public:
  KnownLists(Graph& into, const Node& n, std::span<const ValueId> inputs) : into_(into), n_(n), inputs_(inputs) {}

  /// What stands for the node's output; null where that is the node itself.
  ValueId rewritten() const {
    const std::string_view op = n_.op->name;
    if (!n_.op->domain.empty() || inputs_.empty() || !inputs_[0]) return {};
    if (op == "SplitToSequence") return split();
    const auto elements = into_.type(inputs_[0]).is_list() ? known_elements(into_, inputs_[0]) : std::nullopt;
    if (!elements) return {};
    if (op == "SequenceLength") return number(DType::i64, std::ssize(*elements));
    if (op == "OptionalHasElement" && is_optional()) return number(DType::b1, !elements->empty());
    if (elements->empty()) return {};
    if (op == "SequenceAt") return element(*elements);
    if (op == "OptionalGetElement" && is_optional()) return (*elements)[0];
    if (op == "ConcatFromSequence") return joined(*elements);
    return {};
  }

 private:
  bool is_optional() const { return into_.type(inputs_[0]).kind == Kind::Optional; }
  int64_t attr(std::string_view name, int64_t otherwise) const {
    const auto found = n_.attrs.find(name);
    return found == n_.attrs.end() ? otherwise : std::get<int64_t>(found->second);
  }
  ValueId add(std::string_view op, std::vector<ValueId> inputs, Attrs attrs = {}) const {
    return into_.add(get_operator(op), std::move(inputs), std::move(attrs), n_.provenance)[0];
  }
  ValueId list(const std::vector<int64_t>& v) const { return into_.constant(Tensor::i64({std::ssize(v)}, v)); }
  ValueId number(DType t, int64_t v) const { return into_.constant(Tensor::scalar(t, static_cast<double>(v))); }

  ValueId element(const std::vector<ValueId>& elements) const {
    const Constant& position = into_[inputs_[1]].constant;
    if (!position || position->size() != 1) return {};
    const int64_t count = std::ssize(elements), at = position->get_int(0);
    return at >= -count && at < count ? elements[static_cast<size_t>(at < 0 ? at + count : at)] : ValueId();
  }
  ValueId joined(std::vector<ValueId> elements) const {
    const int64_t axis = attr("axis", 0);
    if (attr("new_axis", 0))
      for (ValueId& v : elements) v = add("Unsqueeze", {v, list({axis})});
    return add("Concat", std::move(elements), {{"axis", axis}});
  }
  /// Of a tensor at places that are known.
  ValueId split() const {
    Node here = n_;
    here.inputs.assign(inputs_.begin(), inputs_.end());
    const NodeView view(into_, here);
    const auto parts = ops::known_parts(view);
    if (!parts || parts->empty() || parts->size() > ops::kKnownElements) return {};
    std::vector<ValueId> values =
        into_.add(get_operator("Split"), {inputs_[0], list(*parts)}, {{"axis", view.attr_int("axis")}}, n_.provenance,
                  0, static_cast<int>(parts->size()));
    if (!view.has(1) && !view.attr_int("keepdims"))
      for (ValueId& v : values) v = add("Squeeze", {v, list({view.attr_int("axis")})});
    return add("SequenceConstruct", std::move(values));
  }

  Graph& into_;
  const Node& n_;
  std::span<const ValueId> inputs_;
};

}  // namespace

Graph known_lists(const Graph& g, PassContext& context) {
  return replay(g, [&](Graph& into, const Node& n, std::span<const ValueId> inputs) {
    std::optional<std::vector<ValueId>> outputs;
    const ValueId v = KnownLists(into, n, inputs).rewritten();
    if (v && context.apply("known_list", into, n.provenance)) outputs = {v};
    return outputs;
  });
}

}  // namespace cameo
