// One block at a time. A round runs every thread from one barrier to the next. A thread that ends without one shows
// that its block has none, since all of a block's threads come to a barrier: the others are then plain calls.
#include "tests/support/fibers.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>

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

struct Fiber {
  void* stack_pointer = nullptr;
  std::unique_ptr<char[]> stack{new char[kStackBytes]};
  bool ended = false;
};

class Block {
 public:
  Block(rt::Fibers& words, const std::function<void()>& kernel)
      : words_(words), kernel_(kernel), fibers_(rt::kBlockThreads), order_(fibers_.size()) {
    std::iota(order_.begin(), order_.end(), size_t{0});
  }

  void run() {
    current_ = this;
    std::shuffle(order_.begin(), order_.end(), random_);
    begin(fibers_[order_[0]]);
    resume(order_[0]);
    if (fibers_[order_[0]].ended) return run_without_barriers();
    for (size_t i = 1; i < order_.size(); ++i) {
      begin(fibers_[order_[i]]);
      resume(order_[i]);
    }
    while (!all_ended()) {
      std::shuffle(order_.begin(), order_.end(), random_);
      for (size_t i : order_) resume(i);
    }
  }

 private:
  static inline Block* current_ = nullptr;

  Fiber& own() { return fibers_[static_cast<size_t>(words_.thread)]; }
  static void enter() {
    Block& b = *current_;
    b.kernel_();
    b.own().ended = true;
    wait();
  }
  static void wait() {
    Block& b = *current_;
    cameo_switch_stack(&b.own().stack_pointer, b.scheduler_);
  }
  [[noreturn]] static void refuse() { throw std::runtime_error(kSomeEnded); }
  void begin(Fiber& f) {
    f.ended = false;
    auto** top = reinterpret_cast<void**>(f.stack.get() + kStackBytes - 64);
    top = reinterpret_cast<void**>(reinterpret_cast<uintptr_t>(top) & ~uintptr_t{15});
    *--top = nullptr;  // the stack is as after a call when `enter` begins
    *--top = reinterpret_cast<void*>(&enter);
    f.stack_pointer = top - 6;
  }
  void resume(size_t thread) {
    words_.thread = static_cast<int>(thread);
    words_.barrier = wait;
    cameo_switch_stack(&scheduler_, fibers_[thread].stack_pointer);
  }
  void run_without_barriers() {
    words_.barrier = refuse;
    for (size_t i = 1; i < order_.size(); ++i) {
      words_.thread = static_cast<int>(order_[i]);
      kernel_();
    }
  }
  bool all_ended() const {
    const auto ended = std::ranges::count_if(fibers_, &Fiber::ended);
    if (ended > 0 && static_cast<size_t>(ended) < fibers_.size()) throw std::runtime_error(kSomeEnded);
    return ended > 0;
  }

  static constexpr const char* kSomeEnded = "some threads of a block ended, others wait at a barrier";
  rt::Fibers& words_;
  const std::function<void()>& kernel_;
  std::vector<Fiber> fibers_;
  std::vector<size_t> order_;
  void* scheduler_ = nullptr;
  std::mt19937 random_{1};
};

}  // namespace

void run_blocks(rt::Fibers& words, int blocks, const std::function<void()>& kernel) {
  Block block(words, kernel);
  words.blocks = blocks;
  for (words.block = 0; words.block < blocks; ++words.block) block.run();
}

}  // namespace cameo::test
