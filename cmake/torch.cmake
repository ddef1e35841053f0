# penn_torch: network and training; everything that needs LibTorch. An object library, because encoders
# register themselves before main and a static archive would drop those nobody mentions.
find_package(Torch REQUIRED)
find_package(dnnl CONFIG REQUIRED)

file(GLOB PENN_TORCH_SOURCES CONFIGURE_DEPENDS penn/network/*.cc penn/train/*.cc)
add_library(penn_torch OBJECT ${PENN_TORCH_SOURCES})
target_include_directories(penn_torch PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(penn_torch PUBLIC penn ${TORCH_LIBRARIES} ${CMAKE_DL_LIBS} PRIVATE DNNL::dnnl penn_flags)
target_compile_definitions(penn_torch PUBLIC PENN_HAVE_TORCH PRIVATE PENN_VERSION="${PROJECT_VERSION}")

# torch/torch.h takes 20 seconds to read; precompiled, one. ccache must be told that precompiled headers are fine.
target_precompile_headers(penn_torch PRIVATE <torch/torch.h> <nlohmann/json.hpp>)
function(penn_ccache_with_precompiled target)
  if(CMAKE_CXX_COMPILER_LAUNCHER MATCHES "ccache")
    set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER
      "${CMAKE_COMMAND};-E;env;CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime;${CMAKE_CXX_COMPILER_LAUNCHER}")
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
  endif()
endfunction()
penn_ccache_with_precompiled(penn_torch)

file(GLOB PENN_TORCH_BENCH_SOURCES CONFIGURE_DEPENDS bench/bench_network*.cc)
foreach(source ${PENN_TORCH_BENCH_SOURCES})
  get_filename_component(name ${source} NAME_WE)
  add_executable(${name} EXCLUDE_FROM_ALL ${source})
  target_link_libraries(${name} PRIVATE penn_torch penn_flags)
endforeach()

if(PENN_TESTS)
  enable_testing()
  find_package(GTest REQUIRED)
  include(GoogleTest)
  file(GLOB PENN_TORCH_TEST_SOURCES CONFIGURE_DEPENDS
       tests/network/*_test.cc tests/train/*_test.cc)
  if(PENN_TORCH_TEST_SOURCES)
    add_executable(penn_torch_tests ${PENN_TORCH_TEST_SOURCES})
    target_include_directories(penn_torch_tests PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/tests)
    target_compile_definitions(penn_torch_tests PRIVATE PENN_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    target_link_libraries(penn_torch_tests PRIVATE penn_torch GTest::gtest_main penn_flags)
    target_precompile_headers(penn_torch_tests PRIVATE <torch/torch.h> <nlohmann/json.hpp>)
    penn_ccache_with_precompiled(penn_torch_tests)
    gtest_discover_tests(penn_torch_tests DISCOVERY_TIMEOUT 120)
  endif()
endif()
