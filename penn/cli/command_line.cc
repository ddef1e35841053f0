#include "penn/cli/command_line.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>

#include "penn/cli/renamed_words.h"

namespace penn {

Option& Option::required() {
  return option_->required(), *this;
}
Option& Option::show_default() {
  return option_->capture_default_str(), *this;
}
Option& Option::between(int64_t low, int64_t high) {
  return option_->check(CLI::Range(low, high)), *this;
}
Option& Option::between_numbers(double low, double high) {
  return option_->check(CLI::Range(low, high)), *this;
}
Option& Option::one_of(const std::vector<std::string>& words) {
  return option_->check(CLI::IsMember(words)), *this;
}
Option& Option::one_of(const std::vector<std::string>& words, const std::string& text) {
  return one_of(words).option_->option_text(text), *this;
}
Option& Option::existing_folder() {
  return option_->check(CLI::ExistingDirectory), *this;
}
Option& Option::with_commas() {
  return option_->delimiter(','), *this;
}
Option& Option::one_word() {
  return option_->allow_extra_args(false), *this;
}
Option& Option::excludes(const Option& other) {
  return option_->excludes(other.option_), *this;
}
bool Option::is_given() const {
  return option_->count() > 0;
}

Option& Option::positive() {
  option_->check(CLI::Validator(
      [](std::string& text) -> std::string {
        double value = 0;
        if (CLI::detail::lexical_cast(text, value) && value > 0 && std::isfinite(value)) return "";
        const bool comma = text.find(',') != std::string::npos;
        return "'" + text + "' is not a positive number" + (comma ? "; the decimal mark is a point" : "");
      },
      "POSITIVE"));
  return *this;
}

Command Command::add_command(const std::string& name, const std::string& help) {
  return Command(app_->add_subcommand(name, help));
}
void Command::require_command() {
  app_->require_subcommand(1);
}

template <class T>
Option Command::add_option(const std::string& names, T& value, const std::string& help) {
  return Option(app_->add_option(names, value, help));
}
template Option Command::add_option(const std::string&, std::string&, const std::string&);
template Option Command::add_option(const std::string&, double&, const std::string&);
template Option Command::add_option(const std::string&, int&, const std::string&);
template Option Command::add_option(const std::string&, int64_t&, const std::string&);
template Option Command::add_option(const std::string&, uint64_t&, const std::string&);
template Option Command::add_option(const std::string&, std::vector<std::string>&, const std::string&);
template Option Command::add_option(const std::string&, std::vector<int64_t>&, const std::string&);

Option Command::add_flag(const std::string& names, bool& value, const std::string& help) {
  return Option(app_->add_flag(names, value, help));
}
void Command::when_chosen(std::function<void()> action) {
  app_->callback(std::move(action));
}
bool Command::is_given(const std::string& name) const {
  return app_->count(name) > 0;
}

CommandLine::CommandLine(const std::string& description, const std::string& version)
    : Command(nullptr), owned_(std::make_unique<CLI::App>(description)) {
  app_ = owned_.get();
  app_->set_version_flag("--version", version);
  app_->require_subcommand(0, 1);
  app_->failure_message([](const CLI::App* which, const CLI::Error& error) {
    std::string command = "penn";
    for (auto chosen = which->get_subcommands(); !chosen.empty(); chosen = chosen[0]->get_subcommands())
      command += " " + chosen[0]->get_name();
    return std::string("error: ") + error.what() + "\nhint: see '" + command + " --help'\n";
  });
}
CommandLine::~CommandLine() = default;

std::optional<int> CommandLine::parse(int argc, char** argv) {
  NewWords given = with_new_words({argv + 1, argv + argc});
  for (const std::string& note : given.notes) fmt::print(stderr, "{}\n", note);
  std::reverse(given.words.begin(), given.words.end());  // as CLI11 wants them
  try {
    app_->name(argv[0]);
    app_->parse(std::move(given.words));
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    return app_->exit(error) == 0 ? 0 : 2;
  }
}

std::string CommandLine::help() const {
  return app_->help();
}

}  // namespace penn
