/* tangent_lanes.c - all sweeps with an exact directional derivative (complex step). One build serves every CPU: complex
 * arithmetic gains little from wider vectors. */
#include "internal.h"

#ifdef BOUGH_NO_COMPLEX
typedef int bough_no_tangent_lanes; /* a file of C has to hold something */
#else
#define BOUGH_ISA base
#define BOUGH_SMALL
#define LANE_TANGENT
#define SWEEP_FORWARD
#define SWEEP_OTHERS
#include "sweeps.inl"
#endif
