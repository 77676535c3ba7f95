# random_graphs: random models through interpreter, optimiser, plans and artifacts (README.md).
set(here ${CMAKE_CURRENT_LIST_DIR})
add_executable(random_graphs ${here}/random_main.cpp ${here}/columns.cpp ${here}/draft.cpp ${here}/generate.cpp
               ${here}/make_bodies.cpp ${here}/make_elementwise.cpp ${here}/make_moves.cpp ${here}/make_sums.cpp ${here}/reduce.cpp)
target_link_libraries(random_graphs PRIVATE test_artifact test_support cameo_build)
# operator_extremes: each operator's cases with attributes, constants, types and extents at their extremes.
add_executable(operator_extremes ${here}/extremes_main.cpp)
target_link_libraries(operator_extremes PRIVATE test_road test_support)
target_compile_definitions(operator_extremes PRIVATE CAMEO_SOURCE_DIR="${CMAKE_SOURCE_DIR}")

file(GLOB cases CONFIGURE_DEPENDS ${here}/cases/*.case)
function(random_test name configurations seconds)
  add_test(NAME random.${name} COMMAND ${ARGN} CONFIGURATIONS ${configurations})
  set_tests_properties(random.${name} PROPERTIES LABELS "random;${configurations}" TIMEOUT ${seconds})
endfunction()
