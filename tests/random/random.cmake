# random_graphs: random models through interpreter, optimiser, plans and artifacts (README.md).
set(here ${CMAKE_CURRENT_LIST_DIR})
add_executable(random_graphs ${here}/random_main.cpp ${here}/columns.cpp ${here}/draft.cpp ${here}/generate.cpp
               ${here}/make_bodies.cpp ${here}/make_elementwise.cpp ${here}/make_moves.cpp ${here}/make_sums.cpp ${here}/reduce.cpp)
target_link_libraries(random_graphs PRIVATE test_artifact test_support cameo_build)
# operator_extremes: each operator's cases with attributes, constants, types and extents at their extremes.
add_executable(operator_extremes ${here}/extremes_main.cpp)
target_link_libraries(operator_extremes PRIVATE test_road test_support)
target_compile_definitions(operator_extremes PRIVATE CAMEO_SOURCE_DIR="${CMAKE_SOURCE_DIR}")

# 2,000 models by their plans and 120 of others as artifacts; what once was wrong; a twentieth of all mutations. The label
# `slow` has more of each.
file(GLOB cases CONFIGURE_DEPENDS ${here}/cases/*.case)
add_test(NAME random.cases COMMAND random_graphs --artifacts ${cases})
add_test(NAME random.plans COMMAND random_graphs --seed 1 --count 2000)
add_test(NAME random.artifacts COMMAND random_graphs --artifacts --seed 1000001 --count 400)
add_test(NAME random.extremes COMMAND operator_extremes --every 20)
set_tests_properties(random.cases random.plans random.artifacts random.extremes PROPERTIES LABELS random TIMEOUT 1800)
add_test(NAME random.artifacts_slow CONFIGURATIONS slow COMMAND random_graphs --artifacts --seed 2000001 --count 5000)
add_test(NAME random.extremes_slow CONFIGURATIONS slow COMMAND operator_extremes)
set_tests_properties(random.artifacts_slow random.extremes_slow PROPERTIES LABELS slow TIMEOUT 7200)
