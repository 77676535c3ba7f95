// Files of lists as onnx 1.23 wrote them: what the compiler's reader and the artifact's are held against.
#pragma once

namespace list_files {

// [[1, 2], [[3]]]; an optional of that; {7: 0.5, -1: 9}; {"ab": "c", "": "de"}
inline constexpr unsigned char kSequence[] = {10, 1, 115, 16, 1,  26, 14, 8, 2, 16, 1, 74, 8, 0, 0, 128, 63, 0,
                                              0,  0, 64,  26, 12, 8,  1,  8, 1, 16, 1, 74, 4, 0, 0, 64,  64};
inline constexpr unsigned char kOptional[] = {10, 1,  111, 16, 3,  42, 35, 10, 1,   115, 16, 1, 26, 14,
                                              8,  2,  16,  1,  74, 8,  0,  0,  128, 63,  0,  0, 0,  64,
                                              26, 12, 8,   1,  8,  1,  16, 1,  74,  4,   0,  0, 64, 64};
inline constexpr unsigned char kMap[] = {10,  1,   109, 16, 7,  24, 7,  24, 255, 255, 255, 255, 255, 255,
                                         255, 255, 255, 1,  42, 22, 16, 1,  26,  8,   16,  1,   74,  4,
                                         0,   0,   0,   63, 26, 8,  16, 1,  74,  4,   0,   0,   16,  65};
inline constexpr unsigned char kMapOfStrings[] = {10, 1, 116, 16, 8,  34, 2,  97, 98, 34, 0, 42, 17, 16,  1,
                                                  26, 5, 16,  8,  50, 1,  99, 26, 6,  16, 8, 50, 2,  100, 101};

}  // namespace list_files
