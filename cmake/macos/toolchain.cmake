# Toolchain for arm64 Macs from Linux: zig's clang, linker, C library and libc++, and the folder that
# make_sdk.py makes, named by BESSEMER_MACOS_SDK. `make macos-check` does both.
set(CMAKE_SYSTEM_NAME Darwin)
set(CMAKE_SYSTEM_VERSION 23.0.0) # macOS 14
set(CMAKE_SYSTEM_PROCESSOR arm64)

set(BESSEMER_MACOS_SDK "" CACHE PATH "Made by cmake/macos/make_sdk.py")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES BESSEMER_MACOS_SDK)

foreach(language C CXX)
  set(CMAKE_${language}_FLAGS_INIT "-isystem ${BESSEMER_MACOS_SDK}/include")
endforeach()
foreach(kind EXE SHARED MODULE)
  set(CMAKE_${kind}_LINKER_FLAGS_INIT
      "-F${BESSEMER_MACOS_SDK}/frameworks -L${BESSEMER_MACOS_SDK}/lib")
endforeach()
set(CMAKE_C_COMPILER "${BESSEMER_MACOS_SDK}/bin/clang")
set(CMAKE_CXX_COMPILER "${BESSEMER_MACOS_SDK}/bin/clang++")
set(CMAKE_AR "${BESSEMER_MACOS_SDK}/bin/ar" CACHE FILEPATH "")
set(CMAKE_RANLIB "${BESSEMER_MACOS_SDK}/bin/ranlib" CACHE FILEPATH "")
find_program(CMAKE_INSTALL_NAME_TOOL llvm-install-name-tool-22 REQUIRED)

# Of this machine, its programs only.
set(CMAKE_FIND_ROOT_PATH "${BESSEMER_MACOS_SDK}")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
