// Encodings and what each instruction does: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, and
// chapter 18 of volume 1.
#include "tests/runtime/kernels/tile_emulator.h"

#include <signal.h>
#include <ucontext.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>

namespace {

struct Tile {
  int rows = 0, row_bytes = 0;
  alignas(64) uint8_t bytes[16][64] = {};

  template <class T>
  T get(int row, int at) const {
    T value;
    std::memcpy(&value, &bytes[row][at * sizeof(T)], sizeof value);
    return value;
  }
  template <class T>
  void set(int row, int at, T value) {
    std::memcpy(&bytes[row][at * sizeof(T)], &value, sizeof value);
  }
};

// What LDTILECFG reads.
struct Shapes {
  uint8_t palette, start_row, reserved[14];
  uint16_t row_bytes[16];
  uint8_t rows[16];
};
static_assert(sizeof(Shapes) == 64);

constexpr int kTiles = 8;
thread_local Tile tiles[kTiles];
thread_local bool configured = false;

bool configure(const Shapes& shapes) {
  if (shapes.palette > 1 || shapes.start_row) return false;
  for (int t = 0; t < 16; ++t) {
    const bool used = shapes.rows[t] || shapes.row_bytes[t];
    if (shapes.rows[t] > 16 || shapes.row_bytes[t] > 64 || (used && t >= kTiles)) return false;
    if (used && (!shapes.rows[t] || !shapes.row_bytes[t])) return false;
  }
  for (int t = 0; t < kTiles; ++t) tiles[t] = {shapes.rows[t], shapes.row_bytes[t], {}};
  configured = shapes.palette == 1;
  return true;
}

bool has_shape(const Tile& tile) { return configured && tile.rows > 0; }

bool load(Tile& tile, const uint8_t* from, int64_t stride) {
  if (!has_shape(tile)) return false;
  Tile loaded{tile.rows, tile.row_bytes, {}};
  for (int row = 0; row < tile.rows; ++row)
    std::memcpy(loaded.bytes[row], from + row * stride, static_cast<size_t>(tile.row_bytes));
  tile = loaded;
  return true;
}

bool store(const Tile& tile, uint8_t* to, int64_t stride) {
  if (!has_shape(tile)) return false;
  for (int row = 0; row < tile.rows; ++row)
    std::memcpy(to + row * stride, tile.bytes[row], static_cast<size_t>(tile.row_bytes));
  return true;
}

// Of `sums` [rows, columns], `a` [rows, groups of four bytes] and `b` [groups, columns of four bytes].
bool have_shapes_of_product(const Tile& sums, const Tile& a, const Tile& b) {
  return has_shape(sums) && has_shape(a) && has_shape(b) && &sums != &a && &sums != &b && &a != &b &&
         sums.rows == a.rows && sums.row_bytes == b.row_bytes && a.row_bytes == 4 * b.rows && sums.row_bytes % 4 == 0;
}

template <class A, class B>
bool add_products_of_bytes(Tile& sums, const Tile& a, const Tile& b) {
  if (!have_shapes_of_product(sums, a, b)) return false;
  for (int row = 0; row < sums.rows; ++row)
    for (int group = 0; group < b.rows; ++group)
      for (int column = 0; column < sums.row_bytes / 4; ++column) {
        auto sum = sums.get<uint32_t>(row, column);
        for (int term = 0; term < 4; ++term)
          sum += static_cast<uint32_t>(a.get<A>(row, 4 * group + term) * b.get<B>(group, 4 * column + term));
        sums.set(row, column, sum);
      }
  return true;
}

float flush(float value) { return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0f, value) : value; }
float of_bf16(uint16_t bits) { return flush(std::bit_cast<float>(static_cast<uint32_t>(bits) << 16)); }

// Even and odd terms are summed apart, with a rounding a term; what is below the normal range is 0.
bool add_products_of_bf16(Tile& sums, const Tile& a, const Tile& b) {
  if (!have_shapes_of_product(sums, a, b)) return false;
  for (int row = 0; row < sums.rows; ++row)
    for (int column = 0; column < sums.row_bytes / 4; ++column) {
      float parts[2] = {0, 0};
      for (int term = 0; term < a.row_bytes / 2; ++term)
        parts[term % 2] = flush(std::fma(of_bf16(a.get<uint16_t>(row, term)),
                                         of_bf16(b.get<uint16_t>(term / 2, 2 * column + term % 2)), parts[term % 2]));
      sums.set(row, column, flush(flush(sums.get<float>(row, column)) + flush(parts[0] + parts[1])));
    }
  return true;
}

// An instruction of three bytes of VEX prefix, one of operation and one or more of operands, in map 0F38.
struct Instruction {
  const uint8_t* at;
  const gregset_t& registers;

