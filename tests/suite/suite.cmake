# backend_suite, golden_models: the public suite (through either engine) and the real models, run by the interpreter; fuzz_import: models as they are and mutated.
add_library(test_suite STATIC ${CMAKE_CURRENT_LIST_DIR}/suite.cpp ${CMAKE_CURRENT_LIST_DIR}/second_values.cpp
            ${CMAKE_CURRENT_LIST_DIR}/children.cpp ${CMAKE_CURRENT_LIST_DIR}/blank.cpp)
target_link_libraries(test_suite PUBLIC cameo_frontend)
foreach(program backend_suite:suite_main golden_models:models_main fuzz_import:fuzz_main
        emitted_texts:emitted_main ulp_table:ulp_main)
  string(REPLACE ":" ";" parts ${program})
  list(GET parts 0 name)
  list(GET parts 1 file)
  add_executable(${name} ${CMAKE_CURRENT_LIST_DIR}/${file}.cpp)
  target_link_libraries(${name} PRIVATE test_suite)
  target_compile_definitions(${name} PRIVATE CAMEO_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
    CAMEO_BINARY_DIR="${CMAKE_BINARY_DIR}" CAMEO_SHARED="${CMAKE_SOURCE_DIR}/../shared")
endforeach()
target_link_libraries(backend_suite PRIVATE test_artifact)
target_link_libraries(golden_models PRIVATE test_artifact)
target_link_libraries(ulp_table PRIVATE test_artifact)
target_link_libraries(emitted_texts PRIVATE test_road test_support cameo_codegen)
add_test(NAME fuzz_import COMMAND fuzz_import --batches 40)
set_tests_properties(fuzz_import PROPERTIES LABELS frontend SKIP_RETURN_CODE 77)

# The public suite through the engines, `cuda` a GPU that is emulated. The numbers are what passes today: fewer is a regression, more is written here.
function(suite_test engine least report)
  add_test(NAME suite.${engine} COMMAND backend_suite --engine=${engine} -j 2 --least ${least}
           --report ${CMAKE_BINARY_DIR}/${report} ${ARGN})
  set_tests_properties(suite.${engine} PROPERTIES LABELS suite PROCESSORS 2 SKIP_RETURN_CODE 77)
endfunction()
suite_test(artifact 2026 backend_suite.json)
# What computes in doubles takes more than a minute for VGG19 and as long for all operators together: `ctest -C slow` runs these
# networks. On a GPU a quarter, as neighbours are the same operator with other attributes, and `slow` all.
set(without_large "--filter=^(?!test_(densenet121|inception_v2|resnet50|vgg19|zfnet512)$)")
function(whole_suite name least)
  add_test(NAME suite.${name}_all COMMAND backend_suite -j 2 --least ${least}
           --report ${CMAKE_BINARY_DIR}/backend_suite_${name}_all.json ${ARGN} CONFIGURATIONS slow)
  set_tests_properties(suite.${name}_all PROPERTIES LABELS slow PROCESSORS 2 SKIP_RETURN_CODE 77)
endfunction()
suite_test(interpreter 2021 backend_suite_interpreter.json ${without_large})
suite_test(cuda 507 backend_suite_cuda.json --every 4)
whole_suite(interpreter 2026 --engine=interpreter)
whole_suite(cuda 2026 --engine=cuda)
set_tests_properties(suite.interpreter suite.cuda PROPERTIES DEPENDS suite.artifact)  # which unpacks the archive

# Plans over sizes in place of the inputs' extents, bound to the data's; and models that declare no shapes but their inputs'. Both
# counts go into the first report, as do those below.
function(suite_count name least)
  add_test(NAME suite.${name} COMMAND backend_suite ${ARGN} -j 2 --least ${least} --count-as ${name}
           --report ${CMAKE_BINARY_DIR}/backend_suite.json)
  set_tests_properties(suite.${name} PROPERTIES LABELS suite PROCESSORS 2 SKIP_RETURN_CODE 77 DEPENDS suite.artifact
                       RESOURCE_LOCK backend_suite.json)
