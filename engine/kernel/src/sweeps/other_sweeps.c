/* other_sweeps.c - every sweep but the forward one, for one state. One build serves every CPU. */
#define BOUGH_ISA base
#define BOUGH_SMALL
#define LANE_ONE
#define SWEEP_OTHERS
#include "sweeps.inl"
