// The table of machine models: which target a machine is, and what asks for which instructions.
#include "optimizer/target.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace cameo {
namespace {

bool has_extensions(const Target& t, const std::vector<std::string>& names) {
  return std::ranges::all_of(names,
                             [&](const std::string& name) { return std::ranges::count(t.extensions, name) == 1; });
}

TEST(Targets, AreFoundByTheirNames) {
  std::set<std::string> names;
  for (const Target& t : named_targets()) {
    EXPECT_TRUE(names.insert(t.name).second) << t.name;
    EXPECT_EQ(find_target(t.name), &t);
    EXPECT_EQ(t.machine.name, t.name);
    EXPECT_FALSE(t.is_gpu());
  }
  EXPECT_EQ(named_targets().back().name, "x86-64-v4-amx");
  EXPECT_EQ(find_target("x86-64-v5"), nullptr);
}

TEST(Targets, AreCompiledForWhatTheyMultiplyBy) {
  for (const Target& t : named_targets()) {
    EXPECT_EQ(t.machine.dot8, has_extensions(t, {"avx512vnni"})) << t.name;
    EXPECT_EQ(t.machine.dot16, has_extensions(t, {"avx512bf16"})) << t.name;
    EXPECT_EQ(t.machine.amx, has_extensions(t, {"amx-tile", "amx-int8", "amx-bf16"})) << t.name;
    EXPECT_TRUE(t.extensions.empty() || t.cpu == "x86-64-v4") << t.name;
    EXPECT_EQ(t.features.find("rt::kAmxTile") != std::string::npos, t.machine.amx) << t.name;
    EXPECT_TRUE(!t.machine.amx || (t.machine.dot8 && t.machine.dot16)) << "tiles are multiplied beside vectors";
  }
}

TEST(Targets, ThisMachineIsANamedOne) {
  for (DType precision : {DType::f32, DType::bf16}) {
    const Target& native = native_target(precision);
    const Target* named = find_target(native.name);
    ASSERT_NE(named, nullptr) << native.name;
    EXPECT_EQ(native.extensions, named->extensions);
    EXPECT_EQ(native.machine.dot8, named->machine.dot8);
    EXPECT_EQ(native.machine.dot16, named->machine.dot16);
    EXPECT_EQ(native.machine.amx, named->machine.amx);
  }
  EXPECT_EQ(native_target(DType::f32).machine.amx, native_target(DType::bf16).machine.amx);
}

}  // namespace
}  // namespace cameo
