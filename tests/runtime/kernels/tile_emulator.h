// Tile registers (AMX) of a processor that has none: each of their instructions, which such a processor refuses by
// SIGILL, is done by a handler of that signal. It shows that code computes what it should, not how fast.
#pragma once

// From now on, in every thread of this process; what is no instruction of tile registers goes to the handler before.
// Each thread has eight registers of its own.
void emulate_tile_registers();
