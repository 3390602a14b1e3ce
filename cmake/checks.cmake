# What the compiler must be, and how builds for tests differ. Included after project().

if((CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12)
   OR (CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14)
   OR (CMAKE_CXX_COMPILER_ID STREQUAL "AppleClang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14)
   OR NOT CMAKE_CXX_COMPILER_ID MATCHES "^(GNU|Clang|AppleClang|IntelLLVM)$"
   OR CMAKE_CXX_COMPILER_FRONTEND_VARIANT STREQUAL "MSVC")
  message(FATAL_ERROR
    "The core of modeclust needs GCC 12 or newer, or clang 14 or newer: it uses their vector "
    "types. Got ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION} (${CMAKE_CXX_COMPILER}). "
    "Set the environment variable CXX to another compiler, or take one from the package index: "
    "MODECLUST_ZIG=1 pip install . On Windows, set CXX=clang++ and CMAKE_GENERATOR=Ninja; neither "
    "cl nor clang-cl takes the options of this build.\n")
endif()

# The optimization of the kernels.
set(OPTIMIZATION -O3)

# Headers of nanobind 3.1 use what <cstdio> declares without including it, and Python's own headers
# then repeat macros of the system.
include(CheckCXXSymbolExists)
check_cxx_symbol_exists(_LIBCPP_VERSION version MODECLUST_LIBCXX)
if(MODECLUST_LIBCXX)
  add_compile_options("SHELL:-include cstdio" -Wno-macro-redefined)
endif()

set(MODECLUST_SANITIZE "" CACHE STRING "Sanitizers for -fsanitize=, as \"address,undefined\"")
if(MODECLUST_SANITIZE)
  set(OPTIMIZATION -O1)  # it compiles in a fraction of the time of -O3
  add_compile_options(-fsanitize=${MODECLUST_SANITIZE} -fno-omit-frame-pointer -g -O1)
  add_link_options(-fsanitize=${MODECLUST_SANITIZE})
endif()

option(MODECLUST_COVERAGE "Count how often each line is executed, for gcov" OFF)
if(MODECLUST_COVERAGE)
  set(OPTIMIZATION -O1)
  add_compile_options(--coverage -fprofile-update=atomic -g -O1)
  add_link_options(--coverage)
endif()
