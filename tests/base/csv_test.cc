// Every layout users have gives the same numbers; whatever is wrong is named with file, line and column.
#include "penn/base/csv.h"

#include <unistd.h>  // pipe

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>  // strtod
#include <limits>
#include <random>

#include "base/files_for_tests.h"
#include "penn/base/csv_lines.h"
#include "penn/base/csv_writer.h"
#include "penn/base/error.h"

namespace penn {
namespace {

using Values = std::vector<double>;
using Names = std::vector<std::string>;

CsvTable parse(const std::string& text, const CsvOptions& options = {}) {
  return read_csv(InputFile(text, "a.csv"), options);
}

std::string refusal(const std::string& text, const CsvOptions& options = {}) {
  return error_text<DataError>([&] { parse(text, options); });
}

// The part before the hint.
std::string message(const std::string& text, const CsvOptions& options = {}) {
  const std::string full = refusal(text, options);
  return full.substr(0, full.find('\n'));
}

TEST(csv_test, every_layout_gives_the_same_table) {
  const Values wanted = {0, 1.5, 0.1, -2.5, 0.2, 300};
  const char* layouts[] = {
      "0,1.5\n0.1,-2.5\n0.2,3e2\n",
      "0,1.5\n0.1,-2.5\n0.2,3e2",          // no newline at the end
      "0,1.5\r\n0.1,-2.5\r\n0.2,3e2\r\n",  // CRLF
      ("\xEF\xBB\xBF"
       "0,1.5\n0.1,-2.5\n0.2,3e2\n"),         // byte-order mark
      "0, 1.5\n 0.1 , -2.5 \n0.2,\t+3e2\n",   // blanks around, plus sign
      "0;1.5\n0.1;-2.5\n0.2;300.\n",          // semicolons
      "0;1,5\n0,1;-2,5\n0,2;3e2\n",           // semicolons and decimal commas
      "0\t1.5\n.1\t-2.5\n0.2\t300\n",         // tabs
      "0\t1,5\n0,1\t-2,5\n0,2\t300\n",        // tabs and decimal commas
      "0 1.5\n0.1   -2.5\n  0.2 \t 300  \n",  // blanks
      "0,0 1,5\n0,1 -2,5\n0,2 300\n",         // blanks and decimal commas
      "# made by hand\n0,1.5\n# interrupted\n0.1,-2.5\n\n0.2,3e2\n\n\n",
      "0,1.5 # first\n0.1,-2.5\t# second\n0.2,3e2 #\n",  // comments after values
      "0,1.5,\n0.1,-2.5,\n0.2,3e2,\n",                   // separator at the end
      "0\t1.5\t\n0.1\t-2.5\t\n0.2\t3e2\n",
      "\"0\",\"1.5\"\n\"0.1\",\"-2.5\"\n\"0.2\",\"3e2\"\n",  // all in quotes
      "t,x\n0,1.5\n0.1,-2.5\n0.2,3e2\n",
      "t;x\n0;1,5\n0,1;-2,5\n0,2;3e2\n",
      "\"t\",\"x\"\n0,1.5\n0.1,-2.5\n0.2,3e2\n",
      "t x\n0 1.5\n0.1 -2.5\n0.2 3e2\n",
      "t, x\n0 1.5\n0.1 -2.5\n0.2 3e2\n",  // header and rows disagree about the separator
      "t,x,\n0,1.5,\n0.1,-2.5,\n0.2,3e2,\n",
      "# c\n\n  # d\nt\tx\n0\t1.5\n0.1\t-2.5\n0.2\t3e2\n",
  };
  for (const char* layout : layouts) {
    const CsvTable table = parse(layout);
    EXPECT_EQ(table.rows, 3u) << layout;
    EXPECT_EQ(table.columns, 2u) << layout;
    EXPECT_EQ(table.values, wanted) << layout;
    if (!table.names.empty()) {
      EXPECT_EQ(table.names, (Names{"t", "x"})) << layout;
    }
    EXPECT_EQ(table.names.empty(), std::string(layout).find('x') == std::string::npos) << layout;
  }
}

TEST(csv_test, one_column_and_one_row_are_tables_too) {
  EXPECT_EQ(parse("1.5").values, Values{1.5});
  EXPECT_EQ(parse("1\n2\n3\n").columns, 1u);
  EXPECT_EQ(parse("1\n2\n3\n").rows, 3u);
  EXPECT_EQ(parse("flow\n1\n2\n").names, Names{"flow"});
  EXPECT_EQ(parse("flow of the Nile\n1\n2\n").names, Names{"flow of the Nile"});
  EXPECT_EQ(parse("1,2,3\n").columns, 3u);
}

TEST(csv_test, names_may_be_quoted_empty_or_contain_blanks_and_hashes) {
  EXPECT_EQ(parse("\"time, s\",\"the \"\"x\"\"\"\n1,2\n").names, (Names{"time, s", "the \"x\""}));
  EXPECT_EQ(parse(",x\n1,2\n").names, (Names{"", "x"}));
  EXPECT_EQ(parse("time of day,sample #\n1,2\n").names, (Names{"time of day", "sample #"}));
  EXPECT_EQ(parse("\"1\",\"2\"\n3,4\n").names, (Names{"1", "2"}));
  EXPECT_TRUE(parse("\"1\",\"2\"\n\"3\",\"4\"\n").names.empty());
  EXPECT_EQ(parse("\"1\",\"2\"\n\"3\",\"4\"\n").rows, 2u);
}

TEST(csv_test, comments_and_line_numbers_are_kept) {
  const CsvTable table = parse("# penn 0.1\n#seed = 1\n\nt,x\n# units: s, m\n0,1\n1,2\n# later\n2,3\n\n\n3,4\n");
  EXPECT_EQ(table.comments, (Names{"penn 0.1", "seed = 1", "units: s, m"}));
  ASSERT_EQ(table.rows, 4u);
  EXPECT_EQ(table.line_of_row(0), 6u);
  EXPECT_EQ(table.line_of_row(1), 7u);
  EXPECT_EQ(table.line_of_row(2), 9u);
  EXPECT_EQ(table.line_of_row(3), 12u);
  EXPECT_EQ(table.gaps, 1u);
  EXPECT_EQ(table.column_title(1), "'x'");
  EXPECT_EQ(parse("1,2").column_title(1), "column 2");
}

TEST(csv_test, columns_are_chosen_by_name_or_number) {
  const std::string text = "date,flow,note\n1871-01-01,1120,dry\n1872-01-01,1160,\n";
  EXPECT_EQ(parse(text, {.columns = {"flow"}}).values, (Values{1120, 1160}));
  EXPECT_EQ(parse(text, {.columns = {"2"}}).names, Names{"flow"});
  EXPECT_EQ(parse("1,2,3\n4,5,6\n", {.columns = {"3", "1"}}).values, (Values{3, 1, 6, 4}));
  EXPECT_EQ(parse("a,1\nb,2\n", {.columns = {"2"}}).values, (Values{1, 2}));  // no header: column 2 is a number at once
  EXPECT_EQ(parse("t,x\n1,nan\n2,3\n", {.columns = {"t"}}).values, (Values{1, 2}));
  EXPECT_EQ(refusal(text, {.columns = {"flw"}}), "a.csv:1:1: no column 'flw'\nhint: columns: 1 to 3, date, flow, note");
  EXPECT_EQ(message(text, {.columns = {"4"}}), "a.csv:1:1: no column '4'");
  EXPECT_EQ(message("x,x\n1,2\n", {.columns = {"x"}}), "a.csv:1:1: two columns are named 'x'");
  EXPECT_EQ(message(text, {.columns = {"note"}}), "a.csv:2:17: 'dry' is not a number (column 3, 'note')");
}

TEST(csv_test, errors_name_file_line_and_column) {
  EXPECT_EQ(message(""), "a.csv: the file is empty");
  EXPECT_EQ(message("\xEF\xBB\xBF"), "a.csv: the file is empty");
  EXPECT_EQ(message("\n\n"), "a.csv: no rows of numbers");
  EXPECT_EQ(message("# only\n# comments"), "a.csv: no rows of numbers");
  EXPECT_EQ(message("t,x\n"), "a.csv: no rows of numbers");
  EXPECT_EQ(message("t,x\n0,1\n1,abc\n"), "a.csv:3:3: 'abc' is not a number (column 2, 'x')");
  EXPECT_EQ(message("0,1\n1, 12x\n"), "a.csv:2:4: '12x' is not a number (column 2)");
  EXPECT_EQ(message("0,1\n1,0x10\n"), "a.csv:2:3: '0x10' is not a number (column 2)");
  EXPECT_EQ(message("0,1\n1,1.#QNAN\n"), "a.csv:2:3: '1.#QNAN' is not a number (column 2)");
  EXPECT_EQ(message("0,1\n1,+-2\n"), "a.csv:2:3: '+-2' is not a number (column 2)");
  EXPECT_EQ(message("0,abc\n1,2\n"), "a.csv:1:3: 'abc' is not a number (column 2)");  // not mistaken for a header
  EXPECT_EQ(message("2020-01-01,1\n"), "a.csv:1:1: '2020-01-01' is not a number (column 1)");
  EXPECT_EQ(message("0,1\n# c\n1\n"), "a.csv:3:2: 1 value where line 1 has 2");
  EXPECT_EQ(message("0,1\n1,2,3\n"), "a.csv:2:5: 3 values where line 1 has 2");
  EXPECT_EQ(message("t\n1,5\n"), "a.csv:2:3: 2 values where line 1 has 1");
  EXPECT_NE(refusal("t\n1,5\n").find("decimal mark"), std::string::npos);
  EXPECT_EQ(message("0,1\n1,\n"), "a.csv:2:3: a missing value (column 2)");
  EXPECT_EQ(message("t,x\n0,\n1,2\n"), "a.csv:2:3: a missing value (column 2, 'x')");
  EXPECT_EQ(message("0,1\n,2\n"), "a.csv:2:1: a missing value (column 1)");
  EXPECT_EQ(message("0\t1\t2\n1\t\t2\n"), "a.csv:2:3: a missing value (column 2)");
  for (const char* word : {"nan", "NaN", "-nan", "inf", "-Inf", "infinity"}) {
    EXPECT_EQ(message("0,1\n1," + std::string(word) + "\n2,3\n"),
              "a.csv:2:3: '" + std::string(word) + "' is not a finite number (column 2)");
  }
  EXPECT_EQ(message("nan,1\n"), "a.csv:1:1: 'nan' is not a finite number (column 1)");
  EXPECT_EQ(message("0,1\n1,1e999\n"), "a.csv:2:3: '1e999' is outside the range of numbers (column 2)");
  EXPECT_EQ(message("0;1.5\n1;2,5\n"), "a.csv:2:3: '2,5' is not a number (column 2)");  // two decimal marks
  EXPECT_EQ(message("0;1,5\n1;2.5\n"), "a.csv:2:3: '2.5' is not a number (column 2)");
  EXPECT_EQ(message("0;1\n0;1.234,5\n"), "a.csv:2:3: '1.234,5' is not a number (column 2)");
  EXPECT_NE(refusal("1,2\r3,4\r5,6\r").find("the lines end in CR alone"), std::string::npos);
  EXPECT_EQ(message("1\n2\n3\n", {.max_values = 2}), "a.csv:3:1: more than 2 values");
}

TEST(csv_test, files_that_are_no_text_are_recognised) {
  EXPECT_EQ(message(std::string("1,2\n\0\1\2", 7)), "a.csv: a binary file, not text (zero byte at offset 4)");
  EXPECT_EQ(message("\x93NUMPY..."), "a.csv: an NPY array, not text");
  EXPECT_EQ(message("\xFF\xFE"
                    "1"),
            "a.csv: text in UTF-16, where plain text or UTF-8 is needed");
  EXPECT_EQ(message("1,2\n" + std::string(17 << 20, '7')), "a.csv:2: a line of more than 16 MiB");
  const TestDirectory directory;
  EXPECT_EQ(error_text<DataError>([&] { read_csv(directory.path()); }),
            "cannot read '" + directory.path().string() +
                "': Is a directory\nhint: give the name of a file, not of a directory");
  EXPECT_NE(error_text<DataError>([&] { read_csv(directory / "none.csv"); }).find("No such file"), std::string::npos);
}

TEST(csv_test, numbers_at_the_edges_are_read_exactly) {
  const double tiny = std::numeric_limits<double>::denorm_min(), huge = std::numeric_limits<double>::max();
  const Values values = parse("4.9406564584124654e-324\n1.7976931348623157e308\n1e-400\n-1e-5000\n-0\n0.1\n").values;
  EXPECT_EQ(values, (Values{tiny, huge, 0, 0, 0, 0.1}));
  EXPECT_TRUE(std::signbit(values[4]));
}

TEST(csv_test, random_numbers_agree_with_strtod) {
  // 20,000 doubles of random bits (all exponents), 17 digits, seed 1: the fast path against the C library, bit for bit.
  std::mt19937_64 random(1);
  std::string text;
  Values wanted;
  while (wanted.size() < 20000) {
    const double value = std::bit_cast<double>(random());
    if (!std::isfinite(value)) continue;
    char digits[40];
    std::snprintf(digits, sizeof digits, "%.17g", value);
    wanted.push_back(std::strtod(digits, nullptr));
    text += digits + std::string(wanted.size() % 4 == 0 ? "\n" : ",");
  }
  EXPECT_EQ(parse(text).values, wanted);
}

TEST(csv_test, fast_and_slow_paths_agree) {
  // A comment at the end of a line sends it to the slow path; 2000 rows of random layout, seed 2.
  std::mt19937 random(2);
  std::string fast = "t,x,y\n", slow = fast;
  for (int row = 0; row < 2000; ++row) {
    std::string line;
    for (int column = 0; column < 3; ++column) {
      line += std::string(column ? "," : "") + std::string(random() % 3, ' ') +
              std::to_string(std::ldexp(static_cast<double>(random()), -20)) + std::string(random() % 2, '\t');
    }
    fast += line + "\n";
    slow += line + " # slow\n";
  }
  EXPECT_EQ(parse(fast).values, parse(slow).values);
}

TEST(csv_test, lines_longer_than_the_buffer_are_joined) {
  // 600,000 columns: a line of 3 MB, several buffers long; and rows that straddle the buffer's end.
  std::string line;
  for (int i = 0; i < 600000; ++i) line += std::string(i ? "," : "") + std::to_string(i);
  const CsvTable wide = parse(line + "\n" + line);
  ASSERT_EQ(wide.columns, 600000u);
  ASSERT_EQ(wide.rows, 2u);
  EXPECT_EQ(wide.at(1, 599999), 599999.0);
  std::string tall;
  for (int i = 0; i < 300000; ++i) tall += std::to_string(i) + "\r\n";
  const CsvTable table = parse(tall);
  ASSERT_EQ(table.rows, 300000u);
  for (size_t row = 0; row < table.rows; ++row) ASSERT_EQ(table.at(row, 0), static_cast<double>(row));
  EXPECT_EQ(table.line_of_row(299999), 300000u);
}

TEST(csv_test, a_pipe_is_read_like_a_file) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const std::string text = "t,x\n0,1\n1,2\n";
  ASSERT_EQ(::write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  ::close(ends[1]);
  EXPECT_EQ(read_csv("/dev/fd/" + std::to_string(ends[0])).values, (Values{0, 1, 1, 2}));
  ::close(ends[0]);
}

TEST(csv_test, a_file_cut_anywhere_is_read_or_refused_with_its_name) {
  const std::string whole = "# c\n\"t, s\";x\n0,5;1\n1,5;-2,5e-3 # d\n";
  for (size_t length = 0; length <= whole.size(); ++length) {
    try {
      const CsvTable table = parse(whole.substr(0, length));
      EXPECT_EQ(table.values.size(), table.rows * table.columns);
    } catch (const DataError& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with("a.csv:")) << error.what();
    }
  }
}

TEST(csv_test, any_changed_byte_is_read_or_refused) {
  const std::string whole = "# c\n\"t, s\",x\n0.5,1\n1.5,-2.5e-3 # d\n";
  size_t refused = 0;
  for (size_t at = 0; at < whole.size(); ++at) {
    for (int value = 0; value < 256; ++value) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(value);
      try {
        for (const double number : parse(damaged).values) EXPECT_TRUE(std::isfinite(number));
      } catch (const DataError&) {
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 1000u);
}

TEST(csv_test, written_tables_read_back_bit_for_bit) {
  const TestDirectory directory;
  const Names names = {"t", "x (m, s)", "", "1", "a \"b\"", "#", "nan"};
  std::mt19937_64 random(3);
  Values values;
  while (values.size() < 7 * 500) {
    const double value = std::bit_cast<double>(random());
    if (std::isfinite(value)) values.push_back(value);
  }
  CsvWriter writer(directory / "a.csv", {"penn 0.1 infer", "two\nlines"}, names);
  for (size_t row = 0; row < 500; ++row) writer.row(std::span<const double>(values).subspan(7 * row, 7));
  EXPECT_FALSE(std::filesystem::exists(directory / "a.csv"));
  writer.finish();
  const CsvTable table = read_csv(directory / "a.csv");
  EXPECT_EQ(table.comments, (Names{"penn 0.1 infer", "two", "lines"}));
  EXPECT_EQ(table.names, names);
  EXPECT_EQ(table.values, values);
}

TEST(csv_test, writer_text_is_plain) {
  const TestDirectory directory;
  CsvWriter writer(directory / "a.csv", {"seed = 1 (default)"}, {"t", "x y"});
  writer.row(std::vector<double>{0.1, -std::nan("")});
  writer.row(std::vector<float>{0.1f, 2});
  writer.finish();
  EXPECT_EQ(read_whole(directory / "a.csv"), "# seed = 1 (default)\nt,\"x y\"\n0.1,nan\n0.1,2\n");
  CsvWriter bare(directory / "b.csv", {}, {});
  bare.row(std::vector<double>{1});
  bare.finish();
  EXPECT_EQ(read_whole(directory / "b.csv"), "1\n");
  EXPECT_THROW(CsvWriter("/dev/full", {}, {"t"}).finish(), Error);
}

}  // namespace
}  // namespace penn
