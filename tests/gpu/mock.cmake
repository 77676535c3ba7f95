# A driver for tests, without a GPU: build/mock/libcuda.so.1, and how a test program loads it.
add_library(cuda_mock SHARED gpu/mock/driver.cpp gpu/mock/kernels.cpp gpu/mock/memory.cpp support/fibers.cpp)
target_link_libraries(cuda_mock PRIVATE cameo_flags ${CMAKE_DL_LIBS})
set_target_properties(cuda_mock PROPERTIES OUTPUT_NAME cuda SOVERSION 1 CXX_VISIBILITY_PRESET hidden
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/mock)
add_library(test_cuda_mock STATIC gpu/mock/load.cpp)
add_dependencies(test_cuda_mock cuda_mock)
target_link_libraries(test_cuda_mock PRIVATE cameo_flags PUBLIC ${CMAKE_DL_LIBS})
target_compile_definitions(test_cuda_mock PRIVATE CAMEO_MOCK_LIBRARY="${CMAKE_BINARY_DIR}/mock/libcuda.so.1")
