# The road up to the plan, for every test program above this floor.
add_library(test_road STATIC ${CMAKE_CURRENT_SOURCE_DIR}/support/road.cpp ${CMAKE_CURRENT_SOURCE_DIR}/support/fused.cpp
            ${CMAKE_CURRENT_SOURCE_DIR}/support/child.cpp ${CMAKE_CURRENT_SOURCE_DIR}/support/sizes.cpp)
target_link_libraries(test_road PUBLIC cameo_optimizer)
target_link_libraries(test_optimizer PRIVATE test_road test_support)
