# Machine code without local memory, of a sample that has every form of kernel, and under `slow` of all models.
if(TARGET cameo)
  function(ptxas_test name)
    add_test(NAME tree.${name} ${ARGN})
    set_tests_properties(tree.${name} PROPERTIES LABELS tree SKIP_RETURN_CODE 77)
  endfunction()
  set(gate ${CMAKE_SOURCE_DIR}/tests/tools/ptxas_gate $<TARGET_FILE:cameo> ${CMAKE_SOURCE_DIR}/../shared/models)
  ptxas_test(ptxas COMMAND ${gate} ${CMAKE_SOURCE_DIR}/models/digits.onnx byte_sb_bidi_lstm magika_v1 mujoco_go1_policy
    oww_melspectrogram polygraphy_loop polygraphy_scan tashkeel_fp32 xfeat_256 xfeat_gridsample_bicubic)
  ptxas_test(ptxas_slow COMMAND ${gate} agllnet_256 basic_pitch_nmp deeplab_v3_mnv2 dnsmos_model_v8 dtln_1 fsanet_var gtcrn_simple
    hyperlpr_y5fu_320 mediapipe_hand_landmark_lite mediapipe_palm_lite micro_kws_fp32 msra_matting oww_embedding
    ppocr_rec_en_number ppocr_v3_det_en sci_lowlight_512 silero_vad_op18_ifless super_resolution_10 ten_vad
    tinytts_duration_predictor ultraface_rfb_320 vespa_t5_encoder_random yolox_nano yunet_n_dynamic CONFIGURATIONS slow)
  set_tests_properties(tree.ptxas_slow PROPERTIES LABELS slow)
endif()
