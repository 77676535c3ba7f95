// Constants as kernels want them: in another order of axes, with room around, or in the panels of a product. Each made
// once.
#pragma once
#include <map>
#include <string>

#include "optimizer/layout/operand.h"

namespace cameo {

class RelaidConstants {
 public:
  Constant get(const Constant& t, const Operand& as);

 private:
  std::map<std::pair<const Tensor*, std::string>, Constant> made_;
};

}  // namespace cameo
