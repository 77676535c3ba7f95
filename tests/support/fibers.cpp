// One block at a time, one thread at a time. A thread runs until it comes to a barrier of its warp or of its block, or
// to its end. A warp whose threads are at one of the warp runs on; a block whose threads are at one of the block, too.
// Which warp is next, and in which order its threads run, is drawn. A thread that ends without a barrier shows that its
// block has none: the others are then plain calls.
#include "tests/support/fibers.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <span>
#include <stdexcept>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

// Keeps what a call must keep on this stack, notes where, and goes on on the other one. (swapcontext asks the kernel
// for signal masks, which takes most of an emulation's time.)
extern "C" void cameo_switch_stack(void** from, void* to);
asm(R"(
.text
.local cameo_switch_stack
.type cameo_switch_stack, @function
cameo_switch_stack:
  endbr64
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size cameo_switch_stack, . - cameo_switch_stack
)");

namespace cameo::test {
namespace {

constexpr size_t kStackBytes = 128 << 10;
constexpr int kWarps = rt::kBlockThreads / rt::kWarpThreads;

#if defined(__SANITIZE_ADDRESS__)
// The sanitizer is told of each switch; a stack that is used again has no poison left of frames that were not left.
void before_switch(void** fake, const void* stack, size_t bytes) { __sanitizer_start_switch_fiber(fake, stack, bytes); }
void after_switch(void* fake, const void** stack, size_t* bytes) {
  __sanitizer_finish_switch_fiber(fake, stack, bytes);
}
void forget_frames(void* stack) { __asan_unpoison_memory_region(stack, kStackBytes); }
#else
void before_switch(void**, const void*, size_t) {}
void after_switch(void*, const void**, size_t*) {}
void forget_frames(void*) {}
#endif

enum class State : uint8_t { Ready, AtWarpBarrier, AtBlockBarrier, Ended };

struct Copy {
  char* to;
  const char* from;
  int bytes, source_bytes, group;
};

struct Fiber {
  void* stack_pointer = nullptr;
  void* fake_stack = nullptr;  // the sanitizer's
  std::unique_ptr<char[]> stack{new char[kStackBytes]};
  State state = State::Ready;
  std::vector<Copy> copies;  // under way
  int group = 0;             // that the next ones belong to
};

class Block {
 public:
  Block(rt::Fibers& words, const std::function<void()>& kernel, uint64_t seed)
      : words_(words), kernel_(kernel), fibers_(rt::kBlockThreads), random_(static_cast<uint32_t>(seed)) {
    for (auto& order : orders_) std::iota(order.begin(), order.end(), size_t(&order - orders_.data()) * order.size());
    std::iota(warps_.begin(), warps_.end(), size_t{0});
  }

  void run() {
    current_ = this;
    set_words(wait<State::AtBlockBarrier>, wait<State::AtWarpBarrier>);
    const size_t first = random_() % fibers_.size();
    begin(fibers_[first]);
    resume(first);
    if (fibers_[first].state == State::Ended) return run_without_barriers(first);
    for (size_t i = 0; i < fibers_.size(); ++i)
      if (i != first) begin(fibers_[i]);
    while (run_warp())
      if (all_are(State::AtBlockBarrier)) set_all(fibers_, State::Ready);
    for (const Fiber& f : fibers_)
      if (!f.copies.empty()) throw std::runtime_error("a thread ended before copies that it began");
  }

 private:
  static inline Block* current_ = nullptr;

  Fiber& own() { return fibers_[static_cast<size_t>(words_.thread)]; }
  static void enter() {
    Block& b = *current_;
    after_switch(nullptr, &b.host_stack_, &b.host_bytes_);
    b.kernel_();
    wait<State::Ended>();
  }
  template <State kState>
  static void wait() {
    Block& b = *current_;
    Fiber& f = b.own();
    f.state = kState;
    before_switch(kState == State::Ended ? nullptr : &f.fake_stack, b.host_stack_, b.host_bytes_);
    cameo_switch_stack(&f.stack_pointer, b.scheduler_);
    after_switch(f.fake_stack, &b.host_stack_, &b.host_bytes_);
  }
  [[noreturn]] static void refuse() { throw std::runtime_error(kSomeEnded); }