  bool is_of_map() const { return at[0] == 0xc4 && (at[1] & 0x1f) == 2 && (at[2] & 0x84) == 0; }  // W0, 128 bits
  int prefix() const { return at[2] & 3; }                                                        // none, 66, F3, F2
  uint8_t operation() const { return at[3]; }
  uint8_t operands() const { return at[4]; }
  bool has_memory() const { return operands() >> 6 != 3; }
  int reg() const { return operands() >> 3 & 7; }
  int rm() const { return operands() & 7; }
  int vvvv() const { return ~at[2] >> 3 & 15; }

  int64_t value(int number) const {
    constexpr int kNames[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                              REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
    return registers[kNames[number]];
  }
  struct Memory {
    int64_t address, index;  // the address without the index, and the scaled index: a tile's stride
    int length;              // of the instruction
  };
  Memory memory() const {
    Memory m{0, 0, 5};
    const int mode = operands() >> 6;
    int base = rm();
    const bool relative = mode == 0 && base == 5;
    if (base == 4) {
      const uint8_t sib = at[m.length++];
      base = sib & 7;
      if (const int index = (sib >> 3 & 7) | (at[1] & 0x40 ? 0 : 8); index != 4) m.index = value(index) << (sib >> 6);
    }
    const bool no_base = mode == 0 && base == 5;
    int32_t displacement = 0;
    if (mode == 1) displacement = static_cast<int8_t>(at[m.length]);
    if (mode == 2 || no_base) std::memcpy(&displacement, at + m.length, 4);
    m.length += mode == 1 ? 1 : mode == 2 || no_base ? 4 : 0;
    m.address = displacement;
    if (relative) m.address += reinterpret_cast<int64_t>(at) + m.length;
    if (!no_base) m.address += value(base | (at[1] & 0x20 ? 0 : 8));
    return m;
  }
};

// Does an instruction; its length, or 0 where it is none of tile registers', or one that a processor refuses too.
int execute(const Instruction& i) {
  enum { kNone, k66, kF3, kF2 };
  const auto as_bytes = [](int64_t address) { return reinterpret_cast<uint8_t*>(address); };
  if (!i.is_of_map()) return 0;
  if (i.operation() == 0x49) {
    if (!i.has_memory()) {
      if (i.prefix() == kNone) return configure({}) ? 5 : 0;  // TILERELEASE
      Tile& tile = tiles[i.reg()];
      if (i.prefix() != kF2 || !has_shape(tile)) return 0;
      std::memset(tile.bytes, 0, sizeof tile.bytes);  // TILEZERO
      return 5;
    }
    const auto memory = i.memory();
    Shapes shapes;
    std::memcpy(&shapes, as_bytes(memory.address + memory.index), sizeof shapes);
    return i.prefix() == kNone && configure(shapes) ? memory.length : 0;  // LDTILECFG
  }
  if (i.operation() == 0x4b && i.has_memory()) {
    const auto memory = i.memory();
    Tile& tile = tiles[i.reg()];
    if (i.prefix() == kF3) return store(tile, as_bytes(memory.address), memory.index) ? memory.length : 0;
    return i.prefix() != kNone && load(tile, as_bytes(memory.address), memory.index) ? memory.length : 0;
  }
  if (i.has_memory() || i.vvvv() >= kTiles) return 0;
  Tile &sums = tiles[i.reg()], &a = tiles[i.rm()], &b = tiles[i.vvvv()];
  bool done = false;
  if (i.operation() == 0x5c) done = i.prefix() == kF3 && add_products_of_bf16(sums, a, b);
  if (i.operation() == 0x5e) {
    constexpr decltype(&add_products_of_bytes<uint8_t, uint8_t>) kProducts[] = {
        add_products_of_bytes<uint8_t, uint8_t>, add_products_of_bytes<uint8_t, int8_t>,
        add_products_of_bytes<int8_t, uint8_t>, add_products_of_bytes<int8_t, int8_t>};
    done = kProducts[i.prefix()](sums, a, b);
  }
  return done ? 5 : 0;
}

struct sigaction before;

// All that stand one behind the other: a signal costs more than they do.
bool execute_at(greg_t& instruction, const gregset_t& registers) {
  bool any = false;
  while (const int length = execute({reinterpret_cast<const uint8_t*>(instruction), registers}))
    instruction += length, any = true;
  return any;
}

void on_illegal_instruction(int, siginfo_t*, void* context) {
  auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  if (!execute_at(registers[REG_RIP], registers)) sigaction(SIGILL, &before, nullptr);  // and is refused again
}

}  // namespace

void emulate_tile_registers() {
  struct sigaction action = {};
  action.sa_sigaction = on_illegal_instruction;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  static const bool installed = sigaction(SIGILL, &action, &before) == 0;
  (void)installed;
}
