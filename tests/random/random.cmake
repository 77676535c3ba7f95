# random_graphs: random models through interpreter, optimiser, plans and artifacts (README.md).
set(here ${CMAKE_CURRENT_LIST_DIR})
add_executable(random_graphs ${here}/random_main.cpp ${here}/columns.cpp ${here}/draft.cpp ${here}/generate.cpp
               ${here}/make_bodies.cpp ${here}/make_elementwise.cpp ${here}/make_moves.cpp ${here}/make_sums.cpp ${here}/reduce.cpp)
target_link_libraries(random_graphs PRIVATE test_artifact test_support cameo_build)
