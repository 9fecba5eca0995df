# Choose the C compiler. Included before project().
#
# The default is clang as the ziglang package carries it: it is there on a machine without any compiler, it makes the
# fastest code we measured, and it builds for old C libraries. BOUGH_CC=gcc (or a path) in the environment overrides.
#
# Sets BOUGH_ZIG (path, or empty) and BOUGH_ZIG_TARGET.

set(BOUGH_ZIG "")
set(BOUGH_ZIG_TARGET "")

if(DEFINED ENV{BOUGH_CC} AND NOT "$ENV{BOUGH_CC}" STREQUAL "")
  find_program(BOUGH_CC_PATH NAMES "$ENV{BOUGH_CC}" NO_CACHE)
  if(NOT BOUGH_CC_PATH)
    message(FATAL_ERROR "BOUGH_CC=$ENV{BOUGH_CC} names no program. Unset it to build with the ziglang package.")
  endif()
  set(CMAKE_C_COMPILER "${BOUGH_CC_PATH}")
else()
  if(NOT DEFINED Python_EXECUTABLE)
    find_program(Python_EXECUTABLE NAMES python3 python REQUIRED)
  endif()
  execute_process(
    COMMAND "${Python_EXECUTABLE}" "${CMAKE_CURRENT_LIST_DIR}/zig_host.py"
    OUTPUT_VARIABLE bough_zig_host
    ERROR_VARIABLE bough_zig_error
    RESULT_VARIABLE bough_zig_status)
  if(NOT bough_zig_status EQUAL 0)
    message(FATAL_ERROR "No compiler: ${bough_zig_error}\n"
      "Install one with `${Python_EXECUTABLE} -m pip install ziglang`, or set BOUGH_CC=gcc.")
  endif()
  list(GET bough_zig_host 0 BOUGH_ZIG)
  list(GET bough_zig_host 1 BOUGH_ZIG_TARGET)
  set(CMAKE_C_COMPILER "${BOUGH_ZIG}" cc -target "${BOUGH_ZIG_TARGET}")
  # On a cold cache zig compiles its runtime for each optimization level it is asked to link with (10 s and more):
  # identify the compiler without linking, and let CMake's own probes ask for the level of the product.
  set(CMAKE_C_COMPILER_ID_TEST_FLAGS_FIRST "-c")
  set(CMAKE_C_FLAGS_INIT "-O3")
endif()
