/* sweeps.inl - every sweep, for the `real` of lane.h. */
#include "lane.h"

#include "spatial.inl"
#include "work.inl"
#include "hinge.inl"
#include "body.inl"
#include "outward.inl"
#include "articulated.inl"
#include "inverse.inl"

extern const bough_lane_ops LANE_NAME(bough_lane_ops);
const bough_lane_ops LANE_NAME(bough_lane_ops) = {work_size, work_layout, forward, inverse, singular_body};
