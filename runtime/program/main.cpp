// `main` of an artifact that is a program, or a library that can be run as one.
#include "runtime/abi.h"
#include "runtime/program/verbs.h"

extern "C" int main(int argc, char** argv) {
  return rt::program_main(cameo_program_api(CAMEO_ABI_MAJOR), &cameo_program, argc, argv);
}
