// Data sets on disk: what is in the files, and what happens to a directory that holds something already.
#include "penn/simulate/write_dataset.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/files_for_tests.h"
#include "penn/base/csv.h"
#include "penn/base/error.h"
#include "penn/base/npy.h"
#include "penn/system/parse_system.h"

namespace penn {
namespace {

namespace fs = std::filesystem;

Simulator small(const std::string& sampling = "0.1") {
  const std::string text =
      "[parameters]\nk = [1, 2]\n[noise]\nB = \"gaussian()\"\n[equations]\nx = \"-k*x + B\"\n[initial]\nx = "
      "0\n[observe]\nx = \"x\"\n"
      "[simulation]\nsampling = " +
      sampling + "\nstep = " + (sampling[0] == '[' ? "0.1" : sampling) + "\nlength = 5\n";
  return Simulator(parse_system(text, "small.toml"), 0,
                   {.seed = 3, .threads = 1, .kernel = KernelChoice::kInterpreted});
}

DatasetSummary write(const Simulator& simulator, const fs::path& folder, DatasetOptions options) {
  return write_dataset(simulator, {.seed = 3}, "", folder, options);
}

TEST(write_dataset_test, files_hold_what_the_simulator_gives) {
  const TestDirectory folder;
  const Simulator simulator = small();
  write(simulator, folder / "set", {.count = 300});
  std::vector<float> theta(300), z(1500);
  simulator.run(0, 300, theta.data(), z.data());
  const auto bytes = [](const std::vector<float>& v) {
    return std::string(reinterpret_cast<const char*>(v.data()), 4 * v.size());
  };
  EXPECT_EQ(read_whole(folder / "set/theta.npy").substr(128),
            bytes(theta));  // written in growing batches: 64, 128, ...
  EXPECT_EQ(read_whole(folder / "set/z.npy").substr(128), bytes(z));
  const auto manifest = nlohmann::json::parse(read_whole(folder / "set/manifest.json"));
  EXPECT_EQ(manifest["trajectories"], 300);
  EXPECT_EQ(manifest["shapes"]["z.npy"], nlohmann::json({300, 5, 1}));
  EXPECT_FALSE(fs::exists(folder / "set/sampling.npy"));
}

TEST(write_dataset_test, csv_times_are_short_decimal_numbers_on_any_scale) {
  const TestDirectory folder;
  write(small("0.1"), folder / "a", {.count = 1, .csv = true});
  EXPECT_NE(read_whole(folder / "a/trajectory_000.csv").find("\n0.1,"), std::string::npos)
      << read_whole(folder / "a/trajectory_000.csv");
  EXPECT_NE(read_whole(folder / "a/trajectory_000.csv").find("\n0.3,"), std::string::npos);
  write(small("2e-12"), folder / "b", {.count = 1, .csv = true});
  EXPECT_NE(read_whole(folder / "b/trajectory_000.csv").find("\n6e-12,"), std::string::npos)
      << read_whole(folder / "b/trajectory_000.csv");
}

TEST(write_dataset_test, an_older_data_set_does_not_mix_with_the_new_one) {
  const TestDirectory folder;
  write(small("[0.1, 0.2]"), folder / "set", {.count = 3});
  EXPECT_TRUE(fs::exists(folder / "set/sampling.npy"));
  write_whole(folder / "set/notes.txt", "mine");
  EXPECT_THROW(write(small(), folder / "set", {.count = 3}), DataError);
  write(small(), folder / "set", {.count = 3, .force = true});
  EXPECT_FALSE(fs::exists(folder / "set/sampling.npy")) << "it belongs to the older data set";
  write(small(), folder / "set", {.count = 3, .csv = true, .force = true});
  write(small(), folder / "set", {.count = 2, .csv = true, .force = true});
  EXPECT_FALSE(fs::exists(folder / "set/z.npy"));
  EXPECT_FALSE(fs::exists(folder / "set/trajectory_002.csv"));
  EXPECT_TRUE(fs::exists(folder / "set/trajectory_001.csv"));
  EXPECT_EQ(read_whole(folder / "set/notes.txt"), "mine");
}

TEST(write_dataset_test, without_a_manifest_no_file_is_taken_for_ours) {
  const TestDirectory folder;
  write_whole(folder / "sampling.npy", "mine");
  write(small(), folder.path(), {.count = 2, .force = true});
  EXPECT_EQ(read_whole(folder / "sampling.npy"), "mine");
}

TEST(write_dataset_test, a_link_to_an_empty_directory_stays_a_link) {
  const TestDirectory folder;
  fs::create_directory(folder / "real");
  fs::create_directory_symlink(folder / "real", folder / "link");
  write(small(), folder / "link", {.count = 2});
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_TRUE(fs::exists(folder / "real/z.npy"));
  EXPECT_EQ(folder.file_count(), 2u);
}

TEST(write_dataset_test, stopped_work_leaves_nothing) {
  const TestDirectory folder;
  const DatasetSummary summary =
      write(small(), folder / "set", {.count = 1000, .progress = [](int64_t done) { return done < 100; }});
  EXPECT_FALSE(summary.is_complete);
  EXPECT_EQ(folder.file_count(), 0u);
}

}  // namespace
}  // namespace penn
