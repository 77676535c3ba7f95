// How a family writes the call of its function: lines, and lambdas in whose scopes expressions become named
// temporaries. Codegen implements it.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "optimizer/lower/product.h"
#include "runtime/kernels/contract_shape.h"

namespace cameo {

/// Variables and the names that a lambda's parameters give them.
using Bindings = std::vector<std::pair<Expr, std::string>>;

class KernelPrinter {
 public:
  virtual ~KernelPrinter() = default;
  virtual void line(std::string_view text) = 0;
  virtual void open(std::string_view text) = 0;   // a line behind which lines are indented
  virtual void close(std::string_view text) = 0;  // the line that ends that
  virtual void append(std::string_view lines) = 0;

  /// The lines that `body` writes into a scope of its own, `deeper` levels inside of the line that was opened last.
  virtual std::string scope(int deeper, const Bindings& variables, const std::function<void()>& body) = 0;
  /// In the innermost scope: a line, and the kernel's stores by this function of rt::.
  virtual void statement(std::string_view text) = 0;
  virtual void stores(std::string_view function = "store(") = 0;
  /// The name of an expression's value, or a literal; it is computed in the outermost scope that has its variables. A
  /// size that only a run knows is a parameter of the kernel.
  virtual std::string name(Expr e) = 0;
  /// A number of which the function that is called makes a type: `rt::c<64>`. Kernels that share sizes may have others
  /// there, which `multiple` divides; 0: none may.
  virtual std::string constant(Expr number, int64_t multiple) = 0;
};

// ---- words of calls
/// A number of which the function makes a type, or a size.
std::string constant_of(KernelPrinter& printer, Expr extent, int64_t multiple = 0);
/// The same of rows, whose divisors nobody asks for.
std::string rows_of(KernelPrinter& printer, Expr extent, int64_t multiple = 0);
std::string extents_of(KernelPrinter& printer, std::span<const Expr> variables);  // rt::extents(..)
/// The coefficients of an affine offset: rt::strides(..).
std::string strides_of(KernelPrinter& printer, const Affine& offset, std::span<const Expr> variables);
/// `rt::i64 i0, rt::i64 i1, `: parameters for variables, and what they bind.
std::string parameters_of(std::span<const Expr> variables);
Bindings bindings_of(std::span<const Expr> variables);

// ---- lambdas
void print_lambda(KernelPrinter& printer, std::string_view parameters, const Bindings& variables, std::string_view end,
                  const std::function<void()>& body);
/// Over outer axes, a row, a column and more.
void print_tile_lambda(KernelPrinter& printer, const Kernel& k, std::string_view parameters, const Bindings& more,
                       std::string_view end, const std::function<void()>& body);
/// The last one of a call: the stores, for an element of a tile.
void print_epilogue(KernelPrinter& printer, const Kernel& k, std::string_view parameters);
/// The last argument of a call that sums products.
void print_sum_epilogue(KernelPrinter& printer, const Product& p, std::string_view end = "});");
/// What a call that sums products multiplies by. `pack_from`: rows from which on its b is brought into panels, where it
/// does not stand in them; integers stand in quads, bf16 may in pairs.
inline constexpr int64_t kInPanels = -1, kInQuads = -2, kInPairs = -3;
std::string b_of(KernelPrinter& printer, const Product& p, int64_t pack_from);
/// The whole call: `function` is its name and template arguments, `b` as above, `first` and `last` what it takes before
/// the extents and behind the epilogue; `rows`, `columns` and `terms`: what divides their numbers where kernels that
/// differ in them are one function, 0: they are literals.
struct ProductCall {
  std::string function, b, first = "", last = "";
  int64_t rows = 0, columns = 0, terms = 0;
};
void print_product(KernelPrinter& printer, const Product& p, const ProductCall& call);

}  // namespace cameo
