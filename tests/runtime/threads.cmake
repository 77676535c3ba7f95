# The pool, contexts and cancels on many threads once more with a thread sanitizer, which sees what happens to go well.
# It lays its memory out by fixed addresses; where the kernel scatters them too widely, setarch stops it (a container may forbid that).
if(CAMEO_SANITIZE)  # by another
  return()
endif()
file(GLOB thread_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/runtime/*.cpp ${CMAKE_SOURCE_DIR}/runtime/cuda/*.cpp)
list(FILTER thread_sources EXCLUDE REGEX "/(abi|shared)\\.cpp$")
add_executable(test_threads_tsan ${CMAKE_CURRENT_SOURCE_DIR}/runtime/execute_test.cpp
  ${CMAKE_CURRENT_SOURCE_DIR}/runtime/sizes_test.cpp ${thread_sources})
target_link_libraries(test_threads_tsan PRIVATE cameo_flags GTest::gtest_main ${CMAKE_DL_LIBS})
target_compile_options(test_threads_tsan PRIVATE -fsanitize=thread -O1 -g1)
target_link_options(test_threads_tsan PRIVATE -fsanitize=thread)
add_test(NAME test_threads_tsan COMMAND sh -c "$(setarch -R true && echo setarch -R) \"$0\" --gtest_brief=1" $<TARGET_FILE:test_threads_tsan>)
set_tests_properties(test_threads_tsan PROPERTIES LABELS runtime)
