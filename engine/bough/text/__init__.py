"""Text that people write: YAML with line numbers, problems with place and cure, units. It knows no mechanics."""