  // ---- copies that run on their own
  static void begin_copy(void* to, const void* from, int bytes, int source_bytes) {
    const auto misaligned = [&](const void* p) { return reinterpret_cast<uintptr_t>(p) % static_cast<size_t>(bytes); };
    if (misaligned(to) || misaligned(from) || source_bytes < 0 || source_bytes > bytes) std::abort();
    Fiber& f = current_->own();
    f.copies.push_back({static_cast<char*>(to), static_cast<const char*>(from), bytes, source_bytes, f.group});
    std::memset(to, 0xff, static_cast<size_t>(bytes));
  }
  static void commit_copies() { ++current_->own().group; }
  static void wait_for_copies(int groups) {
    Fiber& f = current_->own();
    std::erase_if(f.copies, [&](const Copy& c) {
      if (c.group >= f.group - groups) return false;
      std::memset(c.to, 0, static_cast<size_t>(c.bytes));
      std::memcpy(c.to, c.from, static_cast<size_t>(c.source_bytes));
      return true;
    });
  }

  // ---- who runs
  void set_words(void (*block_barrier)(), void (*warp_barrier)()) {
    words_.barrier = block_barrier;
    words_.warp_barrier = warp_barrier;
    words_.begin_copy = begin_copy;
    words_.commit_copies = commit_copies;
    words_.wait_for_copies = wait_for_copies;
  }
  void shuffle(auto& list) { std::shuffle(list.begin(), list.end(), random_); }
  void begin(Fiber& f) {
    f.state = State::Ready;
    f.fake_stack = nullptr;
    f.copies.clear();
    f.group = 0;
    forget_frames(f.stack.get());
    auto** top = reinterpret_cast<void**>(f.stack.get() + kStackBytes - 64);
    top = reinterpret_cast<void**>(reinterpret_cast<uintptr_t>(top) & ~uintptr_t{15});
    *--top = nullptr;  // the stack is as after a call when `enter` begins
    *--top = reinterpret_cast<void*>(&enter);
    f.stack_pointer = top - 6;
  }
  void resume(size_t thread) {
    words_.thread = static_cast<int>(thread);
    void* fake = nullptr;
    before_switch(&fake, fibers_[thread].stack.get(), kStackBytes);
    cameo_switch_stack(&scheduler_, fibers_[thread].stack_pointer);
    after_switch(fake, nullptr, nullptr);
  }
  void run_without_barriers(size_t first) {
    set_words(refuse, refuse);
    shuffle(warps_);
    for (size_t w : warps_) {
      shuffle(orders_[w]);
      for (size_t i : orders_[w]) {
        words_.thread = static_cast<int>(i);
        if (i != first) kernel_();
      }
    }
  }

  std::span<Fiber> of_warp(size_t w) { return std::span(fibers_).subspan(w * rt::kWarpThreads, rt::kWarpThreads); }
  static void set_all(std::span<Fiber> fibers, State s) {
    for (Fiber& f : fibers) f.state = s;
  }
  static bool any_is(std::span<const Fiber> fibers, State s) { return std::ranges::count(fibers, s, &Fiber::state); }
  static bool all_are(std::span<const Fiber> fibers, State s) {
    return static_cast<size_t>(std::ranges::count(fibers, s, &Fiber::state)) == fibers.size();
  }
  bool all_are(State s) const { return all_are(fibers_, s); }

  /// One that can go on, often the same again, so that a warp runs far ahead of the others. False: all threads ended.
  bool run_warp() {
    if (random_() % 4 == 0) shuffle(warps_);
    const auto next = std::ranges::find_if(warps_, [&](size_t w) { return any_is(of_warp(w), State::Ready); });
    if (next == warps_.end()) {
      if (all_are(State::Ended)) return false;
      throw std::runtime_error(kSomeEnded);
    }
    shuffle(orders_[*next]);
    for (size_t i : orders_[*next])
      if (fibers_[i].state == State::Ready) resume(i);
    const std::span<Fiber> warp = of_warp(*next);
    if (all_are(warp, State::AtWarpBarrier)) set_all(warp, State::Ready);
    return true;
  }

  static constexpr const char* kSomeEnded = "some threads of a block ended, others wait at a barrier";
  rt::Fibers& words_;
  const std::function<void()>& kernel_;
  std::vector<Fiber> fibers_;
  std::array<size_t, kWarps> warps_;
  std::array<std::array<size_t, rt::kWarpThreads>, kWarps> orders_;  // of the threads of each warp
  void* scheduler_ = nullptr;
  const void* host_stack_ = nullptr;
  size_t host_bytes_ = 0;
  std::mt19937 random_;
};

}  // namespace

uint64_t fiber_seed() {
  const char* text = std::getenv("CAMEO_MOCK_SEED");
  return text ? std::strtoull(text, nullptr, 10) : 1;
}

void run_blocks(rt::Fibers& words, int blocks, const std::function<void()>& kernel, uint64_t seed) {
  Block block(words, kernel, seed);
  words.blocks = blocks;
  for (words.block = 0; words.block < blocks; ++words.block) block.run();
}

}  // namespace cameo::test
