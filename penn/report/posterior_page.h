// A page as one string that opens from disk: data as JSON and the script that draws it (web/), nothing from a network.
#pragma once

#include <string>
#include <string_view>

namespace penn {

// json: {"kind": "posterior" | "evaluation" | "live" | "reproduction" | "simulation", ...}, the fields of
// web/README.md. Throws Error when it is not a JSON object with a known kind.
std::string posterior_page(std::string_view json, std::string_view title = "penn");

}  // namespace penn
