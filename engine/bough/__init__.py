"""Dynamics and FMUs from a description of a flexible mechanism."""
