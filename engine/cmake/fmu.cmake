# FMU binaries: one generic library per platform and FMI version, for mechanisms and partners (motor, controller), made here
# by zig for all platforms at once, so that exporting an FMU on a user's machine is only copying. The FMI headers come from
# the FMPy package.

set(BOUGH_FMU_PLATFORMS x86_64-linux aarch64-linux x86_64-windows x86_64-darwin aarch64-darwin)
option(BOUGH_FMUS "Build the FMU binaries" ON)

function(bough_add_fmus)
  if(NOT BOUGH_ZIG)
    message(STATUS "FMU binaries are left out: they are built with the ziglang package (unset BOUGH_CC)")
    return()
  endif()
  execute_process(
    COMMAND "${Python_EXECUTABLE}" -c
      "import importlib.util as u; print(u.find_spec('fmpy').submodule_search_locations[0], end='')"
    OUTPUT_VARIABLE fmpy RESULT_VARIABLE status ERROR_QUIET)
  if(NOT status EQUAL 0 OR NOT EXISTS "${fmpy}/c-code/fmi3Functions.h")
    message(FATAL_ERROR "The FMI headers are missing: they come with the package fmpy (pip install fmpy).")
  endif()
  get_filename_component(root "${CMAKE_CURRENT_SOURCE_DIR}/.." ABSOLUTE)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS
    "${root}/engine/kernel/*.[ch]" "${root}/engine/kernel/*.inl" "${root}/engine/kernel/*.def" "${root}/fmu_src/*.[ch]")
  set_property(GLOBAL APPEND PROPERTY JOB_POOLS fmu=1)
  foreach(platform IN LISTS BOUGH_FMU_PLATFORMS)
    string(REGEX REPLACE ".*-" "" system "${platform}")
    set(extension so)
    if(system STREQUAL "windows")
      set(extension dll)
    elseif(system STREQUAL "darwin")
      set(extension dylib)
    endif()
    set(folder "${CMAKE_CURRENT_BINARY_DIR}/fmu/${platform}")
    set(made "")
    foreach(name bough_fmi2 bough_fmi3)
      list(APPEND made "${folder}/${name}.${extension}")
    endforeach()
    add_custom_command(OUTPUT ${made}
      COMMAND "${Python_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/cmake/fmu_binary.py" --zig "${BOUGH_ZIG}"
        --platform ${platform} --root "${root}" --headers "${fmpy}/c-code" --out "${folder}"
      DEPENDS ${sources} "${CMAKE_CURRENT_SOURCE_DIR}/cmake/fmu_binary.py"
      JOB_POOL fmu VERBATIM COMMENT "FMU binaries for ${platform}")
    list(APPEND all ${made})
    install(FILES ${made} DESTINATION "bough/_fmu/${platform}")
  endforeach()
  add_custom_target(bough_fmus ALL DEPENDS ${all})
endfunction()
