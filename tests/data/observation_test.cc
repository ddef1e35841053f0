// Data files as users have them, good and bad; the text of an error is part of what is tested.
#include "penn/data/observation.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/files_for_tests.h"
#include "penn/base/error.h"
#include "penn/base/npy.h"

namespace penn {
namespace {

const ObservationFormat kOne = {{"x"}, {0.1, 0.1}}, kTwo = {{"x1", "x2"}, {0.1, 0.1}}, kVarying = {{"x"}, {0.05, 0.2}};

ObservedTrajectory read(const std::string& text, const ObservationFormat& format = kOne,
                        const ObservationOptions& options = {}) {
  return read_observations(InputFile(text, "data.csv"), format, options).at(0);
}

std::string refusal(const std::string& text, const ObservationFormat& format = kOne,
                    const ObservationOptions& options = {}) {
  return error_text<DataError>([&] { read(text, format, options); });
}

#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST(observation_test, one_column_is_the_channel_at_the_models_sampling) {
  const auto t = read("1\n2\n4\n");
  EXPECT_EQ(t.z, (std::vector<float>{1, 2, 4}));
  EXPECT_EQ(t.n, 3);
  EXPECT_EQ(t.sampling, 0.1);
  EXPECT_FALSE(t.has_time);
  EXPECT_TRUE(t.warnings.empty());
}

TEST(observation_test, a_named_time_is_taken_out_wherever_it_stands_and_measured) {
  for (const char* text :
       {"t,x\n0,1\n0.2,2\n0.4,4", "x;Time\n1;5\n2;5.2\n4;5.4\n",
        "\xef\xbb\xbftime [s]\tx\r\n0\t1\r\n0.2\t2\r\n0.4\t4\r\n", "# made here\nT x\n0 1\n0.2 2\n0.4 4\n"}) {
    const auto t = read(text);
    EXPECT_EQ(t.z, (std::vector<float>{1, 2, 4})) << text;
    EXPECT_NEAR(t.sampling, 0.2, 1e-12) << text;
    EXPECT_TRUE(t.has_time);
  }
}

TEST(observation_test, channels_are_found_by_name_among_other_columns) {
  const auto t = read("x2,junk,t,x1\n1,9,0,10\n2,9,0.1,20\n3,9,0.2,30\n", kTwo);
  EXPECT_EQ(t.z, (std::vector<float>{10, 1, 20, 2, 30, 3}));
  EXPECT_NEAR(t.sampling, 0.1, 1e-12);
}

TEST(observation_test, a_name_that_is_needed_and_there_twice_is_refused_with_both_columns) {
  EXPECT_HAS(refusal("x,x\n1,5\n2,6\n"), "data.csv: columns 1 and 2 are both named 'x'");
  EXPECT_HAS(refusal("x,x\n1,5\n2,6\n"), "--columns 1");
  EXPECT_HAS(refusal("t,x,t\n0,1,0\n0.1,2,7\n0.2,3,9\n"), "columns 1 and 3 are both named 't'");
  EXPECT_HAS(refusal("x2,x1,x2\n1,5,1\n2,6,1\n", kTwo), "columns 1 and 3 are both named 'x2'");
  EXPECT_HAS(refusal("x1,x1\n1,5\n2,6\n", kTwo), "columns 1 and 2 are both named 'x1'");  // not x1 and x2 in order
  EXPECT_HAS(refusal("x,x\n1,5\n2,6\n", kOne, {.columns = {"x"}}), "two columns are named 'x'");
  EXPECT_EQ(read("x,x\n1,5\n2,6\n", kOne, {.columns = {"2"}}).z, (std::vector<float>{5, 6}));
  EXPECT_EQ(read("junk,x,junk\n1,5,1\n2,6,1\n").z, (std::vector<float>{5, 6}));  // nobody needs junk
}

TEST(observation_test, other_names_are_taken_in_order) {
  EXPECT_EQ(read("left,right\n1,2\n3,4\n", kTwo).z, (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(read("time,volts\n0,7\n0.1,8\n").z, (std::vector<float>{7, 8}));
}

TEST(observation_test, of_several_channels_some_by_name_are_not_enough) {
  EXPECT_HAS(
      refusal("t,x2,v\n0,1,2\n0.1,3,4\n", kTwo),
      "data.csv: no column is named x1; there are t, x2, v, and the model observes x1, x2");  // in order, x2 would be
                                                                                              // read as x1
  EXPECT_EQ(read("t,x2,v\n0,1,2\n0.1,3,4\n", kTwo, {.columns = {"t", "v", "x2"}}).z, (std::vector<float>{2, 1, 4, 3}));
}

TEST(observation_test, what_was_taken_for_what_is_said) {
  EXPECT_EQ(read("t,velocity\n0,1\n0.1,2\n").reading, "time from 't', x from 'velocity'");
  EXPECT_EQ(read("0 7\n0.1 8\n0.2 6\n").reading, "time from column 1, x from column 2");
  EXPECT_EQ(read("1\n2\n").reading, "");
  EXPECT_TRUE(read("1\n2\n").sampling_assumed);
  EXPECT_FALSE(read("1\n2\n", kOne, {.sampling = 0.1}).sampling_assumed);
  EXPECT_FALSE(read("t,velocity\n0,1\n0.1,2\n").sampling_assumed);
}

TEST(observation_test, a_nameless_first_column_is_the_time_only_if_uniform_and_one_too_many) {
  EXPECT_EQ(read("0 7\n0.1 8\n0.2 6\n").z, (std::vector<float>{7, 8, 6}));
  EXPECT_HAS(refusal("0 7\n0.1 8\n0.3 6\n"),
             "data.csv: 2 columns, but the model observes 1 (x), and the first column is not a uniformly rising time");
  EXPECT_HAS(refusal("0 7 1\n0.1 8 1\n0.2 6 1\n"), "3 columns, but the model observes 1 (x)");
  EXPECT_HAS(refusal("1\n2\n3\n", kTwo), "1 column, but the model observes 2 (x1, x2)");
  // As many columns as channels: a rising one is data.
  EXPECT_FALSE(read("0 7\n0.1 8\n0.2 6\n", kTwo).has_time);
}

TEST(observation_test, chosen_columns_come_in_the_order_chosen_with_the_time_first) {
  const std::string text = "clock,a,b\n0,1,5\n0.1,2,6\n0.2,3,7\n";
  EXPECT_EQ(read(text, kOne, {.columns = {"b"}}).z, (std::vector<float>{5, 6, 7}));
  EXPECT_EQ(read(text, kTwo, {.columns = {"3", "2"}}).z, (std::vector<float>{5, 1, 6, 2, 7, 3}));
  const auto t = read(text, kOne, {.columns = {"clock", "b"}});
  EXPECT_EQ(t.z, (std::vector<float>{5, 6, 7}));
  EXPECT_NEAR(t.sampling, 0.1, 1e-12);
  EXPECT_HAS(refusal(text, kOne, {.columns = {"c"}}), "no column 'c'");
  EXPECT_HAS(refusal(text, kOne, {.columns = {"b", "a"}, .sampling = 0.1}), "--sampling says 0.1");
  EXPECT_HAS(refusal("x,y\n1,3\n2,2\n3,1\n", kOne, {.columns = {"y", "x"}}), "the time does not rise");
}

std::string with_times(const std::vector<double>& times) {
  std::string text = "t,x\n";
  for (const double t : times) text += std::to_string(t) + ",1\n";
  return text;
}

TEST(observation_test, times_must_be_uniform_and_the_line_of_a_gap_is_named) {
  std::vector<double> times;
  for (int i = 0; i < 100; ++i) times.push_back(0.1 * i + (i >= 40 ? 0.1 : 0));
  const std::string text = refusal(with_times(times));
  EXPECT_HAS(text, "data.csv:42: the times are not uniform: a step of 0.2 where most are 0.1");
  EXPECT_HAS(text, "hint: ");
  times = {0, 0.1, 0.1, 0.2};
  EXPECT_HAS(refusal(with_times(times)), "data.csv:4: the time does not rise");
}

TEST(observation_test, times_with_few_digits_are_read_with_a_warning_and_exact_ones_without) {
  std::vector<double> times;
  for (int i = 0; i < 100; ++i) times.push_back(0.1 * i);
  EXPECT_TRUE(read(with_times(times)).warnings.empty());
  times[50] += 0.005;  // 5 % of the interval
  ASSERT_EQ(read(with_times(times)).warnings.size(), 1u);
  EXPECT_HAS(read(with_times(times)).warnings[0], "up to 5 % of the sampling interval");
}

TEST(observation_test, a_model_of_many_intervals_must_be_told_which) {
  EXPECT_HAS(refusal("1\n2\n3\n", kVarying), "--sampling");
  EXPECT_EQ(read("1\n2\n3\n", kVarying, {.sampling = 0.15}).sampling, 0.15);
  EXPECT_NEAR(read("t,x\n0,1\n0.07,2\n", kVarying).sampling, 0.07, 1e-12);
}

TEST(observation_test, bad_csv_is_refused_with_its_place) {
  EXPECT_HAS(refusal(""), "data.csv: the file is empty");
  EXPECT_HAS(refusal("# only words\n"), "no rows of numbers");
  EXPECT_HAS(refusal("x\n1\n2\nthree\n4\n"), "data.csv:4:1: 'three' is not a number (column 1, 'x')");
  EXPECT_HAS(refusal("t,x\n0,1\n0.1,nan\n0.2,3\n"), "data.csv:3:5: 'nan' is not a finite number");
  EXPECT_HAS(refusal("1\n2\ninf\n"), "data.csv:3:1: 'inf' is not a finite number");
  EXPECT_HAS(refusal("t,x\n0,1\n0.1\n"), "data.csv:3");
  EXPECT_HAS(refusal("5\n"), "1 sample; a trajectory needs at least 2");
  EXPECT_HAS(refusal("1\n1e300\n"), "data.csv:2: 1e+300 in channel x is not a finite number (float32)");
  EXPECT_HAS(refusal(std::string("\x7f"
                                 "ELF\x02\x01\x01\0\0\0\0\n\x03\0>\0",
                                 17)),
             "data.csv");
}

TEST(observation_test, a_directory_and_a_missing_file_are_refused) {
  const TestDirectory folder;
  EXPECT_HAS(error_text<DataError>([&] { read_observations(folder.path(), kOne); }), "directory");
  EXPECT_HAS(error_text<DataError>([&] { read_observations(folder / "none.csv", kOne); }), "none.csv");
}

TEST(observation_test, blank_lines_between_rows_are_one_trajectory_with_a_warning) {
  const auto t = read("1\n2\n\n3\n4\n");
  EXPECT_EQ(t.n, 4);
  ASSERT_EQ(t.warnings.size(), 1u);
  EXPECT_HAS(t.warnings[0], "1 blank line");
}

TEST(observation_test, npy_of_one_two_and_three_axes) {
  const TestDirectory folder;
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};
  const auto path = folder / "z.npy";
  write_npy(path, {6}, values);
  EXPECT_EQ(read_observations(path, kOne)[0].z, values);
  write_npy(path, {3, 2}, values);
  EXPECT_EQ(read_observations(path, kTwo)[0].z, values);
  EXPECT_EQ(read_observations(path, kOne)[0].z, (std::vector<float>{2, 4, 6})) << "1, 3, 5 is a uniformly rising time";
  EXPECT_EQ(read_observations(path, kOne)[0].sampling, 2);
  write_npy(path, {3, 2, 1}, values);
  const auto many = read_observations(path, kOne);
  ASSERT_EQ(many.size(), 3u);
  EXPECT_EQ(many[2].z, (std::vector<float>{5, 6}));
  EXPECT_HAS(many[2].source, "z.npy[2]");
}

TEST(observation_test, bad_npy_is_refused_with_its_place) {
  const TestDirectory folder;
  const auto path = folder / "z.npy";
  const auto refused = [&](const ObservationFormat& format) {
    return error_text<DataError>([&] { read_observations(path, format); });
  };
  write_npy(path, {1}, std::vector<float>{1});
  EXPECT_HAS(refused(kOne), "1 sample;");
  write_npy(path, {2, 3}, std::vector<float>(6));
  EXPECT_HAS(refused(kOne), "z[:, :, None]");
  write_npy(path, {1, 1, 2, 3}, std::vector<float>(6));
  EXPECT_HAS(refused(kOne), "expected (n), (n, 1) or (B, n, 1)");
  write_npy(path, {2, 3, 1}, std::vector<float>{1, 2, 3, 4, NAN, 6});
  EXPECT_HAS(refused(kOne), "z.npy[1], row 1, column 0: nan is not a finite number");
  write_npy(path, {0, 3, 1}, {});
  EXPECT_HAS(refused(kOne), "no trajectories");
  write_npy(path, {4, 1}, std::vector<float>(4));
  EXPECT_HAS(refused(kTwo), "1 column, but the model observes 2");
  write_whole(path, read_whole(path).substr(0, 100));
  EXPECT_HAS(refused(kOne), "z.npy");
}

}  // namespace
}  // namespace penn
