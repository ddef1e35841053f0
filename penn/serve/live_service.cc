#include "penn/serve/live_service.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "penn/answer/infer.h"
#include "penn/answer/inference.h"
#include "penn/base/error.h"
#include "penn/report/posterior_page.h"
#include "penn/report/result_page.h"
#include "penn/simulate/simulator.h"

namespace penn {
namespace {

using json = nlohmann::ordered_json;

constexpr size_t kMostName = 100;
constexpr double kEdge = 1e-9;  // of a range: a slider's end may miss it by rounding

// A refusal as an exception, for use deep inside.
class Refused : public Error {
 public:
  Refused(int given, const std::string& message, std::string hint = "")
      : Error(message, std::move(hint)), status(given) {}
  int status;
};

// The name of the user's file, for messages only.
std::string display_name(const HttpRequest& request) {
  std::string name = request.parameter("file").substr(0, kMostName);
  for (char& c : name) c = static_cast<unsigned char>(c) < ' ' || c == 127 ? '?' : c;
  return name.empty() ? "data.csv" : name;
}

ObservationOptions observation_options(const HttpRequest& request) {
  ObservationOptions options;
  if (const std::string text = request.parameter("sampling"); !text.empty()) {
    char* end = nullptr;
    options.sampling = std::strtod(text.c_str(), &end);
    if (*end != '\0' || !(options.sampling > 0) || !std::isfinite(options.sampling))
      throw Refused(400, fmt::format("sampling '{:.40}' is not a positive number", text));
  }
  const std::string columns = request.parameter("columns");
  for (size_t begin = 0; begin < columns.size();) {
    const size_t end = std::min(columns.find(',', begin), columns.size());
    std::string name = columns.substr(begin, end - begin);
    name.erase(0, name.find_first_not_of(' '));
    name.erase(name.find_last_not_of(' ') + 1);
    if (!name.empty()) options.columns.push_back(std::move(name));
    begin = end + 1;
  }
  return options;
}

int64_t whole_number(const json& question, const char* name, int64_t low, int64_t high) {
  const auto found = question.find(name);
  if (found == question.end())
    throw Refused(400, fmt::format("{} is missing", name),
                  "expected {\"theta\": [...], \"length\": 1000, \"seed\": 1}");
  const double value = found->is_number() ? found->get<double>() : std::nan("");
  if (!(value >= static_cast<double>(low) && value <= static_cast<double>(high) && value == std::floor(value)))
    throw Refused(400, fmt::format("{} must be a whole number from {} to {}", name, low, high));
  return static_cast<int64_t>(value);
}

// theta (M), inside the box.
std::vector<double> read_theta(const json& question, const System& system) {
  const size_t M = system.parameters.size();
  const auto found = question.find("theta");
  if (found == question.end() || !found->is_array() || found->size() != M)
    throw Refused(400, fmt::format("theta must be a list of {} numbers", M),
                  "one for every parameter, in the order of api/models");
  std::vector<double> theta;
  for (size_t k = 0; k < M; ++k) {
    const Parameter& p = system.parameters[k];
    const double value = (*found)[k].is_number() ? (*found)[k].get<double>() : std::nan(""),
                 slack = kEdge * (p.range.high - p.range.low);
    if (!(value >= p.range.low - slack && value <= p.range.high + slack))
      throw Refused(
          400, fmt::format("theta[{}] ({}) must be a number from {:g} to {:g}", k, p.name, p.range.low, p.range.high));
    theta.push_back(std::clamp(value, p.range.low, p.range.high));
  }
  return theta;
}

IntRange simulated_lengths(const ModelInfo& info, const LiveLimits& limits) {
  return {std::min(info.lengths.low, limits.simulated), std::min(info.lengths.high, limits.simulated)};
}

HttpResponse json_response(std::string text) {
  HttpResponse response;
  response.body = std::move(text);
  return response;
}

}  // namespace

bool is_loopback_name(const std::string& given) {
  std::string host = given;
  for (char& c : host) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  const size_t bracket = host.rfind(']'), colon = host.rfind(':');
  if (colon != std::string::npos && (bracket == std::string::npos || colon > bracket)) {
    if (host.find_first_not_of("0123456789", colon + 1) != std::string::npos) return false;
    host.resize(colon);
  }
  if (host == "localhost" || host == "[::1]") return true;
  // 127.a.b.c: numbers only, so no name server is asked.
  int dots = 0;
  for (size_t i = 0; i < host.size(); ++i) {
    if (host[i] == '.' && (i + 1 == host.size() || host[i + 1] == '.')) return false;
    dots += host[i] == '.';
  }
  return host.rfind("127.", 0) == 0 && dots == 3 && host.find_first_not_of("0123456789.") == std::string::npos;
}

LiveService::LiveService(const ModelTable& models, bool loopback_only, const LiveLimits& limits)
    : models_(models),
      loopback_only_(loopback_only),
      limits_(limits),
      page_(posterior_page(R"({"kind": "live"})", "penn")) {}

HttpResponse LiveService::operator()(const HttpRequest& request) const {
  try {
    return answer(request);
  } catch (const Refused& refused) {
    return error_response(refused.status, refused.what(), refused.hint());
  } catch (const SystemError& error) {  // a system that diverges for these parameters
    return error_response(422, error.what(), error.hint());
  } catch (const Error& error) {  // the library's own words about the data
    return error_response(400, error.what(), error.hint());
  }
}

HttpResponse LiveService::answer(const HttpRequest& request) const {
  const std::string host = request.header("host");
  if (host.empty()) throw Refused(400, "the request does not say which Host it is for");
  if (loopback_only_ && !is_loopback_name(host))
    throw Refused(
        403, "this address is for this machine only",
        "open http://127.0.0.1 with the port that `penn serve` printed; for other names start it with --host");
  // A page of another site may send requests here, though not read the answers; it is not to make this machine work.
  const std::string origin = request.header("origin"), site = request.header("sec-fetch-site");
  if ((!origin.empty() && origin != "http://" + host && origin != "https://" + host) ||
      (request.path != "/" && site == "cross-site"))
    throw Refused(403, "requests from pages of other sites are not answered");

  struct Route {
    const char *path, *method;
  };
  static constexpr Route kRoutes[] = {
      {"/", "GET"}, {"/api/models", "GET"}, {"/api/infer", "POST"}, {"/api/simulate", "POST"}};
  const auto route =
      std::find_if(std::begin(kRoutes), std::end(kRoutes), [&](const Route& r) { return request.path == r.path; });
  if (route == std::end(kRoutes)) throw Refused(404, "there is nothing at this address", "the page is at /");
  if (request.method != route->method) {
    HttpResponse response = error_response(405, fmt::format("{} answers {} only", route->path, route->method));
    response.extra = fmt::format("Allow: {}\r\n", route->method);
    return response;
  }
  if (request.path == "/") return {200, "text/html", page_};
  if (request.path == "/api/models") return json_response(model_list());
  if (!request.query.count("model"))
    throw Refused(400, "the parameter 'model' is missing",
                  fmt::format("for example {}?model=NAME, with a name from api/models", route->path));
  const ServedModel* model = models_.find(request.parameter("model"));
  if (!model) {
    std::vector<std::string> names;
    for (const ServedModel& m : models_.models()) names.push_back(m.name);
    throw Refused(404, "there is no model of this name", fmt::format("models: {}", fmt::join(names, ", ")));
  }
  return json_response(request.path == "/api/infer" ? infer_data(*model, request) : infer_simulated(*model, request));
}

std::string LiveService::model_list() const {
  json list = json::array();
  for (const ServedModel& model : models_.models()) {
    const System& system = model.estimator.system();
    const ModelInfo& info = model.estimator.info();
    json parameters = json::array(), channels = json::array();
    for (const Parameter& p : system.parameters)
      parameters.push_back({{"name", p.name}, {"label", p.label}, {"low", p.range.low}, {"high", p.range.high}});
    for (const Channel& c : system.observations[static_cast<size_t>(model.estimator.observation())].channels)
      channels.push_back(c.name);
    const IntRange lengths = simulated_lengths(info, limits_);
    list.push_back({{"name", model.name},
                    {"title", system.title},
                    {"parameters", parameters},
                    {"channels", channels},
                    {"length", {lengths.low, lengths.high}},
                    {"usual_length", std::clamp(system.simulation.length.high, lengths.low, lengths.high)},
                    {"sampling", {info.sampling.low, info.sampling.high}}});
  }
  return json{{"models", list}}.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string LiveService::infer_data(const ServedModel& model, const HttpRequest& request) const {
  const ObservationOptions options = observation_options(request);
  if (request.body.empty())
    throw Refused(400, "no data were sent", "the body of the request is the text of a CSV file");
  const std::vector<ObservedTrajectory> observed = read_observations(
      InputFile(std::string_view(request.body), display_name(request)), observation_format(model.estimator), options);
  int64_t samples = 0;
  for (const ObservedTrajectory& o : observed) samples += o.n;
  if (samples > limits_.samples || static_cast<int64_t>(observed.size()) > limits_.trajectories)
    throw Refused(413,
                  fmt::format("{} samples in {} trajector{}; the browser takes {} and {}", samples, observed.size(),
                              observed.size() == 1 ? "y" : "ies", limits_.samples, limits_.trajectories),
                  "use `penn infer` on the command line, with --report for a page");
  const std::vector<Inference> answers = infer(model.estimator, model.name, observed);
  return inference_json(model.estimator.system(), model.estimator.observation(), answers, observed, {});
}

std::string LiveService::infer_simulated(const ServedModel& model, const HttpRequest& request) const {
  if (request.body.size() > limits_.question_bytes) throw Refused(413, "the question is too long");
  const json question = json::parse(request.body, nullptr, false);
  if (!question.is_object())
    throw Refused(400, "the body is not a JSON object", "expected {\"theta\": [...], \"length\": 1000, \"seed\": 1}");
  const System& system = model.estimator.system();
  const std::vector<double> theta = read_theta(question, system);
  const IntRange lengths = simulated_lengths(model.estimator.info(), limits_);
  const int64_t n = whole_number(question, "length", lengths.low, lengths.high),
                seed = whole_number(question, "seed", 0, int64_t{1} << 53);

  SimulatorOptions options{.seed = static_cast<uint64_t>(seed), .threads = 1, .length = n};
  for (size_t k = 0; k < theta.size(); ++k) options.fixed[system.parameters[k].name] = theta[k];
  const Simulator simulator(system, model.estimator.observation(), options);
  std::vector<float> used(theta.size()), sampling(1);
  ObservedTrajectory simulated{.source = "simulated",
                               .n = n,
                               .z = std::vector<float>(static_cast<size_t>(n * simulator.channels())),
                               .has_time = true,
                               .warnings = {}};
  simulator.run(0, 1, used.data(), simulated.z.data(), sampling.data());
  // Through decimal text: float32 of 0.1 shall not read 0.10000000149.
  simulated.sampling = std::stod(fmt::format("{:.6g}", sampling[0]));
  const std::vector<ObservedTrajectory> observed = {std::move(simulated)};
  const std::vector<Inference> answers = infer(model.estimator, model.name, observed);
  return inference_json(system, model.estimator.observation(), answers, observed, theta);
}

}  // namespace penn
