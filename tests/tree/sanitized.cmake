# The part of `make check-sanitized` that has the time.
if(NOT CAMEO_SANITIZE)
  add_test(NAME sanitized COMMAND ${CMAKE_SOURCE_DIR}/tests/tools/check_sanitized ${CMAKE_BINARY_DIR}/sanitized 2 --part)
  set_tests_properties(sanitized PROPERTIES LABELS sanitized PROCESSORS 2 ENVIRONMENT "CC=${CMAKE_C_COMPILER};CXX=${CMAKE_CXX_COMPILER}")
endif()
