# Which compiler builds the core. Included before project(), which looks for one.
#
# The environment variable MODECLUST_ZIG=1 asks for the compiler of the Python package ziglang.
# It is clang with a C++ library of its own.

if(CMAKE_CXX_COMPILER OR CMAKE_TOOLCHAIN_FILE OR CMAKE_HOST_WIN32)
  return()
endif()

set(MODECLUST_COMPILERS "GCC 12 or newer, or clang 14 or newer")

if(NOT "$ENV{MODECLUST_ZIG}" MATCHES "^(1|ON|on|TRUE|true|YES|yes)$")
  find_program(MODECLUST_FOUND_CXX NAMES c++ g++ clang++ icpx NO_CACHE)
  if(NOT MODECLUST_FOUND_CXX AND "$ENV{CXX}" STREQUAL "")
    message(FATAL_ERROR
      "No C++ compiler was found, and the core of modeclust is written in C++20. Either\n"
      "  - install ${MODECLUST_COMPILERS} (Debian, Ubuntu: apt-get install g++;"
      " macOS: xcode-select --install), or set CXX to one;\n"
      "  - or take a compiler from the package index: MODECLUST_ZIG=1 pip install .\n"
      "    (`make install` does so by itself).\n")
  endif()
  return()
endif()

if(NOT Python_EXECUTABLE)  # scikit-build-core says which
  find_program(Python_EXECUTABLE NAMES python3 python)
endif()
execute_process(
  COMMAND ${Python_EXECUTABLE} -c
          "import ziglang; print(ziglang.__path__[0] + '/zig')"
  OUTPUT_VARIABLE MODECLUST_ZIG_PROGRAM
  OUTPUT_STRIP_TRAILING_WHITESPACE
  ERROR_QUIET)
if(NOT EXISTS "${MODECLUST_ZIG_PROGRAM}")
  message(FATAL_ERROR
    "MODECLUST_ZIG is set, but ${Python_EXECUTABLE} has no package ziglang. "
    "Install it (pip install ziglang), or unset MODECLUST_ZIG and install "
    "${MODECLUST_COMPILERS}.\n")
endif()

# Zig compiles for the CPU that it runs on unless it is told otherwise. Kernels say later which
# one they are for. With a target, it uses headers of its own and needs none of the system.
set(MODECLUST_ZIG_FLAGS "-mcpu=baseline")
if(CMAKE_HOST_SYSTEM_NAME STREQUAL "Linux")
  execute_process(
    COMMAND ${Python_EXECUTABLE} -c
            "import platform, sysconfig; musl = 'musl' in (sysconfig.get_config_var('SOABI') or ''); print(platform.machine() + '-linux-' + ('musl' if musl else 'gnu.2.28'))"
    OUTPUT_VARIABLE MODECLUST_TARGET
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  # Debian's Python has a part of its headers in a folder beside them, for the machine.
  execute_process(
    COMMAND ${Python_EXECUTABLE} -c
            "import os, sysconfig; print(os.path.dirname(sysconfig.get_path('include')))"
    OUTPUT_VARIABLE MODECLUST_HEADERS
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  set(MODECLUST_ZIG_FLAGS
      "-target ${MODECLUST_TARGET} ${MODECLUST_ZIG_FLAGS} -idirafter ${MODECLUST_HEADERS}")
endif()

# CMake wants each tool to be a program of its own.
foreach(tool IN ITEMS c++ ar ranlib)
  set(flags "")
  if(tool STREQUAL "c++")
    set(flags " ${MODECLUST_ZIG_FLAGS}")
  endif()
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/zig/${tool} @ONLY
       CONTENT "#!/bin/sh\nexec \"@MODECLUST_ZIG_PROGRAM@\" @tool@@flags@ \"$@\"\n")
  file(CHMOD ${CMAKE_BINARY_DIR}/zig/${tool}
       PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
endforeach()
set(CMAKE_CXX_COMPILER ${CMAKE_BINARY_DIR}/zig/c++)
set(CMAKE_AR ${CMAKE_BINARY_DIR}/zig/ar CACHE FILEPATH "")
set(CMAKE_RANLIB ${CMAKE_BINARY_DIR}/zig/ranlib CACHE FILEPATH "")
