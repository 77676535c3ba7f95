add_test(NAME tree.format COMMAND ${CMAKE_SOURCE_DIR}/tests/tools/check_format ${CMAKE_SOURCE_DIR})
set_tests_properties(tree.format PROPERTIES LABELS tree SKIP_RETURN_CODE 77)
