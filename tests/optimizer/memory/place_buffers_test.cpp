// Memory planning on buffers alone: buffers that live at once lie apart, others share, and the arena is as large as it
// must be.
#include <gtest/gtest.h>

#include "frontend/ir/bind_dims.h"
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

/// Of an open size.
Buffer open_buffer(Expr bytes, int first, int last) {
  Buffer b = buffer(0, first, last);
  b.size = bytes;
  return b;
}

TEST(PlaceBlocks, ThoseThatDoNotLiveAtOnceShareABlock) {
  const Expr small = symbol("n", {1, 1 << 24}, true) * integer(4), large = small * integer(8);
  Plan plan;
  plan.buffers = {open_buffer(small, 0, 1), open_buffer(large, 1, 2), buffer(64, 0, 9), open_buffer(small, 2, 3)};
  place_blocks(plan);
  EXPECT_EQ(plan.blocks, (std::vector<Block>{{small}, {large}}));
  EXPECT_EQ(plan.buffers[0].block, 0u);
  EXPECT_EQ(plan.buffers[1].block, 1u);
  EXPECT_EQ(plan.buffers[3].block, 0u);
}
TEST(PlaceBlocks, ABlockIsTheHostsOrTheGpus) {
  const Expr n = symbol("n", {1, 1 << 24}, true);
  Plan plan;
  plan.buffers = {open_buffer(n, 0, 1), open_buffer(n, 2, 3), open_buffer(n, 4, 5)};
  plan.buffers[1].on_host = true;
  place_blocks(plan);
  EXPECT_EQ(plan.blocks, (std::vector<Block>{{n}, {n, true}}));
  EXPECT_EQ(plan.buffers[2].block, 0u);
}
TEST(PlaceBlocks, ABlockHasRoomForTheLargest) {
  const Expr n = symbol("n", {1, 1 << 24}, true), m = symbol("m", {1, 1 << 24}, true);
  Plan plan;
  plan.buffers = {open_buffer(n, 0, 1), open_buffer(m, 2, 3), open_buffer(n * integer(2), 4, 4)};
  place_blocks(plan);
  ASSERT_EQ(plan.blocks.size(), 1u);
  for (const auto& [of_n, of_m, bytes] : {std::tuple(3, 5, 6), std::tuple(1, 7, 7)})
    EXPECT_EQ(simplify_index(bind_symbols(plan.blocks[0].bytes, {{"n", of_n}, {"m", of_m}})), integer(bytes));
}

}  // namespace
}  // namespace cameo