endfunction()
suite_count(sizes 1989 --engine=sizes ${without_large})
suite_count(blanked 2021 --engine=plan --blanked ${without_large})
whole_suite(sizes 1994 --engine=sizes)
whole_suite(blanked 2026 --engine=plan --blanked)
# The cases whose inputs decide shapes: one artifact at several values of these, some of which do not fit the model.
suite_count(second_values 216 --engine=artifact --second-values)

# ONNX's own runner over its Python interface, where python3 has onnx: each 20th test, as all of them take ten minutes.
if(TARGET cameo)
  add_test(NAME suite.official
           COMMAND ${CMAKE_CURRENT_LIST_DIR}/official_runner $<TARGET_FILE:cameo> --every 20 --least 95)
  set_tests_properties(suite.official PROPERTIES LABELS suite SKIP_RETURN_CODE 77)
endif()

# Integer inputs at the edges of their types: kernels as fused, and plans, do what the interpreter does, which looks at every index
# that was proven to be within its axis.
foreach(engine fused plan)
  add_test(NAME suite.extreme_${engine} COMMAND backend_suite --extreme --engine=${engine} -j 2 --least 2022
           --report ${CMAKE_BINARY_DIR}/backend_suite_extreme_${engine}.json)
  set_tests_properties(suite.extreme_${engine} PROPERTIES LABELS suite PROCESSORS 2 SKIP_RETURN_CODE 77 DEPENDS suite.artifact)
endforeach()

# Some real models by their plans alone, in the physical mode: a few seconds each at most.
add_test(NAME models.plan COMMAND golden_models --engine=plan byte_sb_bidi_lstm dtln_1 fsanet_var gtcrn_simple
         lightgbm micro_kws_fp32 mujoco_go1_policy polygraphy_scan ppocr_v3_det_en silero_vad_op18_ifless
         sklearn_pipeline_vectorize sklearn_randomforest ten_vad ultraface_rfb_320 xfeat_256 xfeat_gridsample_bicubic
         yunet_n_dynamic)
set_tests_properties(models.plan PROPERTIES LABELS optimizer SKIP_RETURN_CODE 77)

# Real models on the emulated GPU; what takes its fibers longest under the label `slow`, which only `ctest -C slow` runs.
add_test(NAME models.cuda COMMAND golden_models --engine=cuda basic_pitch_nmp byte_sb_bidi_lstm deeplab_v3_mnv2 dnsmos_model_v8 dtln_1
         fsanet_var gtcrn_simple hyperlpr_y5fu_320 magika_v1 mediapipe_hand_landmark_lite mediapipe_palm_lite micro_kws_fp32
         msra_matting mujoco_go1_policy oww_embedding oww_melspectrogram polygraphy_loop polygraphy_scan ppocr_rec_en_number
         ppocr_v3_det_en sci_lowlight_512 silero_vad_op18_ifless super_resolution_10 tashkeel_fp32 ten_vad
         tinytts_duration_predictor ultraface_rfb_320 vespa_t5_encoder_random xfeat_256 xfeat_gridsample_bicubic yolox_nano
         yunet_n_dynamic)
set_tests_properties(models.cuda PROPERTIES LABELS codegen SKIP_RETURN_CODE 77)
add_test(NAME models.cuda_slow COMMAND golden_models --engine=cuda agllnet_256 CONFIGURATIONS slow)
set_tests_properties(models.cuda_slow PROPERTIES LABELS slow SKIP_RETURN_CODE 77)

# What claims to change nothing changes no text.
add_test(NAME emitted.operators COMMAND emitted_texts operators)
add_test(NAME emitted.models COMMAND emitted_texts models suite)
set_tests_properties(emitted.operators emitted.models PROPERTIES LABELS codegen SKIP_RETURN_CODE 77 DEPENDS suite.artifact)
