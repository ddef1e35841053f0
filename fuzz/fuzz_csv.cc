// Any bytes as a CSV file, with and without a choice of columns: a full table of finite numbers, or a DataError.
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "penn/base/csv.h"
#include "penn/base/error.h"

namespace {

void read(std::string_view text, const penn::CsvOptions& options) {
  try {
    const penn::CsvTable table = penn::read_csv(penn::InputFile(text, "fuzz.csv"), options);
    if (table.rows == 0 || table.columns == 0 || table.values.size() != table.rows * table.columns) std::abort();
    if (!table.names.empty() && table.names.size() != table.columns) std::abort();
    for (const double value : table.values) {
      if (!std::isfinite(value)) std::abort();
    }
    size_t line = 0;
    for (size_t row = 0; row < table.rows; ++row) {
      const size_t next = table.line_of_row(row);
      if (next <= line) std::abort();
      line = next;
    }
  } catch (const penn::DataError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  read(text, {});
  read(text, {.columns = {"x"}, .max_values = 1000});
  read(text, {.columns = {"2", "1"}, .max_values = 1000});
  return 0;
}
