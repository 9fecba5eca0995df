/* sweeps.inl - every sweep, for the `real` of lane.h. */
#include "lane.h"

#include "spatial.inl"
#include "work.inl"
#include "hinge.inl"
#include "body.inl"
#include "outward.inl"
#include "articulated.inl"
#include "inverse.inl"

#if LANES == 1
#include "composite.inl"
#include "factor.inl"
#include "kinematics.inl"
#define ONE_STATE_ONLY(name) name
#else
#define ONE_STATE_ONLY(name) NULL
#endif

extern const bough_lane_ops LANE_NAME(bough_lane_ops);
const bough_lane_ops LANE_NAME(bough_lane_ops) = {
    work_size, work_layout, forward, inverse, singular_body, ONE_STATE_ONLY(mass_matrix), ONE_STATE_ONLY(factors),
    ONE_STATE_ONLY(node_motion), ONE_STATE_ONLY(energy)};
