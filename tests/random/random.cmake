# random_graphs: random models through interpreter, optimiser, plans and artifacts (README.md).
set(here ${CMAKE_CURRENT_LIST_DIR})
add_executable(random_graphs ${here}/random_main.cpp ${here}/columns.cpp ${here}/draft.cpp ${here}/generate.cpp
               ${here}/make_bodies.cpp ${here}/make_elementwise.cpp ${here}/make_moves.cpp ${here}/make_sums.cpp ${here}/reduce.cpp)
target_link_libraries(random_graphs PRIVATE test_artifact test_support cameo_build)
# operator_extremes: each operator's cases with attributes, constants, types and extents at their extremes.
add_executable(operator_extremes ${here}/extremes_main.cpp)
target_link_libraries(operator_extremes PRIVATE test_road test_support)
target_compile_definitions(operator_extremes PRIVATE CAMEO_SOURCE_DIR="${CMAKE_SOURCE_DIR}")

# What once was wrong; 400 models from seeds, by their plans and as artifacts, and over sizes. Under the label `slow` 1,600 more,
# others by their plans alone, and a twentieth of all mutations.
file(GLOB cases CONFIGURE_DEPENDS ${here}/cases/*.case)
add_test(NAME random.cases COMMAND random_graphs --artifacts ${cases})
function(random_seeds label first count)
  foreach(columns artifacts sizes)
    set(test random.${columns}_${first})
    add_test(NAME ${test} COMMAND random_graphs --${columns} --seed ${first} --count ${count} --batch 50 ${ARGN})
    set_tests_properties(${test} PROPERTIES LABELS ${label} TIMEOUT 1800)
  endforeach()
endfunction()
random_seeds(random 1 400)
random_seeds(slow 401 800 CONFIGURATIONS slow)
random_seeds(slow 1201 800 CONFIGURATIONS slow)
set_tests_properties(random.cases PROPERTIES LABELS random)
add_test(NAME random.plans CONFIGURATIONS slow COMMAND random_graphs --seed 2001 --count 20000)
add_test(NAME random.extremes CONFIGURATIONS slow COMMAND operator_extremes --every 20)
set_tests_properties(random.plans random.extremes PROPERTIES LABELS slow TIMEOUT 1800)
