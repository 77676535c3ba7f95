// Calls into a custom operator's file, which is native code of somebody else: what the compiler refuses it, and a
// signal that it raises, end the call with an error.
#pragma once
#include <functional>
#include <string>

namespace cameo {

/// Runs `call`; throws what `refuse` was given, or E0704 with `who` where a signal ended it.
void guarded(const std::string& who, const std::function<void()>& call);

/// For functions that the file calls: runs `answer`; what it throws ends the guarded call, over the frames of the file,
/// which has no exceptions and no destructors; so `answer` must not need one either.
void answer_by(void (*call)(const void* answer), const void* answer);
template <class F>
void answer(const F& answer) {
  answer_by([](const void* f) { (*static_cast<const F*>(f))(); }, &answer);
}

}  // namespace cameo
