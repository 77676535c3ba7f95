# backend_suite, golden_models: the public suite (through either engine) and the real models, run by the interpreter; fuzz_import: mutated models.
add_library(test_suite STATIC ${CMAKE_CURRENT_LIST_DIR}/suite.cpp ${CMAKE_CURRENT_LIST_DIR}/children.cpp)
target_link_libraries(test_suite PUBLIC cameo_frontend)
foreach(program backend_suite:suite_main golden_models:models_main fuzz_import:fuzz_main)
  string(REPLACE ":" ";" parts ${program})
  list(GET parts 0 name)
  list(GET parts 1 file)
  add_executable(${name} ${CMAKE_CURRENT_LIST_DIR}/${file}.cpp)
  target_link_libraries(${name} PRIVATE test_suite test_artifact)
  target_compile_definitions(${name} PRIVATE CAMEO_BINARY_DIR="${CMAKE_BINARY_DIR}" CAMEO_SHARED="${CMAKE_SOURCE_DIR}/../shared")
endforeach()

# The public suite through both engines. The numbers are what passes today: fewer is a regression, more is written here.
function(suite_test engine least report)
  add_test(NAME suite.${engine} COMMAND backend_suite --engine=${engine} -j 2 --least ${least}
           --report ${CMAKE_BINARY_DIR}/${report})
  set_tests_properties(suite.${engine} PROPERTIES LABELS suite TIMEOUT 1500 PROCESSORS 2 SKIP_RETURN_CODE 77)
endfunction()
suite_test(artifact 1391 backend_suite.json)
suite_test(interpreter 1408 backend_suite_interpreter.json)
set_tests_properties(suite.interpreter PROPERTIES DEPENDS suite.artifact)  # which unpacks the archive

# Some real models by their plans alone, in the physical mode: a few seconds each at most.
add_test(NAME models.plan COMMAND golden_models --engine=plan byte_sb_bidi_lstm dtln_1 fsanet_var gtcrn_simple micro_kws_fp32
         mujoco_go1_policy polygraphy_scan ppocr_v3_det_en silero_vad_op18_ifless ten_vad ultraface_rfb_320 xfeat_256
         xfeat_gridsample_bicubic yunet_n_dynamic)
set_tests_properties(models.plan PROPERTIES LABELS optimizer TIMEOUT 300 SKIP_RETURN_CODE 77)

# The same on a GPU that is emulated: some real models, and under the label `slow`, which only `ctest -C slow` runs, what
# takes minutes: the rest of them, and the public suite (the operator matrix has the column for every operator).
add_test(NAME models.cuda COMMAND golden_models --engine=cuda byte_sb_bidi_lstm dtln_1 fsanet_var gtcrn_simple magika_v1
         micro_kws_fp32 mujoco_go1_policy polygraphy_loop polygraphy_scan silero_vad_op18_ifless ten_vad
         xfeat_gridsample_bicubic)
set_tests_properties(models.cuda PROPERTIES LABELS codegen TIMEOUT 300 SKIP_RETURN_CODE 77)
# Of the suite what has a kernel of each form, control flow, and every element type.
add_test(NAME suite.cuda_sample COMMAND backend_suite --engine=cuda -j 2 --least 256 --report ${CMAKE_BINARY_DIR}/backend_suite_cuda_sample.json
         --filter "^test_(softmax|conv_|convtranspose|transpose|scatter|top_k|maxpool|gemm|matmul|reduce_(sum|max)|lstm|gru|loop|if|layer_norm|attention_4d_(causal|gqa)|gather|concat|cumsum|argmax|cast_FLOAT16)")
set_tests_properties(suite.cuda_sample PROPERTIES LABELS suite TIMEOUT 600 PROCESSORS 2 SKIP_RETURN_CODE 77 DEPENDS suite.artifact)
function(slow_cuda_test name seconds)
  add_test(NAME ${name} COMMAND ${ARGN} CONFIGURATIONS slow)
  set_tests_properties(${name} PROPERTIES LABELS "slow" TIMEOUT ${seconds} SKIP_RETURN_CODE 77)
endfunction()
slow_cuda_test(suite.cuda 3600 backend_suite --engine=cuda -j 2 --least 1391 --report ${CMAKE_BINARY_DIR}/backend_suite_cuda.json)
slow_cuda_test(models.cuda_slow 7200 golden_models --engine=cuda agllnet_256 basic_pitch_nmp deeplab_v3_mnv2 dnsmos_model_v8
               hyperlpr_y5fu_320 mediapipe_hand_landmark_lite mediapipe_palm_lite msra_matting oww_embedding
               oww_melspectrogram ppocr_rec_en_number ppocr_v3_det_en sci_lowlight_512 super_resolution_10 tashkeel_fp32
               tinytts_duration_predictor ultraface_rfb_320 vespa_t5_encoder_random xfeat_256 yolox_nano yunet_n_dynamic)
