// One block at a time. A round runs every fiber from one barrier to the next.
#include "tests/support/fibers.h"

#include <ucontext.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>

namespace cameo::test {
namespace {

constexpr size_t kStackBytes = 128 << 10;

struct Fiber {
  ucontext_t context;
  std::unique_ptr<char[]> stack{new char[kStackBytes]};
  bool ended = false;
};

class Block {
 public:
  Block(rt::Fibers& words, const std::function<void()>& kernel)
      : words_(words), kernel_(kernel), fibers_(rt::kBlockThreads) {}

  void run() {
    for (Fiber& f : fibers_) begin(f);
    for (std::vector<size_t> order = every_fiber(); !order.empty(); order = still_running()) {
      std::shuffle(order.begin(), order.end(), random_);
      for (size_t i : order) resume(i);
    }
  }

 private:
  static inline Block* current_ = nullptr;

  static void enter() {
    Block& b = *current_;
    b.kernel_();
    b.fibers_[static_cast<size_t>(b.words_.thread)].ended = true;
  }
  static void wait() {
    Block& b = *current_;
    swapcontext(&b.fibers_[static_cast<size_t>(b.words_.thread)].context, &b.scheduler_);
  }
  void begin(Fiber& f) {
    f.ended = false;
    getcontext(&f.context);
    f.context.uc_stack.ss_sp = f.stack.get();
    f.context.uc_stack.ss_size = kStackBytes;
    f.context.uc_link = &scheduler_;
    makecontext(&f.context, enter, 0);
  }
  void resume(size_t thread) {
    current_ = this;
    words_.thread = static_cast<int>(thread);
    words_.barrier = wait;
    swapcontext(&scheduler_, &fibers_[thread].context);
  }
  std::vector<size_t> every_fiber() const {
    std::vector<size_t> all(fibers_.size());
    std::iota(all.begin(), all.end(), size_t{0});
    return all;
  }
  std::vector<size_t> still_running() const {
    std::vector<size_t> running = every_fiber();
    std::erase_if(running, [&](size_t i) { return fibers_[i].ended; });
    if (!running.empty() && running.size() < fibers_.size())
      throw std::runtime_error("some threads of a block ended, others wait at a barrier");
    return running;
  }

  rt::Fibers& words_;
  const std::function<void()>& kernel_;
  std::vector<Fiber> fibers_;
  ucontext_t scheduler_;
  std::mt19937 random_{1};
};

}  // namespace

void run_blocks(rt::Fibers& words, int blocks, const std::function<void()>& kernel) {
  Block block(words, kernel);
  words.blocks = blocks;
  for (words.block = 0; words.block < blocks; ++words.block) block.run();
}

}  // namespace cameo::test
