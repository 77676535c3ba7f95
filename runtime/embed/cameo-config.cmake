# find_package(cameo): the target cameo::cameo (the headers cameo/cameo.h and cameo/cameo.hpp) and cameo_add_model.
# Every path is relative to this file, so an installed tree may be moved.
get_filename_component(cameo_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(CAMEO_EXECUTABLE "${cameo_prefix}/bin/cameo" CACHE FILEPATH "the compiler that cameo_add_model runs")
set(CAMEO_TARGET "" CACHE STRING "processors that cameo_add_model compiles for; empty: this machine's own")
set(cameo_selftest_source "${CMAKE_CURRENT_LIST_DIR}/selftest.c")

if(NOT TARGET cameo::cameo)
  add_library(cameo::cameo INTERFACE IMPORTED)
  set_target_properties(cameo::cameo PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${cameo_prefix}/include")
endif()

# cameo_add_model(NAME MODEL file.onnx [STATIC | SHARED] [DIMS a=1 b=1..32 ..] [SHAPES input=1x3x224x224 ..]
#                 [CONSTANTS input=value ..] [OUTPUTS a ..] [TARGET cpu:x86-64-v3 ..] [GOLDEN dir | random:N]
#                 [CUSTOM my_op.cpp ..] [DEPENDS file ..] [OPTIONS flag ..])
# makes the library NAME out of a model: link it, include NAME.h and call NAME_api. It is compiled anew when the model,
# a golden case, a file of CUSTOM (operators of your own) or of DEPENDS (external weights, say) or cameo itself changes. With GOLDEN it carries golden cases,
# and once enable_testing() was called, the test NAME.selftest runs them. The library's file is $<TARGET_FILE:NAME>: a
# SHARED one can be loaded by name and is a program too. OPTIONS --weights=file puts NAME.weights beside it; the program
# that a STATIC one is linked into looks for it in the program's own folder.
function(cameo_add_model name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "STATIC;SHARED" "MODEL;GOLDEN"
    "DIMS;SHAPES;CONSTANTS;OUTPUTS;TARGET;CUSTOM;DEPENDS;OPTIONS")
  string(MAKE_C_IDENTIFIER "${name}" identifier)
  if(NOT name STREQUAL identifier)
    message(FATAL_ERROR "cameo_add_model: `${name}` is no C identifier, so there can be no ${name}_api")
  endif()
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "cameo_add_model(${name}): `${arg_UNPARSED_ARGUMENTS}` is no argument of it")
  endif()
  if(arg_STATIC AND arg_SHARED)
    message(FATAL_ERROR "cameo_add_model(${name}): STATIC and SHARED exclude each other")
  endif()
  if(NOT arg_MODEL)
    message(FATAL_ERROR "cameo_add_model(${name}): MODEL is missing")
  endif()
  get_filename_component(model "${arg_MODEL}" ABSOLUTE)
  get_property(generated SOURCE "${model}" PROPERTY GENERATED)
  if(NOT generated AND NOT EXISTS "${model}")
    message(FATAL_ERROR "cameo_add_model(${name}): there is no file ${model}")
  endif()

  if(NOT arg_TARGET)
    set(arg_TARGET ${CAMEO_TARGET})
  endif()
  set(flags --name=${name})
  foreach(pair DIMS=--dim SHAPES=--shape CONSTANTS=--const OUTPUTS=--outputs TARGET=--target)
    string(REGEX MATCH "^([A-Z]+)=(.+)$" pair "${pair}")
    set(flag ${CMAKE_MATCH_2})
    foreach(value IN LISTS arg_${CMAKE_MATCH_1})
      list(APPEND flags "${flag}=${value}")
    endforeach()
  endforeach()
  set(depends "${model}" "${CAMEO_EXECUTABLE}")
  foreach(file IN LISTS arg_CUSTOM)
    get_filename_component(file "${file}" ABSOLUTE)
    list(APPEND flags "--custom=${file}")
    list(APPEND arg_DEPENDS "${file}")
  endforeach()
  foreach(file IN LISTS arg_DEPENDS)
    get_filename_component(file "${file}" ABSOLUTE)
    list(APPEND depends "${file}")
  endforeach()
  if(arg_GOLDEN MATCHES "^random:")
    list(APPEND flags "--golden=${arg_GOLDEN}")
  elseif(arg_GOLDEN)
    get_filename_component(golden "${arg_GOLDEN}" ABSOLUTE)
    file(GLOB_RECURSE cases CONFIGURE_DEPENDS "${golden}/*.pb")
    list(APPEND flags "--golden=${golden}")
    list(APPEND depends ${cases})
  endif()

  set(folder "${CMAKE_CURRENT_BINARY_DIR}/cameo/${name}")
  file(MAKE_DIRECTORY "${folder}")
  set(kind STATIC)
  set(library "${folder}/${name}.a")
  set(products "${library}" "${folder}/${name}.h")
  if(arg_SHARED OR (BUILD_SHARED_LIBS AND NOT arg_STATIC))
    set(kind SHARED)
    set(library "${folder}/${name}.so")
    set(products "${library}")
    file(CONFIGURE OUTPUT "${folder}/${name}.h" @ONLY CONTENT "#include <cameo/cameo.h>
#ifdef __cplusplus
extern \"C\"
#endif
const cameo_api* @name@_api(uint32_t abi_major);
")
  endif()
  add_custom_command(
    OUTPUT ${products}
    COMMAND "${CAMEO_EXECUTABLE}" -q build "${model}" -o "${library}" ${flags} ${arg_OPTIONS}
    DEPENDS ${depends}
    COMMENT "Compiling ${arg_MODEL} into ${name}"
    VERBATIM)
  add_custom_target(${name}_compile ALL DEPENDS ${products})
  add_library(${name} ${kind} IMPORTED GLOBAL)
  set_target_properties(${name} PROPERTIES
    IMPORTED_LOCATION "${library}"
    INTERFACE_INCLUDE_DIRECTORIES "${folder};${cameo_prefix}/include")
  add_dependencies(${name} ${name}_compile)

  if(arg_GOLDEN AND CMAKE_TESTING_ENABLED)
    cameo_add_selftest(${name})
  endif()
endfunction()

# The test is a program linked like the caller's own. Its source is C and C++, whichever the project has.
function(cameo_add_selftest name)
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  set(language CXX)
  if("C" IN_LIST languages)
    set(language C)
  endif()
  set(source "${CMAKE_CURRENT_BINARY_DIR}/cameo/${name}/selftest.c")
  configure_file("${cameo_selftest_source}" "${source}" COPYONLY)
  set_source_files_properties("${source}" PROPERTIES LANGUAGE ${language})
  add_executable(${name}_selftest "${source}")
  target_compile_definitions(${name}_selftest PRIVATE MODEL_API=${name}_api)
  target_link_libraries(${name}_selftest PRIVATE ${name})
  add_test(NAME ${name}.selftest COMMAND ${name}_selftest)
endfunction()
