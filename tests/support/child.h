// Work in a child process, which makes it safe to try what may crash.
#pragma once
#include <functional>
#include <string>

namespace cameo::test {

/// What `work` returns in a forked child, or a sentence about how the child ended without returning. Output that it
/// leaves unflushed is lost. It may take so many seconds of processor time.
std::string in_child(const std::function<std::string()>& work, int seconds = 120);

}  // namespace cameo::test
