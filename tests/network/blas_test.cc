#include "penn/network/blas.h"

#include <gtest/gtest.h>

namespace penn {
namespace {

TEST(blas_test, only_a_code_path_below_the_processor_is_replaced) {
  EXPECT_EQ(better_core("Prescott", 3), "SkylakeX");
  EXPECT_EQ(better_core("Prescott", 2), "Haswell");
  EXPECT_EQ(better_core("Haswell", 3), "SkylakeX");
  EXPECT_EQ(better_core("Nehalem", 2), "Haswell");
  EXPECT_EQ(better_core("Zen", 2), "");
  EXPECT_EQ(better_core("Haswell", 2), "");
  EXPECT_EQ(better_core("SkylakeX", 3), "");
  EXPECT_EQ(better_core("Prescott", 1), "");
  EXPECT_EQ(better_core("", 3), "");  // another library: the variable would do nothing
}

TEST(blas_test, report_names_the_library_and_the_measured_speed_is_below_the_peak) {
  EXPECT_NE(blas_report().find("LibTorch"), std::string::npos);
  const double peak = measure_peak_gflops(), dense = measure_gemm_gflops();
  EXPECT_GT(dense, 1);
  EXPECT_GT(peak, 0.5 * dense);  // half: other processes may disturb one of the two
}

}  // namespace
}  // namespace penn
