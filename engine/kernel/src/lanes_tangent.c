/* lanes_tangent.c - the sweeps with an exact directional derivative (complex step). */
#define LANE_TANGENT
#include "sweeps.inl"
