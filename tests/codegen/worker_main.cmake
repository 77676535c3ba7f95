# Tests that build artifacts need a main() that can be a worker; it is found before GoogleTest's own.
if(TARGET test_codegen)
  target_sources(test_codegen PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/codegen/build/main.cpp)
  target_link_libraries(test_codegen PRIVATE cameo_build)
endif()
