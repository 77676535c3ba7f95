// Where the kernel starts an artifact, in place of a C compiler's crt1.o: calls libc, which runs constructors and
// `main`. Link with `-e _cameo_start`. A shared library is executable if it also names the dynamic linker: cameo's own
// linker adds that; where a C++ compiler's driver links, define CAMEO_INTERPRETER.
extern "C" {
int main(int argc, char** argv);

#if defined(__x86_64__)
__asm__(
    ".pushsection .text._cameo_start,\"ax\",@progbits\n"
    ".globl _cameo_start\n.hidden _cameo_start\n.type _cameo_start,@function\n"
    "_cameo_start:\n"
    "  xor %ebp, %ebp\n"
    "  mov %rdx, %r9\n"   // the dynamic linker's finaliser
    "  pop %rsi\n"        // argc
    "  mov %rsp, %rdx\n"  // argv
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
#define CAMEO_INTERPRETER_PATH "/lib64/ld-linux-x86-64.so.2"
#elif defined(__aarch64__)
__asm__(
    ".pushsection .text._cameo_start,\"ax\",@progbits\n"
    ".globl _cameo_start\n.hidden _cameo_start\n.type _cameo_start,@function\n"
    "_cameo_start:\n"
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
#define CAMEO_INTERPRETER_PATH "/lib/ld-linux-aarch64.so.1"
#endif

#if defined(CAMEO_INTERPRETER)  // retained, so that --gc-sections keeps it
__asm__(".pushsection .interp,\"aR\",@progbits\n.asciz \"" CAMEO_INTERPRETER_PATH "\"\n.popsection\n");
#endif
}
