# The tests of runtime/rt once more for the instruction sets that kernels are compiled for, by clang (which compiles the
# artifacts) and by g++ (which can compile their sources); a set this machine lacks is left out. Plus the speed table.
target_compile_options(test_runtime PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-psabi>)
set(rt_folder ${CMAKE_CURRENT_SOURCE_DIR}/runtime/rt)
set(rt_broad scalar fold load)  # hundreds of instantiations: -O1 halves the time they take to compile
foreach(stem ${rt_broad})
  set_source_files_properties(${rt_folder}/${stem}_test.cpp PROPERTIES COMPILE_OPTIONS -O1)
endforeach()
find_program(CLANG_CXX NAMES clang++-19)
set(cpu_flags "")
if(EXISTS /proc/cpuinfo)
  file(STRINGS /proc/cpuinfo cpu_flags LIMIT_COUNT 1 REGEX "^flags")
endif()

# NAME: the tests STEMS (a list) built by COMPILER with the flags that follow.
function(add_rt_variant name compiler stems)
  set(objects)
  foreach(stem ${stems})
    set(source ${rt_folder}/${stem}_test.cpp)
    set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}_${stem}.o)
    set(level -O2)
    if(stem IN_LIST rt_broad)
      set(level -O1)
    endif()
    add_custom_command(OUTPUT ${object} DEPENDS ${source} DEPFILE ${object}.d COMMENT "Building ${name} ${stem}"
      COMMAND ${CMAKE_CXX_COMPILER_LAUNCHER} ${compiler} -std=c++20 ${level} -Wall -Wextra -Werror -Wno-psabi -ffp-contract=off ${ARGN}
        -I${CMAKE_SOURCE_DIR} -DCAMEO_SOURCE_DIR="${CMAKE_SOURCE_DIR}" -MD -MF ${object}.d -c ${source} -o ${object} VERBATIM)
    list(APPEND objects ${object})
  endforeach()
  add_executable(test_${name} ${objects})
  set_target_properties(test_${name} PROPERTIES LINKER_LANGUAGE CXX)
  target_link_libraries(test_${name} PRIVATE GTest::gtest_main)
  add_test(NAME ${name} COMMAND test_${name} --gtest_brief=1)
  set_tests_properties(${name} PROPERTIES LABELS runtime)
endfunction()

if(cpu_flags MATCHES " avx2 " AND cpu_flags MATCHES " fma ")
  add_rt_variant(rt_gcc_v3 ${CMAKE_CXX_COMPILER} "ulp;half;minifloat;fold" -march=x86-64-v3)
  if(CLANG_CXX)
    add_rt_variant(rt_clang_v3 ${CLANG_CXX} "ulp;half;minifloat;scalar;index;load;fold" -march=x86-64-v3)
  endif()
endif()
if(cpu_flags MATCHES " avx512bw " AND cpu_flags MATCHES " avx512vl " AND CLANG_CXX)
  add_rt_variant(rt_clang_v4 ${CLANG_CXX} "ulp;half;minifloat;scalar;index;load;fold" -march=x86-64-v4 -mprefer-vector-width=512)
endif()
if(CLANG_CXX)
  add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/rt_speed DEPENDS ${rt_folder}/speed.cpp
    DEPFILE ${CMAKE_CURRENT_BINARY_DIR}/rt_speed.d COMMENT "Building rt_speed"
    COMMAND ${CLANG_CXX} -std=c++20 -O2 -march=native -mprefer-vector-width=512 -ffp-contract=off -I${CMAKE_SOURCE_DIR}
      -MD -MF ${CMAKE_CURRENT_BINARY_DIR}/rt_speed.d ${rt_folder}/speed.cpp -o ${CMAKE_BINARY_DIR}/rt_speed VERBATIM)
  add_custom_target(rt_speed_table ALL DEPENDS ${CMAKE_BINARY_DIR}/rt_speed)
  add_test(NAME rt_speed COMMAND ${CMAKE_BINARY_DIR}/rt_speed)
  set_tests_properties(rt_speed PROPERTIES LABELS runtime)
endif()
