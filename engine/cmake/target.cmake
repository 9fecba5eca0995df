# bough_add_target(<name> SOURCES <files>... [INCLUDE <folders>...])
#
# A shared library from C99 sources, with the flags of the house. Sources named lanes_*.c hold the hot loops: they are
# compiled for the baseline CPU with BOUGH_ISA=base and, on x86-64, once more for x86-64-v3 (AVX2, FMA) with
# BOUGH_ISA=v3. The sources give both builds different symbols by that macro, and the kernel picks one at run time.

include_guard(GLOBAL)

# Optimization. zig reads every -O1..-O3 as O2; the real O3 goes past its driver. errno and the trap flags of <fenv.h>
# are not read by the kernel, so the compiler need not keep them. Complex numbers carry derivatives, far from overflow:
# their products need no rescue of infinities (a library call each). Never -ffast-math: NaN must stay visible.
set(BOUGH_CFLAGS -O3 -fno-math-errno -fno-trapping-math)
if(BOUGH_ZIG)
  list(APPEND BOUGH_CFLAGS "SHELL:-Xclang -O3" -fcx-limited-range) # SHELL: or CMake drops the second -O3 as said before
elseif(CMAKE_C_COMPILER_ID STREQUAL "GNU")
  list(APPEND BOUGH_CFLAGS -fcx-limited-range)
endif()

# CPU of the two builds. gcc contracts a*b+c into one instruction only when told to (ISO mode); clang does by default.
set(BOUGH_ISA_FLAGS_base "")
set(BOUGH_ISA_FLAGS_v3 "")
string(TOLOWER "${CMAKE_SYSTEM_PROCESSOR} ${BOUGH_ZIG_TARGET}" bough_cpu)
if(bough_cpu MATCHES "^(x86_64|amd64)")
  set(BOUGH_ISAS base v3)
  if(BOUGH_ZIG)
    set(BOUGH_ISA_FLAGS_v3 -mcpu=x86_64_v3)
  else()
    set(BOUGH_ISA_FLAGS_base -march=x86-64)
    set(BOUGH_ISA_FLAGS_v3 -march=x86-64-v3 -ffp-contract=fast)
  endif()
else()
  set(BOUGH_ISAS base)
endif()

function(bough_compile_options target)
  set_target_properties(${target} PROPERTIES
    C_STANDARD 99 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF
    C_VISIBILITY_PRESET hidden POSITION_INDEPENDENT_CODE ON)
  target_compile_options(${target} PRIVATE ${BOUGH_CFLAGS} -Wall -Wextra)
endfunction()

function(bough_add_target name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;INCLUDE")
  set(lanes ${arg_SOURCES})
  list(FILTER lanes INCLUDE REGEX "/lanes_[^/]*\\.c$")
  list(FILTER arg_SOURCES EXCLUDE REGEX "/lanes_[^/]*\\.c$")

  add_library(${name} SHARED ${arg_SOURCES})
  bough_compile_options(${name})
  target_compile_options(${name} PRIVATE ${BOUGH_ISA_FLAGS_base})
  target_include_directories(${name} PRIVATE ${arg_INCLUDE})

  if(lanes)
    foreach(isa IN LISTS BOUGH_ISAS)
      add_library(${name}_${isa} OBJECT ${lanes})
      bough_compile_options(${name}_${isa})
      target_compile_options(${name}_${isa} PRIVATE ${BOUGH_ISA_FLAGS_${isa}})
      target_compile_definitions(${name}_${isa} PRIVATE BOUGH_ISA=${isa})
      target_include_directories(${name}_${isa} PRIVATE ${arg_INCLUDE})
      target_sources(${name} PRIVATE $<TARGET_OBJECTS:${name}_${isa}>)
    endforeach()
  endif()

  if(UNIX)
    target_link_libraries(${name} PRIVATE m)
  endif()
  target_link_options(${name} PRIVATE -s)
endfunction()
