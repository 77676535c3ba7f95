# backend_suite and golden_models: the public suite and the real models, run by the interpreter or
# through artifacts.
add_library(test_suite STATIC ${CMAKE_CURRENT_LIST_DIR}/suite.cpp ${CMAKE_CURRENT_LIST_DIR}/children.cpp)
target_link_libraries(test_suite PUBLIC cameo_frontend)
foreach(program backend_suite:suite_main golden_models:models_main)
  string(REPLACE ":" ";" parts ${program})
  list(GET parts 0 name)
  list(GET parts 1 file)
  add_executable(${name} ${CMAKE_CURRENT_LIST_DIR}/${file}.cpp)
  target_link_libraries(${name} PRIVATE test_suite test_artifact)
  target_compile_definitions(${name} PRIVATE CAMEO_BINARY_DIR="${CMAKE_BINARY_DIR}" CAMEO_SHARED="${CMAKE_SOURCE_DIR}/../shared")
endforeach()
