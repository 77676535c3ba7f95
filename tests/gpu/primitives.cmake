# gpu_primitives: one file that needs libc and a driver. It has its kernels as PTX and as a library over fibers.
set(primitives ${CMAKE_CURRENT_LIST_DIR}/primitives)
set(primitives_ptx ${CMAKE_CURRENT_BINARY_DIR}/primitives.ptx)
add_executable(to_ptx ${primitives}/to_ptx.cpp)
target_link_libraries(to_ptx PRIVATE cameo_codegen)
add_custom_command(OUTPUT ${primitives_ptx} COMMAND to_ptx ${primitives}/kernels.cu ${primitives_ptx}
  DEPENDS to_ptx ${primitives}/kernels.cu VERBATIM COMMENT "Compiling primitives.ptx")

add_library(gpu_primitives_fibers MODULE ${primitives}/kernels.cu)
set_source_files_properties(${primitives}/kernels.cu PROPERTIES LANGUAGE CXX COMPILE_OPTIONS "-xc++")
target_link_libraries(gpu_primitives_fibers PRIVATE cameo_flags)
target_compile_definitions(gpu_primitives_fibers PRIVATE RT_FIBERS)
target_compile_options(gpu_primitives_fibers PRIVATE -march=x86-64-v3 $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique -Wno-psabi> -Wno-unknown-pragmas)
set_target_properties(gpu_primitives_fibers PROPERTIES PREFIX "" CXX_VISIBILITY_PRESET hidden
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/mock)

add_executable(gpu_primitives ${primitives}/fixtures.cpp ${primitives}/card.cpp)
target_link_libraries(gpu_primitives PRIVATE cameo_runtime cameo_flags ${CMAKE_DL_LIBS})
target_link_options(gpu_primitives PRIVATE -static-libstdc++ -static-libgcc -s)
target_compile_definitions(gpu_primitives PRIVATE CAMEO_PRIMITIVES_PTX="${primitives_ptx}"
  CAMEO_PRIMITIVES_LIBRARY="${CMAKE_BINARY_DIR}/mock/gpu_primitives_fibers.so")
set_source_files_properties(${primitives}/card.cpp PROPERTIES
  OBJECT_DEPENDS "${primitives_ptx};${CMAKE_BINARY_DIR}/mock/gpu_primitives_fibers.so")
add_dependencies(gpu_primitives gpu_primitives_fibers)
foreach(seed 1 2 3)
  add_test(NAME gpu_primitives_seed_${seed} COMMAND gpu_primitives)
  set_tests_properties(gpu_primitives_seed_${seed} PROPERTIES LABELS gpu
    ENVIRONMENT "LD_LIBRARY_PATH=${CMAKE_BINARY_DIR}/mock;CAMEO_MOCK_SEED=${seed}")
endforeach()
