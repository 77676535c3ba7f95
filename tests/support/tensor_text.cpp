// The words of `.case` lines, and tensors written as text.
#include "tests/support/tensor_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace cameo::test {

// ---- words ----------------------------------------------------------------------------------------------------------
std::string trim(std::string_view s) {
  size_t a = s.find_first_not_of(" \t\r"), b = s.find_last_not_of(" \t\r");
  return a == std::string_view::npos ? "" : std::string(s.substr(a, b - a + 1));
}
std::string without_comment(const std::string& line) {
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"') quoted = !quoted;
    if (line[i] == '#' && !quoted) return trim(line.substr(0, i));
  }
  return trim(line);
}
/// Takes the first word off the front.
std::string take_word(std::string& s) {
  size_t end = s.find_first_of(" \t");
  std::string word = s.substr(0, end);
  s = end == std::string::npos ? "" : trim(s.substr(end));
  return word;
}
/// Words between spaces, commas and square brackets; a quoted word keeps its inside.
std::vector<std::string> split_values(const std::string& s) {
  std::vector<std::string> words;
  for (size_t i = 0; i < s.size();) {
    if (std::string_view(" \t,[]").find(s[i]) != std::string_view::npos) {
      ++i;
    } else if (s[i] == '"') {
      size_t end = s.find('"', i + 1);
      if (end == std::string::npos) throw std::runtime_error("a quote that does not end");
      words.push_back(s.substr(i + 1, end - i - 1));
      i = end + 1;
    } else {
      size_t end = std::min(s.find_first_of(" \t,[]", i), s.size());
      words.push_back(s.substr(i, end - i));
      i = end;
    }
  }
  return words;
}
namespace {
std::vector<std::string> split_at(const std::string& s, char c) {
  std::vector<std::string> parts{""};
  for (char x : s) x == c ? void(parts.emplace_back()) : void(parts.back() += x);
  return parts;
}

}  // namespace
int64_t to_int(const std::string& s) {
  if (s == "true" || s == "false") return s == "true";
  size_t end = 0;
  bool negative = !s.empty() && s[0] == '-';
  int64_t v = negative ? std::stoll(s, &end, 0) : static_cast<int64_t>(std::stoull(s, &end, 0));
  if (end != s.size()) throw std::runtime_error(fmt::format("`{}` is no integer", s));
  return v;
}
double to_float(const std::string& s) {
  if (s == "true" || s == "false") return s == "true";
  char* end = nullptr;
  const double v = std::strtod(s.c_str(), &end);
  if (s.empty() || *end) throw std::runtime_error(fmt::format("`{}` is no number", s));
  return v;
}

// ---- tensors --------------------------------------------------------------------------------------------------------
std::optional<TensorType> parse_type(const std::string& s) {
  size_t open = s.find('[');
  if (open == std::string::npos || s.back() != ']') return std::nullopt;
  auto row = std::ranges::find(kDTypes, s.substr(0, open), &DTypeRow::name);
  if (row == std::end(kDTypes)) return std::nullopt;
  TensorType t{static_cast<DType>(row - kDTypes), {}};
  std::string inside = s.substr(open + 1, s.size() - open - 2);
  if (!inside.empty())
    for (const std::string& d : split_at(inside, 'x')) t.dims.push_back(to_int(d));
  return t;
}

namespace {
/// splitmix64: the same numbers everywhere.
struct Random {
  uint64_t state;
  uint64_t next() {
    uint64_t z = state += 0x9E3779B97F4A7C15ull;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ z >> 27) * 0x94D049BB133111EBull;
    return z ^ z >> 31;
  }
  double uniform(double low, double high) { return low + (high - low) * (static_cast<double>(next() >> 11) * 0x1p-53); }
  int64_t integer(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(next() % static_cast<uint64_t>(high - low + 1));
  }
};

void put(Tensor& t, int64_t i, const std::string& word) {
  if (is_complex(t.dtype())) {
    const auto v = parse_complex(word);
    if (!v) throw std::runtime_error(fmt::format("`{}` is no complex number", word));
    t.parts().set(2 * i, v->real()), t.parts().set(2 * i + 1, v->imag());
    return;
  }
  if (is_float(t.dtype()))
    t.set(i, to_float(word));
  else
    t.set_int(i, to_int(word));
}

