/* tangent_lanes.c - the sweeps with an exact directional derivative (complex step). One build serves every CPU:
 * complex arithmetic gains little from wider vectors. */
#define BOUGH_ISA base
#define LANE_TANGENT
#include "sweeps.inl"
