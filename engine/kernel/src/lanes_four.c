/* lanes_four.c - the sweeps for four states side by side. */
#define LANE_FOUR
#include "sweeps.inl"
