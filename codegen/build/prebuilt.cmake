# Compiles runtime sources into the objects that artifacts link,
# by commands of our own, so that no flag of the surrounding build (sanitizers, debug information, a newer instruction set)
# reaches what ships. They run on every x86-64-v2 machine, name no path of this one, and need no C++ library.
set(CAMEO_PREBUILT_FLAGS
  -std=c++20 -g0 -w -fPIC -fvisibility=hidden -ffunction-sections -fdata-sections -ffp-contract=off
  -fno-exceptions -fno-rtti -fno-threadsafe-statics -fno-stack-protector -fno-ident
  -fno-unwind-tables -fno-asynchronous-unwind-tables -fno-builtin-printf -fno-math-errno
  -U_FORTIFY_SOURCE -ffile-prefix-map=${CMAKE_SOURCE_DIR}=.)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND CAMEO_PREBUILT_FLAGS -fno-gnu-unique)
endif()
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  list(APPEND CAMEO_PREBUILT_FLAGS -march=x86-64-v2 -mtune=generic -fcf-protection=none)
endif()

# cameo_prebuilt_objects(GROUP OPTIMIZE OUT_VARIABLE SOURCES...)
function(cameo_prebuilt_objects group optimize out)
  set(rows "")
  foreach(source ${ARGN})
    get_filename_component(stem ${source} NAME_WE)
    set(object ${CMAKE_CURRENT_BINARY_DIR}/prebuilt/${group}/${stem}.o)
    add_custom_command(
      OUTPUT ${object}
      COMMAND ${CMAKE_CXX_COMPILER_LAUNCHER} ${CMAKE_CXX_COMPILER} ${CAMEO_PREBUILT_FLAGS} ${optimize}
              -I ${CMAKE_SOURCE_DIR} -I ${CMAKE_SOURCE_DIR}/runtime -MD -MF ${object}.d -c ${source} -o ${object}
      DEPENDS ${source}
      DEPFILE ${object}.d
      COMMENT "Compiling ${group}/${stem}.o for artifacts")
    list(APPEND rows "${group}/${stem}.o=${object}")
  endforeach()
  file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/prebuilt/${group})
  set(${out} ${rows} PARENT_SCOPE)
endfunction()
