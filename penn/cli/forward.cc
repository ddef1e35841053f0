#include "penn/cli/forward.h"

#include <unistd.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "penn/base/error.h"
#include "penn/reproduce/paper_items.h"

namespace penn {

bool needs_torch(int argc, char** argv) {
  const std::string first = argc > 1 ? argv[1] : "", second = argc > 2 ? argv[2] : "";
  if (first == "train") return true;
  if (first == "bench") return second == "train" || second == "infer";
  if (first == "reproduce") {
    for (int i = 2; i < argc; ++i)
      for (const PaperItem& item : paper_items())
        if (!item.trainings.empty() && (argv[i] == item.name || argv[i] == std::string_view("all"))) return true;
    return false;
  }
  if (first != "info") return false;
  for (int i = 2; i < argc; ++i)
    if (std::string_view(argv[i]).ends_with(".safetensors") || std::string_view(argv[i]).ends_with(".checkpoint")) return true;
  return false;
}

void start_torch_program(char** argv) {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) execv((self.parent_path() / "penn-train").c_str(), argv);
}

void add_forwarded_commands(CLI::App& app, Run& run) {
  CLI::App* train = app.add_subcommand("train", "Train a model: simulate, and learn to tell the parameters from a trajectory");
  train->prefix_command();
  train->callback([&run] {
    run = []() -> int { throw UsageError("the program penn-train is missing: training needs LibTorch", "build with -DPENN_TORCH=ON"); };
  });
}

}  // namespace penn
