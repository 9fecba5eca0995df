/* hinges.inl - the list of hinge types. A new one is a file here, and a line in each half of this list. */
#include "hinge.inl"

#include "fixed.inl"
#include "revolute.inl"
#include "prismatic.inl"
#include "cylindrical.inl"
#include "universal.inl"
#include "planar.inl"
#include "spherical.inl"
#include "free.inl"
#include "screw.inl"

/* by the code that model blocks have for them */
static const hinge_type *const hinge_types[] = {
    &hinge_fixed,  &hinge_revolute,  &hinge_prismatic, &hinge_cylindrical,
    &hinge_universal, &hinge_planar, &hinge_spherical, &hinge_free,
    &hinge_screw,
};
