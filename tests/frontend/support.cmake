# What the columns of the test matrix share: case files, tensors as text.
add_library(test_support STATIC ${CMAKE_CURRENT_SOURCE_DIR}/support/case.cpp
            ${CMAKE_CURRENT_SOURCE_DIR}/support/graph_text.cpp ${CMAKE_CURRENT_SOURCE_DIR}/support/tensor_text.cpp)
target_link_libraries(test_support PUBLIC cameo_frontend)
target_link_libraries(test_frontend PRIVATE test_support)
