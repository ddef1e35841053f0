#include "paper/reproduce.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "paper/draw.h"
#include "penn/base/atomic_file.h"
#include "penn/base/files.h"
#include "penn/report/posterior_page.h"

namespace penn {
namespace fs = std::filesystem;
namespace {

constexpr char kDataStart[] = "id=\"penn-data\">", kDataEnd[] = "</script>";

// The data of a page that this command wrote; null where the file is anything else.
Json read_page(const fs::path& file) {
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored)) return nullptr;
  const std::string text = read_text_file(file.string());
  const size_t start = text.find(kDataStart), end = start == std::string::npos ? start : text.find(kDataEnd, start);
  if (end == std::string::npos) return nullptr;
  const size_t first = start + sizeof(kDataStart) - 1;
  Json json = Json::parse(text.substr(first, end - first), nullptr, false);
  return json.is_object() && json.value("kind", "") == "reproduction" ? json : Json(nullptr);
}

void refuse_foreign_file(const fs::path& file) {
  std::error_code ignored;
  if (fs::exists(fs::symlink_status(file, ignored)) && read_page(file).is_null())
    throw UsageError(fmt::format("'{}' exists and is not a page of `penn reproduce`", file.string()),
                     "move it away, or give another folder with -o");
}

std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Everything the paper has: what the folder holds now, made in this run or before, and why the rest is not there.
Json index_data(const ReproduceOptions& options, const std::vector<PageResult>& results) {
  Json rows = Json::array();
  int made = 0;
  for (const PaperItem& item : paper_items()) {
    Json row = {{"number", item.number}, {"title", item.title}};
    const Json page = read_page(options.folder / (item.name + ".html"));
    for (const PageResult& result : results)
      if (result.item.name == item.name && !result.problem.empty())
        row["problem"] = page.is_null() ? result.problem : "an older page; not made again: " + result.problem;
    if (page.is_null()) {
      if (!row.contains("problem"))
        row["problem"] =
            fmt::format("not made yet: penn reproduce {} -o {}", item.name, shell_word(options.folder.string()));
    } else {
      ++made;
      row["link"] = item.name + ".html";
      row["headline"] = page.value("headline", Json::object());
      row["command"] = page.value("command", "");
    }
    rows.push_back(row);
  }
  return {{"kind", "reproduction"},
          {"item", "index"},
          {"number", ""},
          {"title", "The paper, redrawn"},
          {"caption",
           fmt::format(
               "Figures and tables of \"Identifying parameter couplings and uncertainties of mixed-noise stochastic "
               "systems via full-covariance Gaussian mixture network\", from our models. {} of {} pages are here.",
               made, paper_items().size())},
          {"version", version()},
          {"sections", {{{"heading", ""}, {"note", ""}, {"panels", {{{"type", "index"}, {"rows", rows}}}}}}}};
}

}  // namespace

std::vector<PageResult> reproduce(const std::vector<PaperItem>& items, const ReproduceOptions& options,
                                  bool skip_missing, const std::function<void(const PageResult&)>& report) {
  if (items.empty())
    throw UsageError("nothing to reproduce", "give fig1 to fig19, tab1 to tab3, or all; see `penn reproduce --list`");
  std::error_code error;
  fs::create_directories(options.folder, error);
  if (!fs::is_directory(options.folder))
    throw UsageError(fmt::format("cannot make the folder '{}'", options.folder.string()), "choose another with -o");
  const fs::path index = options.folder / "index.html";
  refuse_foreign_file(index);
  for (const PaperItem& item : items) refuse_foreign_file(options.folder / (item.name + ".html"));

  Session session(options);
  std::vector<PageResult> results;
  const auto write_index = [&] {
    write_file_atomically(index, posterior_page(text_of(index_data(options, results)), "The paper, redrawn"));
  };
  for (const PaperItem& item : items) {
    PageResult result{item, item.name + ".html", ""};
    try {
      const PageData page = draw_paper_item(item, session);
      write_file_atomically(options.folder / result.file,
                            posterior_page(text_of(page.json()), fmt::format("{}: {}", item.number, item.title)));
    } catch (const Error& problem) {
      const bool stopped = dynamic_cast<const Interrupted*>(&problem) != nullptr;
      if (!skip_missing || stopped) {
        write_index();  // of what was made until here
        throw;
      }
      result.file.clear();
      result.problem = problem.full_text();
    }
    results.push_back(result);
    if (report) report(result);
  }
  write_index();
  return results;
}

}  // namespace penn
