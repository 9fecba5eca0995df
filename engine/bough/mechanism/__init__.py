"""The mechanism: what users call, the kernel's block and binding, variables, linearization, equilibrium."""
