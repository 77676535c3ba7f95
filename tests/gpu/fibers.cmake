# Kernel families over fibers in the test's own process, whose operands are plain memory; once more with an address
# sanitizer, which sees what kernels read and write beyond operands and shared memory.
set(fibers_sources ${CMAKE_CURRENT_SOURCE_DIR}/gpu/fibers/contract_mma.cpp ${CMAKE_CURRENT_SOURCE_DIR}/support/fibers.cpp)
function(add_fibers_test name)
  add_executable(${name} ${fibers_sources})
  target_link_libraries(${name} PRIVATE cameo_flags GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE RT_FIBERS)
  target_compile_options(${name} PRIVATE -march=x86-64-v3 $<$<CXX_COMPILER_ID:GNU>:-Wno-psabi> -Wno-unknown-pragmas ${ARGN})
  target_link_options(${name} PRIVATE ${ARGN})
  add_test(NAME ${name} COMMAND ${name} --gtest_brief=1)
  set_tests_properties(${name} PROPERTIES LABELS gpu TIMEOUT 600)
endfunction()
add_fibers_test(test_fibers)
add_fibers_test(test_fibers_asan -fsanitize=address)
