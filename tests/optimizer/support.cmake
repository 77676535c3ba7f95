if(TARGET test_optimizer)
  target_link_libraries(test_optimizer PRIVATE test_support)
endif()
