// See mutate_model.h.
#include "tests/fuzz/mutate_model.h"

#define ONNX_ML 1
#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <google/protobuf/stubs/logging.h>
#include <onnx/onnx_pb.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <vector>

namespace cameo::fuzz {
namespace {

namespace pb = google::protobuf;
using Field = const pb::FieldDescriptor*;

constexpr int64_t kInts[] = {0,
                             1,
                             2,
                             3,
                             4,
                             5,
                             6,
                             7,
                             8,
                             10,
                             11,
                             13,
                             14,
                             16,
                             17,
                             18,
                             19,
                             20,
                             21,
                             22,
                             23,
                             32,
                             64,
                             127,
                             128,
                             255,
                             -1,
                             -2,
                             INT32_MAX,
                             INT32_MIN,
                             INT64_MAX,
                             INT64_MIN,
                             1ll << 31,
                             1ll << 32,
                             1ll << 40,
                             1ll << 62,
                             INT64_MAX - 1};
constexpr double kReals[] = {0,
                             -0.,
                             1,
                             -1,
                             0.5,
                             2,
                             1e30,
                             -1e38,
                             1e-40,
                             1e300,
                             -1e300,
                             std::numeric_limits<double>::infinity(),
                             -std::numeric_limits<double>::infinity(),
                             std::numeric_limits<double>::quiet_NaN()};

/// A message of the model, and where it hangs.
struct Place {
  pb::Message* message;
  int depth;
};
struct Census {
  std::vector<Place> messages;
  std::vector<std::string> words;  // every string of the model
};

void count(pb::Message& m, int depth, Census& census) {
  if (depth > 60 || census.messages.size() > 20'000) return;
  census.messages.push_back({&m, depth});
  const pb::Reflection& r = *m.GetReflection();
  std::vector<Field> fields;
  r.ListFields(m, &fields);
  for (Field f : fields) {
    const int n = f->is_repeated() ? r.FieldSize(m, f) : 1;
    for (int i = 0; i < n; ++i) {
      if (f->cpp_type() == pb::FieldDescriptor::CPPTYPE_MESSAGE)
        count(f->is_repeated() ? *r.MutableRepeatedMessage(&m, f, i) : *r.MutableMessage(&m, f), depth + 1, census);
      if (f->cpp_type() == pb::FieldDescriptor::CPPTYPE_STRING)
        census.words.push_back(f->is_repeated() ? r.GetRepeatedString(m, f, i) : r.GetString(m, f));
    }
  }
}

class Mutator {
 public:
  Mutator(pb::Message& model, unsigned seed) : random_(seed), model_(model) { count(model, 0, census_); }

  void change() {
    pb::Message& m = *census_.messages[below(census_.messages.size())].message;
    const pb::Reflection& r = *m.GetReflection();
    std::vector<Field> fields;
    r.ListFields(m, &fields);
    const pb::Descriptor& type = *m.GetDescriptor();
    if (!type.field_count()) return;
    const bool present = !fields.empty() && below(4) != 0;
    Field f = present ? fields[below(fields.size())]
                      : type.field(static_cast<int>(below(static_cast<size_t>(type.field_count()))));
    if (f->is_repeated())
      change_list(m, r, f);
    else if (below(8) == 0)
      r.ClearField(&m, f);
    else
      set(m, r, f, -1);
    census_ = {};
    count(model_, 0, census_);
  }

  /// Puts a message of another model where one of its type stands, or behind it.
  bool take_from(pb::Message& other) {
    Census theirs;
    count(other, 0, theirs);
    for (int tries = 0; tries < 20; ++tries) {
      const pb::Message& gift = *theirs.messages[below(theirs.messages.size())].message;
      if (gift.GetDescriptor() == model_.GetDescriptor()) continue;
      if (place(gift)) return true;
    }
    return false;
  }

  size_t below(size_t n) { return random_() % n; }

 private:
  bool place(const pb::Message& gift) {
    for (int tries = 0; tries < 40; ++tries) {
      pb::Message& m = *census_.messages[below(census_.messages.size())].message;
      const pb::Descriptor& type = *m.GetDescriptor();
      for (int i = 0; i < type.field_count(); ++i) {
        Field f = type.field(i);
        if (f->message_type() != gift.GetDescriptor() || below(3) == 0) continue;
        (f->is_repeated() ? m.GetReflection()->AddMessage(&m, f) : m.GetReflection()->MutableMessage(&m, f))
            ->CopyFrom(gift);
        return true;
      }
    }
    return false;
  }

  void change_list(pb::Message& m, const pb::Reflection& r, Field f) {
    const int n = r.FieldSize(m, f);
    if (n == 0) return add(m, r, f);
    const int i = static_cast<int>(below(static_cast<size_t>(n))), j = static_cast<int>(below(static_cast<size_t>(n)));
    switch (below(6)) {
      case 0: return r.SwapElements(&m, f, i, j);
      case 1: r.SwapElements(&m, f, i, n - 1); return r.RemoveLast(&m, f);
      case 2: return add(m, r, f);
      case 3:
        if (f->cpp_type() == pb::FieldDescriptor::CPPTYPE_MESSAGE) {
          const std::unique_ptr<pb::Message> copy(r.GetRepeatedMessage(m, f, i).New());
          copy->CopyFrom(r.GetRepeatedMessage(m, f, i));
          return r.AddMessage(&m, f)->CopyFrom(*copy);
        }
        return set(m, r, f, i);
      default: return set(m, r, f, i);
    }
  }

  void add(pb::Message& m, const pb::Reflection& r, Field f) {
    switch (f->cpp_type()) {
      case pb::FieldDescriptor::CPPTYPE_MESSAGE: {
        const auto other = another(*f->message_type());
        pb::Message* into = r.AddMessage(&m, f);
        if (other) into->CopyFrom(*other);
        break;
      }
      case pb::FieldDescriptor::CPPTYPE_STRING: r.AddString(&m, f, word(f)); break;
      case pb::FieldDescriptor::CPPTYPE_INT64: r.AddInt64(&m, f, whole()); break;
      case pb::FieldDescriptor::CPPTYPE_INT32: r.AddInt32(&m, f, static_cast<int32_t>(whole())); break;
      case pb::FieldDescriptor::CPPTYPE_UINT64: r.AddUInt64(&m, f, static_cast<uint64_t>(whole())); break;
      case pb::FieldDescriptor::CPPTYPE_FLOAT: r.AddFloat(&m, f, static_cast<float>(real())); break;
      case pb::FieldDescriptor::CPPTYPE_DOUBLE: r.AddDouble(&m, f, real()); break;
      default: break;
    }
  }

  /// Element `i` of a list, or with -1 the field.
  void set(pb::Message& m, const pb::Reflection& r, Field f, int i) {
    const bool one = i < 0;
    switch (f->cpp_type()) {
      case pb::FieldDescriptor::CPPTYPE_MESSAGE: {
        const auto other = another(*f->message_type());  // before another member of a oneof goes
        pb::Message* into = one ? r.MutableMessage(&m, f) : r.MutableRepeatedMessage(&m, f, i);
        if (other) into->CopyFrom(*other);
        break;
      }
      case pb::FieldDescriptor::CPPTYPE_STRING: {
        std::string text = below(3) ? word(f) : changed(one ? r.GetString(m, f) : r.GetRepeatedString(m, f, i));
        one ? r.SetString(&m, f, std::move(text)) : r.SetRepeatedString(&m, f, i, std::move(text));
        break;
      }
      case pb::FieldDescriptor::CPPTYPE_INT64: {
        const int64_t v = near(one ? r.GetInt64(m, f) : r.GetRepeatedInt64(m, f, i));
        one ? r.SetInt64(&m, f, v) : r.SetRepeatedInt64(&m, f, i, v);
        break;
      }
      case pb::FieldDescriptor::CPPTYPE_INT32: {
        const auto v = static_cast<int32_t>(near(one ? r.GetInt32(m, f) : r.GetRepeatedInt32(m, f, i)));
        one ? r.SetInt32(&m, f, v) : r.SetRepeatedInt32(&m, f, i, v);
        break;
      }
      case pb::FieldDescriptor::CPPTYPE_UINT64: {
        const auto v = static_cast<uint64_t>(whole());
        one ? r.SetUInt64(&m, f, v) : r.SetRepeatedUInt64(&m, f, i, v);
        break;
      }
      case pb::FieldDescriptor::CPPTYPE_FLOAT: {
        const auto v = static_cast<float>(real());
        one ? r.SetFloat(&m, f, v) : r.SetRepeatedFloat(&m, f, i, v);
        break;
      }
      case pb::FieldDescriptor::CPPTYPE_DOUBLE:
        one ? r.SetDouble(&m, f, real()) : r.SetRepeatedDouble(&m, f, i, real());
        break;
      case pb::FieldDescriptor::CPPTYPE_ENUM: {
        const int v = static_cast<int>(below(20));
        if (f->enum_type()->FindValueByNumber(v)) one ? r.SetEnumValue(&m, f, v) : r.SetRepeatedEnumValue(&m, f, i, v);
        break;
      }
      default: break;
    }
  }

  /// A copy of one of the model's messages of a type; null where there is none.
  std::unique_ptr<pb::Message> another(const pb::Descriptor& type) {
    std::vector<const pb::Message*> alike;
    for (const Place& p : census_.messages)
      if (p.message->GetDescriptor() == &type) alike.push_back(p.message);
    if (alike.empty()) return nullptr;
    const pb::Message& chosen = *alike[below(alike.size())];
    std::unique_ptr<pb::Message> copy(chosen.New());
    copy->CopyFrom(chosen);
    return copy;
  }

  std::string word(Field f) {
    if (f->type() == pb::FieldDescriptor::TYPE_BYTES && below(2)) {
      std::string bytes(below(40), '\0');
      for (char& c : bytes) c = below(3) ? static_cast<char>(below(4)) : static_cast<char>(random_());
      return bytes;
    }
    return census_.words.empty() ? "x" : census_.words[below(census_.words.size())];
  }
  std::string changed(std::string text) {
    if (text.empty()) return "a";
    const size_t at = below(text.size());
    switch (below(3)) {
      case 0: text[at] = static_cast<char>(32 + below(95)); break;
      case 1: text.erase(at, 1 + below(8)); break;
      default: text.insert(at, text.substr(below(text.size()), 1 + below(16)));
    }
    return text;
  }
  int64_t whole() { return kInts[below(std::size(kInts))]; }
  double real() { return kReals[below(std::size(kReals))]; }
  int64_t near(int64_t v) {
    if (below(3) == 0) return static_cast<int64_t>(static_cast<uint64_t>(v) + (below(2) ? 1 : ~uint64_t{}));
    return whole();
  }

  std::minstd_rand random_;
  pb::Message& model_;
  Census census_;
};

bool parse(std::string_view bytes, onnx::ModelProto& into) {
  static const bool quiet = (pb::SetLogHandler(nullptr), true);
  (void)quiet;
  return into.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

std::string written(const onnx::ModelProto& model, size_t most) {
  std::string text = model.SerializeAsString();
  return text.size() <= most ? text : std::string();
}

}  // namespace

std::string mutated_model(std::string_view bytes, unsigned seed, size_t most) {
  onnx::ModelProto model;
  if (!parse(bytes, model)) return {};
  Mutator mutator(model, seed);
  for (size_t n = 1 + mutator.below(4); n-- > 0;) mutator.change();
  return written(model, most);
}

std::string joined_models(std::string_view a, std::string_view b, unsigned seed, size_t most) {
  onnx::ModelProto model, other;
  if (!parse(a, model) || !parse(b, other)) return {};
  Mutator mutator(model, seed);
  if (!mutator.take_from(other)) return {};
  return written(model, most);
}

}  // namespace cameo::fuzz
