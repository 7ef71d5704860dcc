# Build rules shared by every room.

set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")

if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  message(FATAL_ERROR "Bessemer is built with clang (blocks, the Objective-C ABI); "
                      "run scripts/setup, then configure with a preset: cmake --preset release")
endif()

find_program(CCACHE ccache)
if(CCACHE)
  # Relative paths let other checkouts and CI share what was compiled once.
  set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}
      CCACHE_NOHASHDIR=1 ${CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_C_COMPILER_LAUNCHER})
endif()

if(NOT APPLE)
  find_program(LLD ld.lld-22)
  if(LLD)
    add_link_options(-fuse-ld=${LLD})
  endif()
endif()

# Compilers other than ours warn of other things.
if(CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 22 AND NOT CMAKE_CXX_COMPILER_ID STREQUAL AppleClang)
  set(werror -Werror)
endif()
add_library(bessemer_options INTERFACE)
target_compile_options(bessemer_options INTERFACE -Wall -Wextra ${werror}
  $<$<COMPILE_LANGUAGE:CXX>:-Wno-missing-field-initializers>
  $<$<COMPILE_LANGUAGE:C>:-Wno-missing-field-initializers>)
if(BESSEMER_SANITIZE)
  add_compile_options(-fsanitize=${BESSEMER_SANITIZE} -fno-omit-frame-pointer
                      -fno-sanitize-recover=undefined)
  add_link_options(-fsanitize=${BESSEMER_SANITIZE})
endif()

if(BESSEMER_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# Apple's metal-cpp, fetched by scripts/setup; system headers, since they are not ours to fix.
add_library(metal_cpp INTERFACE)
target_include_directories(metal_cpp SYSTEM INTERFACE "${BESSEMER_DEPS_DIR}/metal-cpp")

# FlatBuffers' headers; a Mac has them in a folder of Homebrew's.
find_path(FLATBUFFERS_INCLUDE_DIR flatbuffers/flatbuffers.h REQUIRED)

# bessemer_flatbuffer(target schema.fbs...): a header-only target with <name>_generated.h for each.
find_program(FLATC flatc REQUIRED)
function(bessemer_flatbuffer target)
  set(outputs)
  foreach(schema ${ARGN})
    get_filename_component(name ${schema} NAME_WE)
    set(output "${CMAKE_CURRENT_BINARY_DIR}/${name}_generated.h")
    add_custom_command(OUTPUT ${output}
      COMMAND ${FLATC} --cpp --cpp-std c++17 --scoped-enums --gen-object-api
              -o ${CMAKE_CURRENT_BINARY_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/${schema}
      DEPENDS ${schema} VERBATIM)
    list(APPEND outputs ${output})
  endforeach()
  add_custom_target(${target}_generate DEPENDS ${outputs})
  add_library(${target} INTERFACE)
  add_dependencies(${target} ${target}_generate)
  target_include_directories(${target} SYSTEM INTERFACE ${CMAKE_CURRENT_BINARY_DIR}
                                                        ${FLATBUFFERS_INCLUDE_DIR})
endfunction()

# bessemer_test(name SOURCES files... [DEPS targets...] [LABELS labels...]
#               [ARGS arguments...] [ENVIRONMENT NAME=value...])
# A GoogleTest program; each of its tests is a ctest case.
function(bessemer_test name)
  if(NOT BESSEMER_BUILD_TESTS)
    return()
  endif()
  cmake_parse_arguments(T "" "" "SOURCES;DEPS;LABELS;ARGS;ENVIRONMENT" ${ARGN})
  add_executable(${name} ${T_SOURCES})
  target_link_libraries(${name} PRIVATE bessemer_options ${T_DEPS} GTest::gmock GTest::gtest_main)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
  # An empty value would vanish from the list of properties and shift the others.
  set(labels)
  if(T_LABELS)
    set(labels LABELS "${T_LABELS}")
  endif()
  # A fresh cache keeps a test from passing on what an earlier build compiled.
  gtest_discover_tests(${name} TEST_PREFIX "${name}." DISCOVERY_MODE PRE_TEST EXTRA_ARGS ${T_ARGS}
    PROPERTIES ${labels} TIMEOUT 300
               ENVIRONMENT "XDG_CACHE_HOME=${PROJECT_BINARY_DIR}/test-cache;${T_ENVIRONMENT}")
endfunction()

# bessemer_filecheck(tool folders...)
# Each .ll file of the folders is a test. Its lines "; RUN: tool %s ... | FileCheck %s" are commands
# that must succeed: the first word is the target `tool`, %s the file itself.
function(bessemer_filecheck tool)
  if(NOT BESSEMER_BUILD_TESTS)
    return()
  endif()
  find_program(FILECHECK NAMES FileCheck-22 REQUIRED)
  foreach(folder ${ARGN})
    file(GLOB tests CONFIGURE_DEPENDS "${folder}/*.ll")
    foreach(test ${tests})
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${test}")
      file(STRINGS "${test}" lines REGEX "^; RUN: ")
      if(NOT lines)
        message(FATAL_ERROR "${test}: no line '; RUN: ${tool} ...'")
      endif()
      set(commands "set -e -o pipefail")
      foreach(line ${lines})
        string(REPLACE "; RUN: " "" line "${line}")
        string(REPLACE "${tool} " "$<TARGET_FILE:${tool}> " line "${line}")
        string(REPLACE "FileCheck" "${FILECHECK}" line "${line}")
        string(REPLACE "%s" "${test}" line "${line}")
        string(APPEND commands "\n${line}")
      endforeach()
      get_filename_component(name "${test}" NAME_WE)
      get_filename_component(room "${folder}" NAME)
      add_test(NAME filecheck.${room}.${name} COMMAND bash -c "${commands}")
      set_tests_properties(filecheck.${room}.${name} PROPERTIES LABELS filecheck TIMEOUT 60)
    endforeach()
  endforeach()
endfunction()

# bessemer_fuzzer(name SOURCES files... [DEPS targets...] [SEEDS files or folders...])
# A reader of untrusted bytes under libFuzzer: build-fuzz/fuzz/<name>, seeds copied beside it. The file
# defines LLVMFuzzerTestOneInput. In an ordinary build the same file is a test that runs the seeds once.
function(bessemer_fuzzer name)
  cmake_parse_arguments(F "" "" "SOURCES;DEPS;SEEDS" ${ARGN})
  if(BESSEMER_FUZZ)
    add_executable(${name} ${F_SOURCES})
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  elseif(BESSEMER_BUILD_TESTS)
    add_executable(${name} ${F_SOURCES} "${PROJECT_SOURCE_DIR}/cmake/fuzzer_main.cc")
    set(seeds)
    foreach(seed ${F_SEEDS})
      get_filename_component(seed ${seed} ABSOLUTE)
      list(APPEND seeds ${seed})
    endforeach()
    add_test(NAME ${name}.seeds COMMAND ${name} ${seeds})
    set_tests_properties(${name}.seeds PROPERTIES TIMEOUT 300 LABELS fuzz)
  else()
    return()
  endif()
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE bessemer_options ${F_DEPS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/fuzz")
  foreach(seed ${F_SEEDS})
    file(COPY ${seed} DESTINATION "${PROJECT_BINARY_DIR}/fuzz/${name}-seeds")
  endforeach()
endfunction()
