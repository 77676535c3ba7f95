// See card.h. Both images stand in this file: PTX, which a card's driver compiles, and the library over fibers.
#include "tests/gpu/primitives/card.h"

#include <stdexcept>

// NOLINTBEGIN
asm(".section .rodata\n.balign 64\n.global cameo_ptx, cameo_ptx_end, cameo_fibers_library, cameo_fibers_library_end\n"
    "cameo_ptx: .incbin \"" CAMEO_PRIMITIVES_PTX
    "\"\n.byte 0\ncameo_ptx_end:\n.balign 64\n"
    "cameo_fibers_library: .incbin \"" CAMEO_PRIMITIVES_LIBRARY "\"\ncameo_fibers_library_end:\n.previous");
// NOLINTEND
extern "C" const char cameo_ptx[], cameo_ptx_end[], cameo_fibers_library[], cameo_fibers_library_end[];

namespace cameo::test {

void Card::check(int32_t status) {
  if (status) throw std::runtime_error(error_.message);
}
template <class... P, class... A>
void Card::call(const rt::cuda::Entry<P...>& entry, A... arguments) {
  if (const int32_t result = entry.call(arguments...))
    check(rt::cuda::failed_call(driver_, entry.name, result, &error_));
}

Card::Card() {
  error_.struct_size = sizeof error_;
  check(rt::cuda::load_driver(&driver_, &error_));
  check(rt::cuda::find_card(driver_, 0, &card_, &error_));
  const rt::DeviceCode codes[] = {
      {"ptx", cameo_ptx, static_cast<uint64_t>(cameo_ptx_end - cameo_ptx)},
      {"host", cameo_fibers_library, static_cast<uint64_t>(cameo_fibers_library_end - cameo_fibers_library)}};
  const rt::Device device{nullptr, codes, 2, nullptr, 0};
  const rt::DeviceCode* code = rt::cuda::choose_code(device, card_);
  if (!code) check(rt::cuda::no_code(device, card_, &error_));
  architecture_ = code->architecture;
  call(driver_.cuDevicePrimaryCtxRetain, &primary_, card_.device);
  call(driver_.cuCtxPushCurrent, primary_);
  call(driver_.cuModuleLoadDataEx, &module_, code->data, 0u, nullptr, nullptr);
  call(driver_.cuStreamCreate, &stream_, 0u);
}

Card::~Card() {
  void* popped = nullptr;
  if (stream_) driver_.cuStreamDestroy.call(stream_);
  if (module_) driver_.cuModuleUnload.call(module_);
  if (primary_) driver_.cuCtxPopCurrent.call(&popped), driver_.cuDevicePrimaryCtxRelease.call(card_.device);
}

std::string Card::description() const {
  return std::string(card_.name) + ", compute capability " + std::to_string(card_.capability / 10) + "." +
         std::to_string(card_.capability % 10) + ", kernels as " + architecture_;
}

void Card::launch(const char* kernel, int blocks, const void* from, size_t from_bytes, void* to, size_t to_bytes) {
  void *function = nullptr, *memory[2] = {};
  call(driver_.cuModuleGetFunction, &function, module_, kernel);
  call(driver_.cuMemAlloc, &memory[0], from_bytes);
  call(driver_.cuMemAlloc, &memory[1], to_bytes);
  call(driver_.cuMemcpyHtoD, memory[0], from, from_bytes);
  call(driver_.cuMemcpyHtoD, memory[1], to, to_bytes);
  size_t bytes = sizeof memory;
  void* extra[] = {reinterpret_cast<void*>(rt::cuda::kParameters), memory,
                   reinterpret_cast<void*>(rt::cuda::kParameterBytes), &bytes, nullptr};
  call(driver_.cuLaunchKernel, function, static_cast<uint32_t>(blocks), 1u, 1u, uint32_t{rt::kBlockThreads}, 1u, 1u, 0u,
       stream_, nullptr, extra);
  call(driver_.cuMemcpyDtoHAsync, to, memory[1], to_bytes, stream_);
  call(driver_.cuStreamSynchronize, stream_);
  call(driver_.cuMemFree, memory[0]);
  call(driver_.cuMemFree, memory[1]);
}

}  // namespace cameo::test
