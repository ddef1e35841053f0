#include "penn/cli/forward.h"

#include <unistd.h>

#include <filesystem>
#include <string>

#include "penn/base/error.h"
#include "penn/cli/info_target.h"
#include "penn/reproduce/paper_items.h"

namespace penn {

bool needs_torch(int argc, char** argv) {
  const std::string first = argc > 1 ? argv[1] : "", second = argc > 2 ? argv[2] : "";
  if (first == "train") return true;
  if (first == "bench") return second == "train" || second == "infer";
  if (first == "reproduce") {
    for (int i = 2; i < argc; ++i)
      for (const PaperItem& item : paper_items())
        if (!item.trainings.empty() && (argv[i] == item.name || std::string(argv[i]) == "all")) return true;
    return false;
  }
  if (first != "info") return false;
  for (int i = 2; i < argc; ++i)
    try {
      if (!find_info_target(argv[i]).tensors.empty()) return true;
    } catch (const Error&) {  // unreadable: this program says so as well as the other
    }
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
