"""Beams: axis, sections and masses become elements, mode sets and inertia points."""
