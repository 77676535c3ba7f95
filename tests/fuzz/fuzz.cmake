# libFuzzer targets over what an artifact reads, over the decoders of pictures and over the importer, built by clang with address and undefined-behaviour
# sanitizers (stb copies nothing from null, which is let be). Half a minute each in `make check`; by hand
# `build/fuzz/readers --format=npz -max_total_time=3600 build/fuzz/npz tests/fuzz/corpus/npz` and
# `build/fuzz/importer -max_total_time=3600 -max_len=65536 build/fuzz/onnx tests/fuzz/corpus/onnx`.
find_program(FUZZ_CLANG clang++-19)
set(fuzz_runtime "")
if(FUZZ_CLANG)
  execute_process(COMMAND ${FUZZ_CLANG} -print-file-name=libclang_rt.fuzzer-${CMAKE_SYSTEM_PROCESSOR}.a
    OUTPUT_VARIABLE fuzz_runtime OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()
set(fuzz_source ${CMAKE_CURRENT_SOURCE_DIR}/fuzz)
set(fuzz_build ${CMAKE_BINARY_DIR}/fuzz)

if(NOT EXISTS "${fuzz_runtime}")
  add_test(NAME fuzz COMMAND ${CMAKE_COMMAND} -E echo "clang++-19 with libFuzzer (libclang-rt-19-dev) is not installed")
  set_tests_properties(fuzz PROPERTIES LABELS fuzz SKIP_REGULAR_EXPRESSION "is not installed")
else()
  set(fuzz_flags -std=c++20 -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined
    -fno-sanitize=vptr,nonnull-attribute -I${CMAKE_SOURCE_DIR} -I${CMAKE_BINARY_DIR})

  # fuzz_target(NAME SOURCES .. FLAGS .. LIBRARIES ..): build/fuzz/NAME
  function(fuzz_target name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;FLAGS;LIBRARIES")
    set(objects "")
    foreach(source ${arg_SOURCES})
      string(REPLACE ${CMAKE_BINARY_DIR}/ "" relative ${source})
      string(REPLACE ${CMAKE_SOURCE_DIR}/ "" relative ${relative})
      set(object ${fuzz_build}/objects/${name}/${relative}.o)
      get_filename_component(folder ${object} DIRECTORY)
      file(MAKE_DIRECTORY ${folder})
      add_custom_command(OUTPUT ${object} DEPENDS ${source} DEPFILE ${object}.d
        COMMAND ${CMAKE_CXX_COMPILER_LAUNCHER} ${FUZZ_CLANG} ${fuzz_flags} ${arg_FLAGS} -MD -MF ${object}.d -c ${source}
          -o ${object}
        COMMENT "Fuzz target ${name}: ${relative}" VERBATIM)
      list(APPEND objects ${object})
    endforeach()
    add_custom_command(OUTPUT ${fuzz_build}/${name} DEPENDS ${objects}
      COMMAND ${FUZZ_CLANG} ${fuzz_flags} ${objects} ${arg_LIBRARIES} -o ${fuzz_build}/${name} VERBATIM)
    add_custom_target(fuzz_${name} ALL DEPENDS ${fuzz_build}/${name})
  endfunction()

  # Files that include `size` of the sources each; their names go to `out`.
  function(fuzz_together out folder size)
    set(text "")
    set(count 0)
    set(files "")
    foreach(source ${ARGN} LAST)
      if(NOT source STREQUAL LAST)
        string(APPEND text "#include \"${source}\"\n")
        math(EXPR count "${count} + 1")
      endif()
      if(text AND (count EQUAL size OR source STREQUAL LAST))
        list(LENGTH files number)
        set(file ${fuzz_build}/together/${folder}_${number}.cpp)
        file(CONFIGURE OUTPUT ${file} CONTENT "${text}" @ONLY)
        list(APPEND files ${file})
        set(text "")
        set(count 0)
      endif()
    endforeach()
    set(${out} ${files} PARENT_SCOPE)
  endfunction()

  function(fuzz_test name program)  # more flags behind it
    file(MAKE_DIRECTORY ${fuzz_build}/${name})
    add_test(NAME fuzz.${name} WORKING_DIRECTORY ${fuzz_build}
      COMMAND ${fuzz_build}/${program} ${ARGN} -max_total_time=30 -timeout=5 -print_final_stats=1
        -artifact_prefix=${fuzz_build}/${name}. ${name} ${fuzz_source}/corpus/${name})
    set_tests_properties(fuzz.${name} PROPERTIES LABELS fuzz TIMEOUT 600)
  endfunction()

  file(GLOB fuzz_runtime_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/runtime/*.cpp
    ${CMAKE_SOURCE_DIR}/runtime/program/*.cpp)
  list(FILTER fuzz_runtime_sources EXCLUDE REGEX "/(abi|shared|program/main|program/start)\\.cpp$")
  fuzz_target(readers SOURCES ${fuzz_source}/readers.cpp ${fuzz_runtime_sources} FLAGS -Wno-unused-function)
  foreach(format npy npz pb png raw text)
    fuzz_test(${format} readers --format=${format} -malloc_limit_mb=64 -rss_limit_mb=512 -max_len=65536)
  endforeach()

  fuzz_target(pictures SOURCES ${fuzz_source}/pictures.cpp)
  fuzz_test(pictures pictures -malloc_limit_mb=256 -rss_limit_mb=512 -max_len=65536)

  # The whole frontend, of which shape rules and the interpreter that folds constants are a part.
  file(GLOB frontend_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/frontend/ir/*.cpp ${CMAKE_SOURCE_DIR}/frontend/import/*.cpp
       ${CMAKE_SOURCE_DIR}/frontend/reference/*.cpp)
  list(FILTER frontend_sources EXCLUDE REGEX "/compare\\.cpp$")  # of the runtime
  file(GLOB operator_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/frontend/ops/*.cpp)
  fuzz_together(frontend frontend 9 ${frontend_sources})
  fuzz_together(operators operators 45 ${operator_sources})
  fuzz_target(importer FLAGS -g1 -Wno-deprecated-declarations SOURCES ${fuzz_source}/importer.cpp ${fuzz_source}/mutate_model.cpp ${frontend} ${operators}
    ${CMAKE_BINARY_DIR}/frontend/operator_table.cpp LIBRARIES -lonnx_proto -lprotobuf -lfmt)
  fuzz_test(onnx importer -malloc_limit_mb=512 -rss_limit_mb=1024 -max_len=65536)
endif()
