// The pages of `penn infer --report` and `penn evaluate --report`: the results with what only a page needs (boxes,
// labels, exact factors, the trajectory, the loss curve).
#pragma once

#include <string>
#include <vector>

#include "penn/answer/inference.h"
#include "penn/evaluate/evaluation.h"

namespace penn {

// observed: the trajectory of each answer, or all that one answer combines. truth (M): empty where it is not known.
std::string inference_page(const System& system, int observation, const std::vector<Inference>& answers,
                           const std::vector<ObservedTrajectory>& observed, const std::vector<double>& truth);

// The data of that page: {"kind": "posterior", ...} of web/README.md.
std::string inference_json(const System& system, int observation, const std::vector<Inference>& answers,
                           const std::vector<ObservedTrajectory>& observed, const std::vector<double>& truth);

// evaluation must have been made with options.keep.
std::string evaluation_page(const Estimator& estimator, const Evaluation& evaluation, const std::string& model_name,
                            const EvaluationOptions& options);

}  // namespace penn
