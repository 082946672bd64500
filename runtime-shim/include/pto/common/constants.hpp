// Some kernels include parts of the library by this path; here everything is in one header.
#include "pto/pto-inst.hpp"
