# The C ABI's header must compile as C99 without extensions.
add_library(cameo_header_c99 OBJECT runtime/header_c99.c)
target_link_libraries(cameo_header_c99 PRIVATE cameo_flags)
target_compile_options(cameo_header_c99 PRIVATE -pedantic)
set_target_properties(cameo_header_c99 PROPERTIES C_STANDARD 99 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF)
