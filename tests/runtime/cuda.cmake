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
# The header alone, where there is a toolkit: the driver's interface is checked against it.
find_path(CAMEO_CUDA_HEADER cuda.h PATHS ENV CUDA_PATH PATH_SUFFIXES include)
if(NOT CAMEO_CUDA_HEADER)
  find_package(CUDAToolkit QUIET)
  set(CAMEO_CUDA_HEADER ${CUDAToolkit_INCLUDE_DIRS})
endif()
if(CAMEO_CUDA_HEADER)
  set_source_files_properties(${CMAKE_CURRENT_SOURCE_DIR}/runtime/cuda/header_test.cpp PROPERTIES COMPILE_OPTIONS
    -isystem${CAMEO_CUDA_HEADER})
endif()
find_library(LZ4_LIBRARY lz4 REQUIRED)  # unpack_test.cpp packs
target_link_libraries(test_runtime PRIVATE ${LZ4_LIBRARY})
