# A program of its own: it counts allocations, which takes an operator new of its own.
add_executable(test_scaling ${CMAKE_CURRENT_SOURCE_DIR}/codegen/scaling.cpp)
target_link_libraries(test_scaling PRIVATE test_road cameo_codegen GTest::gtest_main)
gtest_discover_tests(test_scaling DISCOVERY_MODE PRE_TEST PROPERTIES LABELS "scaling" TIMEOUT 600)
