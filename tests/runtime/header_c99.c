/* The public header in the oldest C that it promises, and the layouts that other languages write down by hand. */
#include "runtime/cameo.h"

typedef char tensor_is_dlpack[sizeof(cameo_tensor) == 48 && offsetof(cameo_tensor, shape) == 24 ? 1 : -1];
typedef char error_is_512_bytes[sizeof(cameo_error) == 512 && offsetof(cameo_error, message) == 16 ? 1 : -1];
typedef char value_begins_with_its_size[offsetof(cameo_value, struct_size) == 0 && offsetof(cameo_value, tensor) == 8 ? 1 : -1];
typedef char api_is_append_only[offsetof(cameo_api, run) == 16 + 13 * sizeof(void*) ? 1 : -1];
typedef char api_ends_with_status_string[offsetof(cameo_api, status_string) == 16 + 23 * sizeof(void*) ? 1 : -1];
