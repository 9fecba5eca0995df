/* lanes_four.c - the forward sweep for four states side by side. */
#define LANE_FOUR
#define SWEEP_FORWARD
#include "sweeps.inl"
