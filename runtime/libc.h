// Every libc function that ships inside an artifact, declared here and not by system headers: newer ones redirect names
// to newer symbols, and these bind to glibc 2.34. They are C++ names with the C symbol, so that they clash with no
// header.
#pragma once

#include "runtime/call.h"

namespace rt::libc {

// memory; the compiler also calls memcpy, memmove, memset, memcmp and strlen by itself
void* malloc(size_t bytes) __asm__("malloc");
void* aligned_alloc(size_t alignment, size_t bytes) __asm__("aligned_alloc");
void free(void* memory) __asm__("free");
inline void* memcpy(void* to, const void* from, size_t bytes) { return __builtin_memcpy(to, from, bytes); }
inline void* memmove(void* to, const void* from, size_t bytes) { return __builtin_memmove(to, from, bytes); }
inline void* memset(void* to, int value, size_t bytes) { return __builtin_memset(to, value, bytes); }
inline int memcmp(const void* a, const void* b, size_t bytes) { return __builtin_memcmp(a, b, bytes); }
inline size_t strlen(const char* text) { return __builtin_strlen(text); }

// text
int snprintf(char* to, size_t bytes, const char* format, ...) __asm__("snprintf") __attribute__((format(printf, 3, 4)));
int vsnprintf(char* to, size_t bytes, const char* format, __builtin_va_list args) __asm__("vsnprintf");

// threads and time
int pthread_create(unsigned long* thread, const void* attributes, void* (*body)(void*),
                   void* arg) __asm__("pthread_create");
int pthread_join(unsigned long thread, void** result) __asm__("pthread_join");
int pthread_sigmask(int how, const uint64_t* set, uint64_t* old) __asm__("pthread_sigmask");
int sched_getaffinity(int pid, size_t bytes, void* mask) __asm__("sched_getaffinity");
int sched_yield() __asm__("sched_yield");
long syscall(long number, ...) __asm__("syscall");
int getpid() __asm__("getpid");
int isatty(int file) __asm__("isatty");
[[noreturn]] void exit(int code) __asm__("exit");
[[noreturn]] void exit_at_once(int code) __asm__("_exit");
struct Timespec {
  int64_t seconds, nanoseconds;
};
int clock_gettime(int clock, Timespec* time) __asm__("clock_gettime");

// files
struct Statx {  // the kernel's, of which these two are read
  uint8_t unread[28];
  uint16_t mode;
  uint8_t unread_too[10];
  uint64_t size;
  uint8_t rest[208];
};
int statx(int folder, const char* path, int flags, unsigned what, Statx* to) __asm__("statx");
int open(const char* path, int flags, ...) __asm__("open");
long read(int file, void* to, size_t bytes) __asm__("read");
int close(int file) __asm__("close");
int* errno_location() __asm__("__errno_location");
char* strerror(int error) __asm__("strerror");
void* mmap(void* at, size_t bytes, int access, int flags, int file, int64_t offset) __asm__("mmap");
int munmap(void* memory, size_t bytes) __asm__("munmap");
int madvise(void* memory, size_t bytes, int advice) __asm__("madvise");
inline void* map_failed() { return reinterpret_cast<void*>(~uint64_t{0}); }

// libraries; only runtime/cuda/ uses them
void* dlopen(const char* path, int flags) __asm__("dlopen");
void* dlsym(void* library, const char* name) __asm__("dlsym");
enum : int { kBindNow = 2, kNeverUnload = 0x1000 };

// only the program part uses what follows
struct Dirent {
  uint64_t inode;
  int64_t offset;
  uint16_t bytes;
  uint8_t type;
  char name[256];
};
long write(int file, const void* from, size_t bytes) __asm__("write");
int rename(const char* from, const char* to) __asm__("rename");
int unlink(const char* path) __asm__("unlink");
char* realpath(const char* path, char* to) __asm__("realpath");  // `to` has room for 4096 bytes
void* opendir(const char* path) __asm__("opendir");
Dirent* readdir(void* folder) __asm__("readdir");
int closedir(void* folder) __asm__("closedir");
void (*signal(int number, void (*handler)(int)))(int) __asm__("signal");

enum : int {
  kReadOnly = 0,
  kWriteOnly = 1,
  kCreate = 0100,
  kTruncate = 01000,
  kExclusive = 0200,
  kCloseOnExec = 02000000
};
enum : int { kWorkingFolder = -100, kOfTheDescriptor = 0x1000, kTypeAndSize = 0x201 };  // statx
enum : int { kMapRead = 1, kMapShared = 1, kAdviseHugePages = 14 };
enum : uint16_t { kTypeMask = 0170000, kRegular = 0100000 };
enum : int { kMonotonic = 1, kInterrupt = 2, kPipe = 13, kTerminate = 15 };

}  // namespace rt::libc