/// Where types end and begin to lose: limits, powers of two and their neighbours, of floats NaN and infinities too.
std::vector<double> edge_floats(DType t) {
  std::vector<double> v{0, -0.,  1,     -1,  2,   0.5,   -0.5,  1.5,    2.5,    -2.5,
                        3, 1e-3, 127.5, 255, 256, 32768, 65504, 0x1p31, -0x1p31};
  for (double x : {0x1p32, 0x1p53, 0x1p63, -0x1p63, 0x1p64, 3.4e38, -3.4e38, 1e300, 1e-40, 0x1p-126, 0x1p-149, 1e-310})
    if (Tensor s = Tensor::scalar(t, x); std::isfinite(s.get(0)) && s.get(0) != 0) v.push_back(x);
  v.insert(v.end(), {HUGE_VAL, -HUGE_VAL, std::nan("")});
  return v;
}
std::vector<int64_t> edge_integers(DType t) {
  const int bits = row(t).bits;
  std::vector<int64_t> v{0, 1, 2, 3, 5, 7};
  auto near = [&](uint64_t x) {
    v.insert(v.end(), {static_cast<int64_t>(x - 1), static_cast<int64_t>(x), static_cast<int64_t>(x + 1)});
  };
  near(0);
  near(uint64_t{1} << (bits - 1));  // the sign: of signed types the smallest and the largest number
  for (int k : {7, 8, 15, 16, 31, 32, 53, 62})
    if (k < bits - 1) {
      near(uint64_t{1} << k);
      near(-(uint64_t{1} << k));
    }
  return v;
}

bool generate(Tensor& t, const std::string& word) {
  std::vector<std::string> p = split_at(word, ':');
  bool floating = is_float(t.dtype());
  auto each = [&](auto f) {
    for (int64_t i = 0; i < t.size(); ++i)
      floating ? t.set(i, static_cast<double>(f(i))) : t.set_int(i, static_cast<int64_t>(f(i)));
    return true;
  };
  if (word == "zeros") return each([](int64_t) { return 0; });
  if (word == "ones") return each([](int64_t) { return 1; });
  if (p[0] == "fill" && p.size() == 2) {
    for (int64_t i = 0; i < t.size(); ++i) put(t, i, p[1]);
    return true;
  }
  if (p[0] == "iota" && (p.size() == 1 || p.size() == 3)) {
    double first = p.size() == 3 ? to_float(p[1]) : 0, step = p.size() == 3 ? to_float(p[2]) : 1;
    return each([&](int64_t i) { return first + step * static_cast<double>(i); });
  }
  if (p[0] == "randint" && p.size() == 4) {
    Random r{static_cast<uint64_t>(to_int(p[1]))};
    return each([&](int64_t) { return r.integer(to_int(p[2]), to_int(p[3])); });
  }
  if (p[0] == "edge" && p.size() == 2) {
    Random r{static_cast<uint64_t>(to_int(p[1]))};
    const std::vector<double> floats = floating ? edge_floats(t.dtype()) : std::vector<double>();
    const std::vector<int64_t> integers = floating ? std::vector<int64_t>() : edge_integers(t.dtype());
    auto any = [&](const auto& v) { return v[r.next() % v.size()]; };
    for (int64_t i = 0; i < t.size(); ++i) floating ? t.set(i, any(floats)) : t.set_int(i, any(integers));
    return true;
  }
  if (p[0] != "rand" || (p.size() != 2 && p.size() != 4)) return false;
  Random r{static_cast<uint64_t>(to_int(p[1]))};
  if (floating) {
    double low = p.size() == 4 ? to_float(p[2]) : -1, high = p.size() == 4 ? to_float(p[3]) : 1;
    return each([&](int64_t) { return r.uniform(low, high); });
  }
  bool is_bool = t.dtype() == DType::b1;
  int64_t low = p.size() == 4 ? to_int(p[2]) : is_signed(t.dtype()) ? -10 : 0;
  int64_t high = p.size() == 4 ? to_int(p[3]) : is_bool ? 1 : 10;
  return each([&](int64_t) { return r.integer(low, high); });
}

}  // namespace

