# The kernel families' cases, kernels/*_cases.cpp, once for each instruction set: by clang, as artifacts are compiled, where
# it is installed; and by g++, as their sources are.
find_program(CAMEO_CLANGXX NAMES clang++-19)
file(GLOB kernel_cases CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/runtime/kernels/*_cases.cpp)
foreach(source ${kernel_cases})
  get_filename_component(cases ${source} NAME_WE)
  foreach(variant 2 3 4 3ByGcc)
    string(SUBSTRING ${variant} 0 1 level)
    set(object ${CMAKE_BINARY_DIR}/${cases}_v${variant}.o)
    set(flags -std=c++20 -O2 -Wall -Wextra -Werror -Wno-psabi -ffp-contract=off -march=x86-64-v${level} -I${CMAKE_SOURCE_DIR}
      -DCASES_NAME=kV${variant} -DCASES_TARGET="x86-64-v${level}")
    if(level EQUAL 4)
      list(APPEND flags -mprefer-vector-width=512)
    endif()
    set(compiler ${CMAKE_CXX_COMPILER})
    if(CAMEO_CLANGXX AND NOT variant STREQUAL "3ByGcc")
      set(compiler ${CAMEO_CLANGXX})
    endif()
    add_custom_command(OUTPUT ${object} DEPFILE ${object}.d DEPENDS ${source} VERBATIM
      COMMAND ${compiler} ${flags} -MD -MF ${object}.d -MT ${object} -c ${source} -o ${object})
    target_sources(test_runtime PRIVATE ${object})
  endforeach()
endforeach()
add_subdirectory(${CMAKE_CURRENT_SOURCE_DIR}/bench)
