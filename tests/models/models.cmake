# The real models, one test each; `slow` are those that take more than ten seconds.
set(models basic_pitch_nmp byte_sb_bidi_lstm deeplab_v3_mnv2 dnsmos_model_v8 dtln_1 fsanet_var gtcrn_simple
  hyperlpr_y5fu_320 magika_v1 mediapipe_hand_landmark_lite mediapipe_palm_lite micro_kws_fp32 msra_matting
  mujoco_go1_policy oww_embedding oww_melspectrogram ppocr_rec_en_number ppocr_v3_det_en sci_lowlight_512
  super_resolution_10 tashkeel_fp32 ten_vad tinytts_duration_predictor ultraface_rfb_320 vespa_t5_encoder_random
  xfeat_256 xfeat_gridsample_bicubic yolox_nano yunet_n_dynamic
  # integers, floats of 16 bits, control flow, trees
  cnn_covid_quant micro_kws_qdq micro_kws_qoperator polygraphy_loop polygraphy_scan silero_vad_op18_ifless
  silero_vad_v4 tract_qlstm_scan tract_xgboost_classifier_tree tract_xgboost_regressor_tree treeensembleclassifier)
set(slow_models agllnet_256)
if(TARGET cameo)
  foreach(model ${models} ${slow_models})
    add_test(NAME models.${model} COMMAND ${CMAKE_CURRENT_LIST_DIR}/build_and_test $<TARGET_FILE:cameo>
             ${CMAKE_SOURCE_DIR}/../shared ${CMAKE_BINARY_DIR}/models ${model})
    set_tests_properties(models.${model} PROPERTIES LABELS models SKIP_RETURN_CODE 77)
  endforeach()
  foreach(model ${slow_models})
    set_tests_properties(models.${model} PROPERTIES LABELS "models;slow")
  endforeach()
endif()
