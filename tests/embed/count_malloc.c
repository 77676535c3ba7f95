/* Stands in front of libc's malloc and kin, linked in or by LD_PRELOAD, and counts their calls: all, or those from code
 * in [begin, end) after count_within(begin, end). */
#include <stddef.h>

void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* memory, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);

static unsigned long calls;
static const char *begin, *end;

unsigned long allocations(void) { return __atomic_load_n(&calls, __ATOMIC_RELAXED); }

void count_within(const void* from, const void* to) {
  begin = (const char*)from;
  end = (const char*)to;
}

static void count(const void* caller) {
  if (!end || ((const char*)caller >= begin && (const char*)caller < end))
    __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
}

void* malloc(size_t bytes) { return count(__builtin_return_address(0)), __libc_malloc(bytes); }
void* calloc(size_t items, size_t bytes) { return count(__builtin_return_address(0)), __libc_calloc(items, bytes); }
void* realloc(void* memory, size_t bytes) { return count(__builtin_return_address(0)), __libc_realloc(memory, bytes); }
void* aligned_alloc(size_t alignment, size_t bytes) {
  return count(__builtin_return_address(0)), __libc_memalign(alignment, bytes);
}
