# bough_add_binding()
#
# The extension module bough._binding. It uses Python's stable ABI, declared in binding/stable_abi.h: no Python headers are
# needed, and one binary serves every CPython from 3.10 on (Windows: from 3.11 on, the first whose python3.dll has the buffer
# functions). A Python that cannot import it, a free-threaded one or PyPy, calls the kernel by ctypes; so wheels stay
# py3-none-<platform>.

function(bough_add_binding)
  set(folder "${CMAKE_CURRENT_SOURCE_DIR}/binding")
  # Python opens shared libraries as well as what CMake calls modules, and zig cannot link the latter for macOS
  add_library(bough_binding SHARED "${folder}/binding.c")
  bough_compile_options(bough_binding)
  target_include_directories(bough_binding PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/kernel/include")
  set_target_properties(bough_binding PROPERTIES PREFIX "" OUTPUT_NAME _binding SUFFIX ".abi3.so")
  # Python has its functions in the program or in a library that is loaded already, by whatever name
  if(APPLE)
    target_link_options(bough_binding PRIVATE -undefined dynamic_lookup)
  elseif(WIN32)
    bough_link_python_dll(bough_binding "${folder}/stable_abi.h")
  else()
    target_link_options(bough_binding PRIVATE -Wl,--allow-shlib-undefined)
  endif()
  target_link_options(bough_binding PRIVATE -s)
endfunction()

# Link with python3.dll, which every Python for Windows brings, by an import library made of the names in the header.
function(bough_link_python_dll target header)
  set_target_properties(${target} PROPERTIES SUFFIX ".pyd")
  file(STRINGS "${header}" lines REGEX "^PY_IMPORT ")
  set(names "")
  foreach(line IN LISTS lines)
    if(line MATCHES "([A-Za-z_]+)\\(")
      string(APPEND names "  ${CMAKE_MATCH_1}\n")
    elseif(line MATCHES "([A-Za-z_]+)[^A-Za-z_]*$")
      string(APPEND names "  ${CMAKE_MATCH_1} DATA\n")
    endif()
  endforeach()
  set(definition "${CMAKE_CURRENT_BINARY_DIR}/python3.def")
  set(library "${CMAKE_CURRENT_BINARY_DIR}/python3.lib")
  file(WRITE "${definition}" "LIBRARY python3.dll\nEXPORTS\n${names}")
  set(dlltool "${CMAKE_DLLTOOL}")
  if(BOUGH_ZIG)
    set(dlltool "${BOUGH_ZIG}" dlltool)
  endif()
  execute_process(COMMAND ${dlltool} -m i386:x86-64 -d "${definition}" -l "${library}" COMMAND_ERROR_IS_FATAL ANY)
  target_link_libraries(${target} PRIVATE "${library}")
endfunction()