Tensor parse_values(const TensorType& type, const std::string& text) {
  std::vector<std::string> words = split_values(text);
  if (type.dtype == DType::str) {
    if (static_cast<int64_t>(words.size()) != element_count(type.dims))
      throw std::runtime_error("as many strings as the dims say");
    return Tensor::of_strings(type.dims, words);
  }
  Tensor t(type.dtype, type.dims), parts = t.parts();
  if (words.size() == 1 && generate(parts, words[0])) return t;
  if (static_cast<int64_t>(words.size()) != t.size())
    throw std::runtime_error(fmt::format("{} values for a tensor of {} elements", words.size(), t.size()));
  for (size_t i = 0; i < words.size(); ++i) put(t, static_cast<int64_t>(i), words[i]);
  return t;
}

Tensor parse_tensor(const std::string& text) {
  size_t equals = text.find('=');
  auto type = parse_type(trim(text.substr(0, equals)));
  if (!type || equals == std::string::npos) throw std::runtime_error("`TYPE = VALUES`, as in `f32[2x3] = iota`");
  return parse_values(*type, text.substr(equals + 1));
}

// ---- lists ----------------------------------------------------------------------------------------------------------
std::optional<Type> parse_element_type(const std::string& text) {
  const std::string word = trim(text);
  const size_t open = word.find('[');
  const auto row = std::ranges::find(kDTypes, word.substr(0, open), &DTypeRow::name);
  if (row == std::end(kDTypes) || word.find('=') != std::string::npos) return std::nullopt;
  Type t(static_cast<DType>(row - kDTypes), {});
  t.ranked = open != std::string::npos;
  const std::string inside = t.ranked ? word.substr(open + 1, word.size() - open - 2) : "";
  if (!inside.empty())
    for (const std::string& d : split_at(inside, 'x')) t.shape.push_back(d == "?" ? any_extent() : Dim(to_int(d)));
  return t;
}

namespace {

/// What stands between the `;` that are in no braces.
std::vector<std::string> split_items(std::string_view s) {
  std::vector<std::string> items{""};
  int depth = 0;
  for (char c : s) {
    depth += (c == '{') - (c == '}');
    if (c == ';' && depth == 0)
      items.emplace_back();
    else
      items.back() += c;
  }
  if (trim(items.back()).empty()) items.pop_back();
  return items;
}

TypedValue parse_map(const std::vector<std::string>& items) {
  if (items.size() != 2) throw std::runtime_error("a map has keys and values");
  const TypedValue keys = parse_value(items[0]), values = parse_value(items[1]);
  return {Type::list(Kind::Map, values.type, keys.type.dtype), Tensor::of_items({keys.value, values.value})};
}

}  // namespace

TypedValue parse_value(const std::string& text) {
  const std::string word = trim(text);
  const size_t open = word.find('{'), equals = word.find('=');
  if (open == std::string::npos || equals < open) {
    const Tensor t = parse_tensor(word);
    return {type_of(t), t};
  }
  if (word.back() != '}') throw std::runtime_error("a list without its `}`");
  const std::string kind = word.substr(0, open);
  const std::vector<std::string> texts = split_items(std::string_view(word).substr(open + 1, word.size() - open - 2));
  if (kind == "map") return parse_map(texts);
  if (kind != "seq" && kind != "opt") throw std::runtime_error(fmt::format("`{}` is no kind of list", kind));
  std::optional<Type> of;
  std::vector<Tensor> items;
  for (const std::string& item : texts) {
    std::optional<Type> type = parse_element_type(item);
    if (!type) {
      const TypedValue value = parse_value(item);
      items.push_back(value.value);
      type = value.type;
    }
    of = of ? common_element(*of, *type) : type;
    if (!of) throw std::runtime_error("elements of several types");
  }
  if (!of) throw std::runtime_error("a list of what? `seq{f32}` has no elements");
  return {Type::list(kind == "seq" ? Kind::Sequence : Kind::Optional, *of), Tensor::of_items(std::move(items))};
}

}  // namespace cameo::test
