/* lanes_one.c - the sweeps for one state. */
#define LANE_ONE
#include "sweeps.inl"
