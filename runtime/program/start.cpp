// Where the kernel starts an artifact, in place of a C compiler's crt1.o: calls libc, which runs constructors and
// `main`. The interpreter's path makes a shared library executable; link with `-e _cameo_start` and no
// --dynamic-linker.
extern "C" {
int main(int argc, char** argv);

#if defined(__x86_64__)
__attribute__((section(".interp"), used)) extern const char cameo_interpreter[] = "/lib64/ld-linux-x86-64.so.2";
__asm__(
    ".pushsection .text._cameo_start,\"ax\",@progbits\n"
    ".globl _cameo_start\n.hidden _cameo_start\n.type _cameo_start,@function\n"
    "_cameo_start:\n"
    "  xor %ebp, %ebp\n"
    "  lea cameo_interpreter(%rip), %rax\n"  // a use, so that --gc-sections keeps it
    "  mov %rdx, %r9\n"                      // the dynamic linker's finaliser
    "  pop %rsi\n"                           // argc
    "  mov %rsp, %rdx\n"                     // argv
    "  and $-16, %rsp\n"
    "  push %rax\n"       // keeps the stack aligned
    "  push %rsp\n"       // the end of the stack
    "  xor %r8d, %r8d\n"  // no init and fini: libc finds those itself
    "  xor %ecx, %ecx\n"
    "  lea main(%rip), %rdi\n"
    "  call *__libc_start_main@GOTPCREL(%rip)\n"
    "  hlt\n"
    ".size _cameo_start, .-_cameo_start\n"
    ".popsection\n");
#elif defined(__aarch64__)
__attribute__((section(".interp"), used)) extern const char cameo_interpreter[] = "/lib/ld-linux-aarch64.so.1";
__asm__(
    ".pushsection .text._cameo_start,\"ax\",@progbits\n"
    ".globl _cameo_start\n.hidden _cameo_start\n.type _cameo_start,@function\n"
    "_cameo_start:\n"
    "  adrp x9, cameo_interpreter\n"  // a use, so that --gc-sections keeps it
    "  mov x29, #0\n"
    "  mov x30, #0\n"
    "  mov x5, x0\n"
    "  ldr x1, [sp]\n"
    "  add x2, sp, #8\n"
    "  mov x6, sp\n"
    "  adrp x0, main\n"
    "  add x0, x0, :lo12:main\n"
    "  mov x3, #0\n"
    "  mov x4, #0\n"
    "  bl __libc_start_main\n"
    "  brk #0\n"
    ".size _cameo_start, .-_cameo_start\n"
    ".popsection\n");
#endif
}
