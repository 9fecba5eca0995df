"""How the kernel library of this installation was built. CMake writes the module itself."""

VERSION: str
LIBRARY: str
COMPILER: str
TARGET: str
FLAGS: str
ISAS: tuple[str, ...]
