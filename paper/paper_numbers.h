// The numbers the paper prints, to be shown beside ours.
#pragma once

#include <array>
#include <string_view>

#include "penn/evaluate/calibration.h"

namespace penn {

// Table 1: the seven models, trained on one RTX 4090.
struct PaperCost {
  std::string_view model;  // ours
  const char *trajectories, *length, *batch, *epochs, *hours;
};
inline constexpr std::array<PaperCost, 7> kPaperCosts = {{{"soup", "300,000", "1000", "1800", "1200", "5.8"},
                                                          {"oup", "300,000", "1000", "1800", "2500", "12.5"},
                                                          {"dvdp", "500,000", "500", "1200", "2000", "9.7"},
                                                          {"cfhn-x1x2", "300,000", "1500", "1200", "3000", "23.1"},
                                                          {"cfhn-x1", "300,000", "1500", "1200", "3000", "22.0"},
                                                          {"cfhn-mean", "300,000", "1500", "1200", "3000", "23.0"},
                                                          {"airfoil", "300,000", "1000", "1800", "5000", "25.4"}}};

// Table 2: mean and SD of |estimate - truth| of lg tau, D_fgn, H, D_levy, alpha, and of the NLL of the truth; 20,000
// trajectories.
struct PaperAblation {
  std::string_view training;  // ours (trainings.h)
  const char *components, *trajectories;
  std::array<Spread, 5> error;
  Spread nll;
};
inline constexpr std::array<PaperAblation, 8> kPaperAblation = {{
    {"oup-components-1",
     "1",
     "300,000",
     {{{.086, .082}, {.139, .113}, {.062, .064}, {.127, .107}, {.093, .076}}},
     {-5.370, 3.039}},
    {"oup-components-2",
     "2",
     "300,000",
     {{{.086, .081}, {.138, .114}, {.060, .064}, {.126, .107}, {.094, .074}}},
     {-6.043, 2.625}},
    {"oup-components-10",
     "10",
     "300,000",
     {{{.085, .081}, {.139, .113}, {.061, .064}, {.126, .107}, {.093, .075}}},
     {-6.495, 1.974}},
    {"oup-components-20",
     "20",
     "300,000",
     {{{.085, .081}, {.138, .113}, {.060, .064}, {.126, .107}, {.092, .075}}},
     {-6.558, 1.928}},
    {"oup-trajectories-1000",
     "10",
     "1,000",
     {{{.172, .144}, {.207, .137}, {.178, .128}, {.187, .136}, {.131, .087}}},
     {-1.851, 2.577}},
    {"oup-trajectories-10000",
     "10",
     "10,000",
     {{{.113, .105}, {.160, .122}, {.083, .084}, {.156, .119}, {.107, .081}}},
     {-4.027, 3.570}},
    {"oup-trajectories-50000",
     "10",
     "50,000",
     {{{.093, .087}, {.145, .116}, {.066, .069}, {.134, .110}, {.097, .077}}},
     {-5.626, 2.373}},
    {"oup-trajectories-100000",
     "10",
     "100,000",
     {{{.089, .084}, {.141, .115}, {.063, .066}, {.129, .108}, {.095, .077}}},
     {-6.107, 2.118}},
}};
// The row of the model used everywhere else: N = 10, 300,000 trajectories.
inline constexpr const PaperAblation& kPaperOup = kPaperAblation[2];

// Table 3: NLL on DVDP.
struct PaperCovariance {
  std::string_view training;
  const char *covariance, *components;
  Spread nll;
};
inline constexpr std::array<PaperCovariance, 3> kPaperCovariance = {
    {{"dvdp-full-10", "full", "10", {-9.357, 3.721}},
     {"dvdp-diagonal-10", "diagonal", "10", {-8.529, 3.646}},
     {"dvdp-diagonal-30", "diagonal", "30", {-8.833, 3.590}}}};

}  // namespace penn
