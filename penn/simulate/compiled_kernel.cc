// Compiles kernel_source() once with the system compiler, keeps the result in the user's cache directory under a hash
// of everything it depends on, and loads it. No shell is involved, and nothing but text made by kernel_source reaches
// the compiler.
#include "penn/simulate/compiled_kernel.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "penn/base/error.h"
#include "penn/base/files.h"
#include "penn/simulate/kernel.h"
#include "penn/simulate/kernel_source.h"

extern char** environ;

namespace penn {
namespace {

namespace fs = std::filesystem;

const char* const kFlags[] = {
    "-std=gnu++17", "-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off", "-fPIC",
    "-shared",      "-w"};

class CompiledKernel final : public Kernel {
 public:
  CompiledKernel(void* library, std::string description) : library_(library), description_(std::move(description)) {
    run_ = reinterpret_cast<Run>(dlsym(library_, "penn_kernel"));
  }
  ~CompiledKernel() override { dlclose(library_); }
  bool is_complete() const { return run_ != nullptr; }
  void run(const KernelBlock& block) const override { run_(&block); }
  std::string description() const override { return description_; }

 private:
  using Run = void (*)(const KernelBlock*);
  void* library_;
  std::string description_;
  Run run_ = nullptr;
};

uint64_t hash(const std::string& text, uint64_t state = 0xcbf29ce484222325u) {  // FNV-1a
  for (const char c : text) state = (state ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return state;
}

std::string find_on_path(const std::string& program) {
  if (program.find('/') != std::string::npos) return access(program.c_str(), X_OK) == 0 ? program : "";
  const char* path = std::getenv("PATH");
  std::string folders = path ? path : "";
  for (size_t begin = 0; begin <= folders.size();) {
    const size_t end = std::min(folders.find(':', begin), folders.size());
    const std::string candidate = folders.substr(begin, end - begin) + "/" + program;
    if (end > begin && access(candidate.c_str(), X_OK) == 0) return candidate;
    begin = end + 1;
  }
  return "";
}

std::string find_compiler() {
  if (const char* chosen = std::getenv("PENN_CXX")) return find_on_path(chosen);
  for (const char* name : {"c++", "g++", "clang++"})
    if (const std::string path = find_on_path(name); !path.empty()) return path;
  return "";
}

// The features of the processor: -march=native means something else on another machine that shares the cache directory.
std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  std::string line, result;
  while (std::getline(file, line)) {
    if (line.rfind("model name", 0) == 0 || line.rfind("flags", 0) == 0 || line.rfind("Features", 0) == 0)
      result += line;
    if (line.empty()) break;
  }
  return result;
}

// The user's cache directory, made if need be; "" where it cannot be used.
fs::path cache_folder() {
  fs::path folder;
  if (const char* chosen = std::getenv("PENN_CACHE")) folder = chosen;
  else if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg && *xdg) folder = fs::path(xdg) / "penn";
  else if (const char* home = std::getenv("HOME"); home && *home) folder = fs::path(home) / ".cache" / "penn";
  else return {};
  std::error_code error;
  fs::create_directories(folder, error);
  struct stat info;
  if (stat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode) || access(folder.c_str(), W_OK | X_OK) != 0) return {};
  // Code is loaded from there: a directory that others can write to is not to be trusted.
  if (info.st_uid != getuid() || (info.st_mode & (S_IWGRP | S_IWOTH)) != 0) return {};
  return folder;
}

fs::path private_folder() {
  std::error_code error;
  std::string name = (fs::temp_directory_path(error) / "penn-XXXXXX").string();
  if (error || !mkdtemp(name.data()))
    throw Error("no directory can be written for the compiled system", "set PENN_CACHE to a directory of your own");
  return name;
}

// Runs the compiler; its output goes to `log`. False where it failed.
bool compile(const std::string& compiler, const fs::path& source, const fs::path& library, const fs::path& log) {
  std::vector<std::string> words = {compiler};
  words.insert(words.end(), std::begin(kFlags), std::end(kFlags));
  words.insert(words.end(), {"-o", library.string(), source.string()});
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t child = 0;
  const int error = posix_spawn(&child, compiler.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return false;
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// Null where the library is not one of ours or cannot be loaded; `complaint` then says why.
std::unique_ptr<Kernel> load(const fs::path& library, const std::string& compiler, std::string& complaint) {
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    complaint = dlerror();
    return nullptr;
  }
  const auto width = reinterpret_cast<int (*)()>(dlsym(handle, "penn_kernel_width"));
  auto kernel = std::make_unique<CompiledKernel>(
      handle,
      fmt::format("compiled by {}, {} lanes per vector", fs::path(compiler).filename().string(), width ? width() : 0));
  complaint = "it lacks the function penn_kernel";
  return kernel->is_complete() ? std::move(kernel) : nullptr;
}

}  // namespace

bool has_compiler() {
  return !find_compiler().empty();
}

std::unique_ptr<Kernel> make_compiled_kernel(const StepProgram& program) {
  const std::string compiler = find_compiler();
  if (compiler.empty()) throw Error("no C++ compiler was found", "install g++ or clang++, or name one in PENN_CXX");

  const std::string source = kernel_source(program);
  struct stat info = {};
  stat(compiler.c_str(), &info);
  std::string identity = fmt::format("{} {} {} {} ", version(), compiler, info.st_size, info.st_mtime) + processor();
  for (const char* flag : kFlags) identity += fmt::format(" {}", flag);
  const std::string name =
      fmt::format("{:016x}{:016x}", hash(identity + source), hash(source + identity, 0x9e3779b97f4a7c15u));

  fs::path folder = cache_folder();
  const bool is_private = folder.empty();
  if (is_private) folder = private_folder();
  const fs::path library = folder / (name + ".so");
  std::error_code ignored;
  std::unique_ptr<Kernel> kernel;
  std::string complaint;
  if (fs::exists(library, ignored)) kernel = load(library, compiler, complaint);
  if (!kernel) {
    // Several processes and threads may compile the same system at once: each in files of its own, the finished one is
    // renamed.
    static std::atomic<int> compilations{0};
    const std::string stem = (folder / fmt::format("{}.{}.{}", name, getpid(), compilations++)).string();
    const fs::path text = stem + ".cc", object = stem + ".so", log = stem + ".log";
    std::ofstream(text) << source;
    const bool done = compile(compiler, text, object, log);
    if (done) fs::rename(object, library, ignored);
    if (done) kernel = load(library, compiler, complaint);
    else complaint = fs::exists(log, ignored) ? read_text_file(log.string()).substr(0, 400) : "it could not be started";
    for (const fs::path& file : {text, object, log}) fs::remove(file, ignored);
    if (is_private) fs::remove_all(folder, ignored);  // loaded code stays mapped
    if (!kernel && done)
      throw Error(fmt::format("the compiled system could not be loaded: {}", complaint),
                  "set PENN_CACHE to a directory of your own from which programs may be run");
    if (!kernel)
      throw Error(fmt::format("{} could not compile the system: {}", compiler, complaint),
                  "name another compiler in PENN_CXX");
  }
  return kernel;
}

}  // namespace penn
