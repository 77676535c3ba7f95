# What a GPU machine without a compiler needs: gpu_artifacts, and `ninja gpu_pack`, which packs them for tests/gpu/run.
add_executable(gpu_artifacts ${CMAKE_CURRENT_LIST_DIR}/artifacts_main.cpp)
target_link_libraries(gpu_artifacts PRIVATE test_suite test_artifact test_support)
target_compile_definitions(gpu_artifacts PRIVATE CAMEO_SOURCE_DIR="${CMAKE_SOURCE_DIR}" CAMEO_BINARY_DIR="${CMAKE_BINARY_DIR}"
  CAMEO_SHARED="${CMAKE_SOURCE_DIR}/../shared")

if(TARGET cameo)
  add_custom_target(gpu_pack COMMAND ${CMAKE_CURRENT_LIST_DIR}/pack --build ${CMAKE_BINARY_DIR} USES_TERMINAL)
  add_dependencies(gpu_pack cameo gpu_artifacts)
  if(TARGET gpu_primitives)
    add_dependencies(gpu_pack gpu_primitives)
  endif()
  add_test(NAME tools.gpu_run COMMAND ${CMAKE_SOURCE_DIR}/tests/tools/gpu_run ${CMAKE_BINARY_DIR})
  set_tests_properties(tools.gpu_run PROPERTIES LABELS gpu SKIP_RETURN_CODE 77)
endif()
