# The kernels of hand-written programs, as the compiler prints them for a GPU, in a library that the mock driver runs.
add_library(cuda_kernels MODULE ${CMAKE_CURRENT_SOURCE_DIR}/runtime/cuda/kernels.cpp)
target_link_libraries(cuda_kernels PRIVATE cameo_flags)
target_compile_definitions(cuda_kernels PRIVATE RT_FIBERS)
target_compile_options(cuda_kernels PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique -Wno-psabi>)
set_target_properties(cuda_kernels PROPERTIES PREFIX "" CXX_VISIBILITY_PRESET hidden
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/mock)
target_link_libraries(test_runtime PRIVATE test_cuda_mock)
target_compile_definitions(test_runtime PRIVATE CAMEO_CUDA_KERNELS="${CMAKE_BINARY_DIR}/mock/cuda_kernels.so")
add_dependencies(test_runtime cuda_kernels)
