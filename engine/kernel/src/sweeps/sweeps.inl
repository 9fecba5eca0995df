/* sweeps.inl - the sweeps for the `real` of lane.h: the forward one (SWEEP_FORWARD), all others (SWEEP_OTHERS), or both.
 * The forward sweep is compiled for speed, with everything inlined; the others are compiled once, for size. */
#include "lane.h"

#include "spatial.inl"
#include "work.inl"
#include "hinges/hinges.inl"
#include "springs.inl"
#include "body.inl"
#include "points.inl"
#include "port.inl"
#include "outward.inl"
#include "two_port.inl"
#include "articulated.inl"

#ifdef SWEEP_FORWARD
#include "forward.inl"
extern const bough_forward_ops LANE_NAME(bough_forward_ops);
const bough_forward_ops LANE_NAME(bough_forward_ops) = {work_size, work_layout, forward, singular_body};
#endif

#ifdef SWEEP_OTHERS
#include "inverse.inl"
#include "composite.inl"
#include "factor.inl"
#include "kinematics.inl"
#include "energy.inl"
#include "constraints/closure.inl"
#include "constraints/groups.inl"
#include "constraints/jacobian.inl"
#include "constraints/multipliers.inl"
#include "elements/element.inl"
#include "elements/spring.inl"
#include "elements/bushing.inl"
#include "elements/contact.inl"
#include "elements/field.inl"
#include "elements/elements.inl"
#ifdef LANE_ONE
#include "elements/soft.inl"
#endif
extern const bough_other_ops LANE_NAME(bough_other_ops);
const bough_other_ops LANE_NAME(bough_other_ops) = {inverse, mass_matrix, factors, node_motion, energy,
                                                    constraint_layout, constraint_rows, constrained,
                                                    element_layout, elements, element_view};
#endif
