"""An independent derivation of the equations of motion: particles, virtual power, differentiation only."""
