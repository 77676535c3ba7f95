// See last_words.h. What a signal's handler calls takes no memory. This is the only state outside the verbs.
#include "runtime/program/last_words.h"

#include "runtime/program/tool.h"

namespace rt::program {
namespace {

const char* owed = nullptr;
int given = 0, ignored = 0, interrupts = 0;
void (*cancel_what_runs)() = nullptr;

template <class T>
T load(const T& value) {
  return __atomic_load_n(&value, __ATOMIC_RELAXED);
}
template <class T>
void store(T* value, T to) {
  __atomic_store_n(value, to, __ATOMIC_RELAXED);
}

void on_interrupt(int) {
  void (*const cancel)() = load(cancel_what_runs);
  if (load(given)) {
    if (!__atomic_exchange_n(&ignored, 1, __ATOMIC_RELAXED)) return;
  } else if (cancel && !__atomic_exchange_n(&interrupts, 1, __ATOMIC_RELAXED)) {
    return cancel();
  }
  give_last_words(kInterrupted, "interrupted");
  libc::exit_at_once(kInterrupted);
}

}  // namespace

void owe_document(const char* schema) { store(&owed, schema); }

void document_is_given() { store(&given, 1); }

void give_last_words(int exit_code, const char* message) {
  const char* schema = load(owed);
  if (__atomic_exchange_n(&given, 1, __ATOMIC_RELAXED) || !schema) return;
  char document[256];
  const int size = libc::snprintf(document, sizeof document,
                                  "{\"schema\":\"cameo.%s\",\"version\":1,\"exit_code\":%d,\"diagnostics\":"
                                  "[{\"severity\":\"error\",\"message\":\"%s\"}]}\n",
                                  schema, exit_code, message);
  (void)!libc::write(1, document, static_cast<size_t>(size));
}

void watch_interrupts() {
  store(&owed, static_cast<const char*>(nullptr));
  store(&given, 0);
  store(&ignored, 0);
  store(&interrupts, 0);
  libc::signal(libc::kInterrupt, on_interrupt);
  libc::signal(libc::kTerminate, on_interrupt);
}

void set_cancel(void (*cancel)()) {
  if (cancel) store(&interrupts, 0);
  store(&cancel_what_runs, cancel);
}

bool interrupted() { return load(interrupts) != 0; }

}  // namespace rt::program
