// Memory planning on buffers alone: buffers that live at once lie apart, others share, and the arena is as large as it
// must be.
#include <gtest/gtest.h>

#include "optimizer/plan/plan.h"
#include "optimizer/plan/verify_plan.h"

namespace cameo {
namespace {

std::vector<int64_t> offsets(std::vector<Buffer> buffers, int64_t arena) {
  EXPECT_EQ(place_buffers(buffers), arena);
  std::vector<int64_t> at;
  for (const Buffer& b : buffers) at.push_back(b.offset);
  return at;
}
Buffer buffer(int64_t bytes, int first, int last) { return {bytes, first, last, 0, ""}; }
using Offsets = std::vector<int64_t>;

TEST(PlaceBuffers, AChainTakesTurns) {
  EXPECT_EQ(offsets({buffer(128, 0, 1), buffer(128, 1, 2), buffer(128, 2, 3)}, 256), (Offsets{0, 128, 0}));
}
TEST(PlaceBuffers, BothEndsOfALifeCount) {
  EXPECT_EQ(offsets({buffer(64, 0, 1), buffer(64, 1, 1)}, 128), (Offsets{0, 64}));
  EXPECT_EQ(offsets({buffer(64, 0, 1), buffer(64, 2, 2)}, 64), (Offsets{0, 0}));
}
TEST(PlaceBuffers, TheLargestGoesFirstAndGapsAreFilled) {
  EXPECT_EQ(offsets({buffer(64, 0, 9), buffer(256, 0, 1), buffer(128, 2, 9), buffer(64, 2, 9)}, 320),
            (Offsets{256, 0, 0, 128}));
}
TEST(PlaceBuffers, OffsetsAreAligned) {
  EXPECT_EQ(offsets({buffer(65, 0, 1), buffer(1, 0, 1)}, 192), (Offsets{0, 128}));
}
TEST(PlaceBuffers, NothingNeedsNothing) { EXPECT_EQ(offsets({}, 0), Offsets{}); }

TEST(PlaceBuffers, ManyNeverOverlap) {
  Plan plan;
  uint64_t state = 1;
  auto next = [&](uint64_t n) {
    return static_cast<int64_t>((state = state * 6364136223846793005u + 1442695040888963407u) >> 33) %
           static_cast<int64_t>(n);
  };
  for (int i = 0; i < 300; ++i) {
    int first = static_cast<int>(next(500));
    plan.buffers.push_back(buffer(1 + next(5000), first, first + static_cast<int>(next(40))));
  }
  plan.arena_bytes = place_buffers(plan.buffers);
  EXPECT_TRUE(verify_plan(plan, {}, 0).empty());
}

}  // namespace
}  // namespace cameo
