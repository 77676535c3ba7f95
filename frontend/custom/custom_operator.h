// Operators that a file of the user's declares (runtime/cameo/op.h). They are rows like those of the operator table:
// types come from the file's shape rule, and the meaning is an Expr that its function is asked for, or else a kernel of
// its own. What the file is compiled with, codegen knows.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "frontend/ir/operator.h"
#include "runtime/cameo/op.h"

namespace cameo {

struct CustomFile {
  std::string path;  // as it was named
  std::string text;
  std::string name;  // a C identifier, another one for each file of a build
};

/// Lives as long as the process, and so does the library that has its functions: graphs point to it.
struct CustomOperator : Operator {
  const op::Operator* declared = nullptr;
  std::shared_ptr<const CustomFile> file;
  int row = 0;  // of the file's table
};

/// The element types that such a file may name.
inline constexpr DTypes kCustomTypes = DTypes::from_bits(op::tensors.bits);

/// Null of an operator of cameo's own.
const CustomOperator* as_custom(const Operator& op);

/// Adds those of one more file to those of others. E0702 where a row makes no sense, or there is such an operator.
void declare_custom(const op::Table& table, std::shared_ptr<const CustomFile> file, std::vector<const Operator*>& all);

/// A node's attributes as the file reads them, defaults included.
class CustomAttributes {
 public:
  explicit CustomAttributes(const NodeView& n);
  CustomAttributes(const CustomAttributes&) = delete;
  std::span<const op::Attribute> list() const { return list_; }

 private:
  void add(const NodeView& n, const AttrSpec& spec);
  std::vector<op::Attribute> list_;
  struct Held;
  std::vector<std::shared_ptr<const Held>> held_;
};

/// What `run` is given beside pointers: of the node's Opaque, its numbers by what they are.
struct CustomNumbers {
  explicit CustomNumbers(const Graph& g, const Node& n);
  Expr scratch, extent;                                // bytes a thread; of the axis that threads share
  std::vector<std::span<const Expr>> outputs, inputs;  // dims; of absent ones none
};

}  // namespace cameo
