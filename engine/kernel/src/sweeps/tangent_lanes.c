/* tangent_lanes.c - all sweeps with an exact directional derivative (complex step). One build serves every CPU: complex
 * arithmetic gains little from wider vectors. */
#define BOUGH_ISA base
#define BOUGH_SMALL
#define LANE_TANGENT
#define SWEEP_FORWARD
#define SWEEP_OTHERS
#include "sweeps.inl"
