// The command line as the commands see it. CLI11 does the work, in command_line.cc alone: its headers take ten seconds
// to compile.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace penn {

// What the chosen command does; returns the exit code.
using Run = std::function<int()>;

class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}
  Option& required();
  Option& show_default();  // in the help
  Option& positive();      // a finite number
  Option& between(int64_t low, int64_t high);
  Option& between_numbers(double low, double high);
  Option& one_of(const std::vector<std::string>& words);
  Option& one_of(const std::vector<std::string>& words,
                 const std::string& text);  // what the help says instead of the list
  Option& existing_folder();
  Option& with_commas();  // several values in one word
  Option& one_word();     // the next word is not a value too
  Option& excludes(const Option& other);
  bool is_given() const;

 private:
  CLI::Option* option_;
};

class Command {
 public:
  explicit Command(CLI::App* app) : app_(app) {}
  Command add_command(const std::string& name, const std::string& help);
  void require_command();  // one of those added must be given
  // names: "-n,--count", or a capital NAME for what has its place. T: std::string, double, int, int64_t, uint64_t, or a
  // vector of std::string or int64_t.
  template <class T>
  Option add_option(const std::string& names, T& value, const std::string& help);
  Option add_flag(const std::string& names, bool& value, const std::string& help);
  void when_chosen(std::function<void()> action);
  bool is_given(const std::string& name) const;

 protected:
  CLI::App* app_;
};

class CommandLine : public Command {
 public:
  CommandLine(const std::string& description, const std::string& version);
  ~CommandLine();
  // The exit code where there is nothing left to do: help was asked for and given, or the usage was wrong.
  std::optional<int> parse(int argc, char** argv);
  std::string help() const;

 private:
  std::unique_ptr<CLI::App> owned_;
};

}  // namespace penn
