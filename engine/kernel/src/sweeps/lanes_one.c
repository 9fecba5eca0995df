/* lanes_one.c - the forward sweep for one state. */
#define LANE_ONE
#define SWEEP_FORWARD
#include "sweeps.inl"
