# The demo as a newcomer sees it: the picture is drawn, and the whole script ends with the digit recognised.
add_test(NAME demo.show_picture COMMAND ${CMAKE_SOURCE_DIR}/models/show_picture ${CMAKE_SOURCE_DIR}/models/digit.pgm)
set_tests_properties(demo.show_picture PROPERTIES LABELS tree
  PASS_REGULAR_EXPRESSION "^        ▓▓██▓▓░░    \n        ██▒▒▓▓▓▓    \n")
if(TARGET cameo)
  add_test(NAME demo COMMAND ${CMAKE_SOURCE_DIR}/models/demo ${CMAKE_BINARY_DIR})
  # Class 3, nearly certain, and all that follows up to the last lines (with an expression, ctest ignores the exit status).
  set_tests_properties(demo PROPERTIES LABELS tree PASS_REGULAR_EXPRESSION "\n *3  (1|0\\.99[0-9]*)  three\n.*To go on:")
endif()
