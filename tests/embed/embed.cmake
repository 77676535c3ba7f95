# Outside projects that embed a model, built against an installed prefix: they see nothing of this tree but the model
# and its data.
if(TARGET cameo)
  set(embed_source ${CMAKE_CURRENT_SOURCE_DIR}/embed)
  set(embed_build ${CMAKE_BINARY_DIR}/embed)
  set(embed_prefix ${CMAKE_BINARY_DIR}/prefix)
  set(embed_model ${CMAKE_SOURCE_DIR}/models/digits.onnx)
  set(embed_picture ${CMAKE_SOURCE_DIR}/models/digit.pgm)
  set(embed_sized ${embed_source}/sized.onnx)  # y[batch, n] = x[batch, n] * x + b[n]; flat = y as one axis
  set(embed_growing ${embed_source}/growing.onnx)  # present[batch, past + 1] = past[batch, past], x[batch, 1]; total
  function(embed_test name)
    add_test(NAME embed.${name} ${ARGN})
    set_tests_properties(embed.${name} PROPERTIES LABELS embed FIXTURES_REQUIRED embed_prefix)
  endfunction()

  embed_test(install COMMAND ${CMAKE_COMMAND} --install ${CMAKE_BINARY_DIR} --prefix ${embed_prefix})
  set_tests_properties(embed.install PROPERTIES FIXTURES_REQUIRED "" FIXTURES_SETUP embed_prefix)

  # C through make and pkg-config.
  embed_test(c COMMAND ${embed_source}/c/check ${embed_build}/c MODEL=${embed_model} PICTURE=${embed_picture}
    SIZED=${embed_sized} GROWING=${embed_growing})
  set_tests_properties(embed.c PROPERTIES SKIP_RETURN_CODE 77 ENVIRONMENT PKG_CONFIG_PATH=${embed_prefix}/lib/pkgconfig
    PASS_REGULAR_EXPRESSION "digit is a 3.*refused: input 0.*digit is a 3.*refused: input 0.*x: batch 1 to 4.*refused: input 0.*refused: input 0.*refused: cannot open the weights")

  # C++ through CMake.
  embed_test(cpp COMMAND ${CMAKE_CTEST_COMMAND} --build-and-test ${embed_source}/cpp ${embed_build}/cpp
    --build-generator Ninja --build-options -DCMAKE_PREFIX_PATH=${embed_prefix} -DMODEL=${embed_model}
    -DGOLDEN=${CMAKE_SOURCE_DIR}/models/digits_golden -DPICTURE=${embed_picture} -DMOCK=${CMAKE_BINARY_DIR}/mock
    -DCOUNT_MALLOC=${embed_source}/count_malloc.c --test-command ${CMAKE_CTEST_COMMAND} --output-on-failure)
  # The model compiled anew when its file changes, and only then.
  embed_test(rebuild COMMAND ${CMAKE_COMMAND} -DSOURCE=${embed_source}/cpp -DBUILD=${embed_build}/rebuild
    -DPREFIX=${embed_prefix} -DMODELS=${CMAKE_SOURCE_DIR}/models -P ${embed_source}/cpp/rebuild.cmake)

  # A model loaded, run, cancelled, starved and unloaded over and over; a minute of it under `slow`.
  add_executable(soak ${embed_source}/soak.c)
  file(MAKE_DIRECTORY ${embed_build})
  target_include_directories(soak PRIVATE ${CMAKE_SOURCE_DIR})
  embed_test(soak.model COMMAND cameo -q build ${embed_model} -o ${embed_build}/soak.so)
  set_tests_properties(embed.soak.model PROPERTIES FIXTURES_REQUIRED "" FIXTURES_SETUP embed_soak)
  embed_test(soak.short COMMAND soak ${embed_build}/soak.so 5)
  embed_test(soak.minute COMMAND soak ${embed_build}/soak.so 60 CONFIGURATIONS slow)
  set_tests_properties(embed.soak.short PROPERTIES FIXTURES_REQUIRED embed_soak)
  set_tests_properties(embed.soak.minute PROPERTIES FIXTURES_REQUIRED embed_soak LABELS slow)

  # Python with NumPy, whichever python3 has it.
  embed_test(python COMMAND ${embed_source}/python/check ${embed_prefix} ${embed_build}/python ${embed_model}
    ${embed_picture} ${CMAKE_SOURCE_DIR}/models/digits_golden ${CMAKE_BINARY_DIR}/mock)
  set_tests_properties(embed.python PROPERTIES SKIP_RETURN_CODE 77)
  embed_test(generate COMMAND ${embed_source}/python/check_generate ${embed_prefix} ${embed_build}/generate
    ${CMAKE_SOURCE_DIR}/../shared)
  set_tests_properties(embed.generate PROPERTIES SKIP_RETURN_CODE 77)
endif()
