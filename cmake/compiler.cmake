# One interface target, penn_flags, carries every compiler flag.
add_library(penn_flags INTERFACE)
target_compile_options(penn_flags INTERFACE -Wall -Wextra -fno-math-errno -fno-trapping-math)
if(PENN_WERROR)
  target_compile_options(penn_flags INTERFACE -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # False alarms: for "text" + std::string (gcc bug 105329), and for the AVX-512 intrinsics (105593).
  target_compile_options(penn_flags INTERFACE -Wno-restrict -Wno-uninitialized -Wno-maybe-uninitialized -Wno-psabi)
endif()

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")

if(PENN_MARCH)
  # ccache sees only the words of the command line; the macro makes "native" mean this processor and no other.
  execute_process(COMMAND sh -c "'${CMAKE_CXX_COMPILER}' -march=${PENN_MARCH} -dM -E -x c++ /dev/null | cksum | cut -d' ' -f1"
                  OUTPUT_VARIABLE PENN_CPU OUTPUT_STRIP_TRAILING_WHITESPACE)
  target_compile_options(penn_flags INTERFACE -march=${PENN_MARCH} -DPENN_CPU=${PENN_CPU})
endif()

if(PENN_ASSERTIONS)
  target_compile_options(penn_flags INTERFACE -UNDEBUG -D_GLIBCXX_ASSERTIONS)  # after the -DNDEBUG of the build type
endif()

if(PENN_SANITIZE)
  # -ffp-contract=off: the checks split blocks, gcc then fuses a*b+c in one half of a lane pair and not in the other, and a trajectory
  # would depend on the lane it runs in.
  target_compile_options(penn_flags INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -ffp-contract=off)
  target_link_options(penn_flags INTERFACE -fsanitize=address,undefined)
endif()
