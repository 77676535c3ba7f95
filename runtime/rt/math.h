// All of our math functions: f32 within 2 ULP, f64 within 2 (tests/runtime/rt/ulp_test.cpp prints and bounds each), no
// libm, one source for scalars, vectors and NVPTX. 16-bit floats compute in f32.
#pragma once
#include "math/activation.h"
#include "math/erf.h"
#include "math/exp.h"
#include "math/hyperbolic.h"
#include "math/inverse_trig.h"
#include "math/log.h"
#include "math/pow.h"
#include "math/trig.h"
