# Graphs through artifacts, for every test program that wants them.
add_library(test_artifact STATIC ${CMAKE_CURRENT_SOURCE_DIR}/support/artifact.cpp ${CMAKE_CURRENT_SOURCE_DIR}/support/fibers.cpp)
target_link_libraries(test_artifact PUBLIC test_road cameo_codegen test_cuda_mock ${CMAKE_DL_LIBS})
target_link_libraries(test_codegen PRIVATE test_artifact test_support)
