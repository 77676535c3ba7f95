# These tests run the built program.
target_sources(test_cli PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/cli/program.cpp)
add_dependencies(test_cli cameo cuda_mock)
target_compile_definitions(test_cli PRIVATE CAMEO_PROGRAM="$<TARGET_FILE:cameo>")
