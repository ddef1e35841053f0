// System file -> System. Sections are read in the order in which names may refer to each other: constants, parameters,
// nuisance, noise and state names, definitions, equations, initial values, observations, simulation.
#include "penn/system/parse_system.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "penn/base/random.h"
#include "penn/system/exact_check.h"
#include "penn/system/parse_expression.h"
#include "penn/system/parse_noise.h"
#include "penn/system/scope.h"
#include "penn/system/system.h"
#include "penn/system/toml_reader.h"

namespace penn {
namespace {

constexpr size_t kMaxNoises = 64, kMaxStates = 256, kMaxParameters = 64;

class SystemParser {
 public:
  SystemParser(const std::string& text, const std::string& source_name)
      : reader_(text, source_name), scope_(reader_.source(), system_.graph) {
    system_.text = text;
    system_.source_name = source_name;
  }

  System parse() {
    read_head();
    read_constants();
    read_parameters("parameters", NameKind::kParameter, system_.parameters);
    read_parameters("nuisance", NameKind::kNuisance, system_.nuisance);
    if (system_.parameters.empty())
      reader_.fail({}, "the section [parameters] is missing or empty",
                   "what shall be estimated? for example:  [parameters]\n      tau = [0.5, 5]");
    declare_noises();
    declare_states();
    read_definitions();
    read_noise_shapes();
    read_equations();
    read_initial();
    read_observations();
    read_simulation();
    read_paper();
    check_noise_use();
    check_shapes();
    check_parameter_use();
    read_exact();
    return std::move(system_);
  }

 private:
  std::vector<TomlEntry> section(const std::string& name) {
    const toml::node* node = reader_.root().get(name);
    if (!node) return {};
    if (!node->is_table()) reader_.fail(section_at(name), fmt::format("'{}' must be a section: [{}]", name, name));
    return reader_.entries(*node->as_table());
  }
  Position section_at(const std::string& name) {
    for (const TomlEntry& entry : reader_.entries(reader_.root()))
      if (entry.key == name) return entry.key_at;
    return {};
  }
  void limit(size_t count, size_t most, const std::string& what, const Position& at) {
    if (count > most) reader_.fail(at, fmt::format("more than {} {}", most, what));
  }

  Affine translate(const TomlEntry& entry, Scope::Use use) {
    const auto [text, at] = reader_.expression(entry);
    return scope_.translate(parse_expression(text, reader_.source(), at), use);
  }
  NodeId constant_expression(const TomlEntry& entry) {
    return translate(entry, Scope::Use::kConstantOverTrajectory).base;
  }
  std::string text_of(const TomlEntry& entry) {
    if (entry.value->is_string()) return *entry.value->value<std::string>();
    reader_.expression(entry);  // complains where it is not a number either
    return fmt::format("{}", reader_.number(entry));
  }

  void read_head() {
    const std::vector<TomlEntry> entries = reader_.entries(reader_.root());
    reader_.only_known(entries,
                       {"name", "title", "notes", "constants", "parameters", "nuisance", "define", "noise", "equations",
                        "initial", "observe", "simulation", "paper", "exact"},
                       "at the top of the file");
    for (const TomlEntry& entry : entries) {
      if (entry.key == "name") system_.name = reader_.string(entry, "a name");
      else if (entry.key == "title") system_.title = reader_.string(entry, "a title");
      else if (entry.key == "notes") reader_.string(entry, "a text");
    }
    if (system_.name.empty()) {
      // The name of the file without folder and ending.
      const size_t slash = system_.source_name.find_last_of('/');
      system_.name = system_.source_name.substr(slash == std::string::npos ? 0 : slash + 1);
      system_.name = system_.name.substr(0, system_.name.find('.'));
    }
  }

  void read_constants() {
    for (const TomlEntry& entry : section("constants")) {
      scope_.set_constant(entry.key, reader_.number(entry), entry.key_at);
      system_.constants.emplace_back(entry.key, text_of(entry));
    }
  }

  void read_parameters(const std::string& name, NameKind kind, std::vector<Parameter>& parameters) {
    for (const TomlEntry& entry : section(name)) {
      Parameter parameter{entry.key, entry.key, {}};
      if (entry.value->is_table()) {
        const std::vector<TomlEntry> fields = reader_.entries(*entry.value->as_table());
        reader_.only_known(fields, {"range", "label"}, fmt::format("in '{}'", entry.key));
        bool has_range = false;
        for (TomlEntry field : fields) {
          if (field.key == "label") parameter.label = reader_.string(field, "a text");
          else field.key = entry.key, parameter.range = reader_.number_range(field), has_range = true;
        }
        if (!has_range)
          reader_.fail(entry.key_at, fmt::format("'{}' has no range", entry.key),
                       "write { range = [low, high], label = \"...\" }");
      } else {
        parameter.range = reader_.number_range(entry);
      }
      check_float_range(parameter, entry);
      scope_.declare(entry.key, kind, static_cast<int>(parameters.size()), entry.key_at);
      parameters.push_back(parameter);
      limit(parameters.size(), kMaxParameters, name, entry.key_at);
    }
  }

  // Parameters leave as float32, and a box that has no width there cannot be estimated.
  void check_float_range(const Parameter& parameter, const TomlEntry& entry) {
    constexpr double kLargest = std::numeric_limits<float>::max();
    const Range r = parameter.range;
    if (std::max(std::abs(r.low), std::abs(r.high)) > kLargest)
      reader_.fail(entry.value_at, fmt::format("the range of '{}' exceeds float32 ({:.2g})", entry.key, kLargest),
                   "use other units, or the logarithm as the parameter");
    if (static_cast<float>(r.low) == static_cast<float>(r.high))
      reader_.fail(entry.value_at,
                   fmt::format("the range of '{}' is too narrow: its ends are the same float32 number", entry.key),
                   "take the offset out of the parameter");
  }

  void declare_noises() {
    for (const TomlEntry& entry : section("noise")) {
      scope_.declare(entry.key, NameKind::kNoise, static_cast<int>(system_.noises.size()), entry.key_at);
      Noise noise;
      noise.name = entry.key;
      noise.text = reader_.string(entry, ("one of " + noise_calls()).c_str());
      system_.noises.push_back(noise);
      noise_entries_.push_back(entry);
      limit(system_.noises.size(), kMaxNoises, "noises", entry.key_at);
    }
  }

  void declare_states() {
    for (const TomlEntry& entry : section("equations")) {
      scope_.declare(entry.key, NameKind::kState, static_cast<int>(system_.states.size()), entry.key_at);
      State state;
      state.name = entry.key;
      state.text = text_of(entry);
      system_.states.push_back(state);
      limit(system_.states.size(), kMaxStates, "equations", entry.key_at);
    }
  }

  void read_definitions() {
    const std::vector<TomlEntry> entries = section("define");
    for (const TomlEntry& entry : entries) scope_.announce_definition(entry.key);
    for (const TomlEntry& entry : entries) {
      scope_.define(entry.key, translate(entry, Scope::Use::kDefinition), entry.key_at);
      system_.definitions.emplace_back(entry.key, text_of(entry));
    }
  }

  void read_noise_shapes() {
    for (size_t i = 0; i < system_.noises.size(); ++i) {
      Noise& noise = system_.noises[i];
      const auto [text, at] = reader_.expression(noise_entries_[i]);
      const NoiseCall call = parse_noise(text);
      if (!call.problem.empty())
        reader_.fail(
            {at.line, at.column, static_cast<int>(std::max<size_t>(text.size(), 1))}, call.problem,
            "noises: " + noise_calls() + "; coloured noise is a state of its own: u = \"-u/tau + sqrt(2*D)/tau*B\"");
      noise.type = call.type;
      shape_positions_.emplace_back();
      for (const NoiseCall::Argument& argument : call.arguments) {
        const Position here{at.line, at.column + static_cast<int>(argument.at), static_cast<int>(argument.text.size())};
        shape_positions_.back().push_back(here);
        noise.shapes.push_back(
            scope_
                .translate(parse_expression(argument.text, reader_.source(), here), Scope::Use::kConstantOverTrajectory)
                .base);
      }
    }
  }

  void read_equations() {
    const std::vector<TomlEntry> entries = section("equations");
    for (size_t i = 0; i < entries.size(); ++i) {
      const Affine value = translate(entries[i], Scope::Use::kEquation);
      system_.states[i].drift = value.base;
      for (const auto& [noise, coefficient] : value.noises)
        if (!system_.graph.is_number(coefficient, 0)) system_.states[i].diffusion.push_back({noise, coefficient});
    }
  }

  void read_initial() {
    const std::vector<TomlEntry> entries = section("initial");
    for (const TomlEntry& entry : entries) {
      const auto state = std::find_if(system_.states.begin(), system_.states.end(),
                                      [&](const State& s) { return s.name == entry.key; });
      if (state == system_.states.end()) {
        std::vector<std::string> names;
        for (const State& s : system_.states) names.push_back(s.name);
        reader_.only_known({entry}, names, "in [initial]");
      }
      Initial& initial = state->initial;
      if (!entry.value->is_table()) {
        initial.low = initial.high = constant_expression(entry);
        continue;
      }
      const std::vector<TomlEntry> fields = reader_.entries(*entry.value->as_table());
      reader_.only_known(fields, {"uniform", "sign"}, fmt::format("in the initial value of '{}'", entry.key));
      for (TomlEntry field : fields) {
        if (field.key == "sign") {
          if (reader_.string(field, "\"random\"") != "random") reader_.fail(field.value_at, "sign must be \"random\"");
          initial.random_sign = true;
        } else {
          field.key = entry.key;
          const Range range = reader_.number_range(field);
          initial.low = system_.graph.number(range.low);
          initial.high = system_.graph.number(range.high);
        }
      }
      if (initial.low < 0)
        reader_.fail(entry.value_at, fmt::format("the initial value of '{}' has no range", entry.key),
                     "write { uniform = [low, high] } or { uniform = [low, high], sign = \"random\" }");
    }
    for (const State& state : system_.states)
      if (state.initial.low < 0)
        reader_.fail(
            section_at("initial"), fmt::format("the initial value of '{}' is missing", state.name),
            fmt::format("add to [initial]:  {} = 0  or  {} = {{ uniform = [-1, 1] }}", state.name, state.name));
  }

  void read_observations() {
    const std::vector<TomlEntry> entries = section("observe");
    if (entries.empty())
      reader_.fail(section_at("observe"), "the section [observe] is missing or empty",
                   "what is measured? for example:  [observe]\n      x = \"x\"");
    const bool several = entries.front().value->is_table();
    if (!several) system_.observations.push_back({});
    for (const TomlEntry& entry : entries) {
      if (entry.value->is_table() != several)
        reader_.fail(entry.key_at,
                     "[observe] holds either channels (x = \"...\") or named observations ([observe.name]), not both");
      if (!several) {
        add_channel(system_.observations.back(), entry);
        continue;
      }
      Observation observation;
      observation.name = entry.key;
      for (const TomlEntry& channel : reader_.entries(*entry.value->as_table())) add_channel(observation, channel);
      if (observation.channels.empty())
        reader_.fail(entry.key_at, fmt::format("the observation '{}' has no channel", entry.key));
      system_.observations.push_back(std::move(observation));
    }
  }

  void add_channel(Observation& observation, const TomlEntry& entry) {
    if (entry.key == "t")
      reader_.fail(entry.key_at, "'t' is reserved: it is the time column of data files", "choose another name");
    const Affine value = translate(entry, Scope::Use::kObservation);
    observation.channels.push_back({entry.key, text_of(entry), value.base});
    limit(observation.channels.size(), kMaxStates, "channels", entry.key_at);
  }

  void read_simulation() {
    const std::vector<TomlEntry> entries = section("simulation");
    if (entries.empty())
      reader_.fail({}, "the section [simulation] is missing",
                   "for example:  [simulation]\n      step = 0.01\n      sampling = 0.1\n      burn_in = 500\n      "
                   "length = 1000");
    reader_.only_known(entries, {"method", "step", "sampling", "burn_in", "length"}, "in [simulation]");
    Simulation& s = system_.simulation;
    const auto find = [&](const char* key) -> const TomlEntry* {
      const auto it = std::find_if(entries.begin(), entries.end(), [&](const TomlEntry& e) { return e.key == key; });
      return it == entries.end() ? nullptr : &*it;
    };
    if (const TomlEntry* entry = find("method")) {
      const std::string method = reader_.string(*entry, "\"euler-maruyama\" or \"rk4\"");
      if (method == "rk4") s.method = Method::kRungeKutta4;
      else if (method != "euler-maruyama")
        reader_.fail(entry->value_at, fmt::format("unknown method '{}'", method),
                     "methods: euler-maruyama, rk4; equations are in the sense of Ito");
    }
    const auto positive = [&](const TomlEntry& entry, double value) {
      if (!(value > 0)) reader_.fail(entry.value_at, fmt::format("'{}' must be positive, got {}", entry.key, value));
      if (value < 1e-30 || value > 1e30)
        reader_.fail(entry.value_at, fmt::format("'{}' must lie in [1e-30, 1e30], got {}", entry.key, value),
                     "use other units of time");
    };
    const TomlEntry* sampling = find("sampling");
    if (!sampling)
      reader_.fail(section_at("simulation"), "'sampling' is missing: the time between two samples",
                   "add to [simulation]:  sampling = 0.1");
    s.sampling = reader_.number_or_range(*sampling);
    positive(*sampling, s.sampling.low);
    positive(*sampling, s.sampling.high);
    const TomlEntry* step = find("step");
    if (!step && !system_.states.empty())
      reader_.fail(section_at("simulation"), "'step' is missing: the time step of the simulation",
                   "add to [simulation]:  step = 0.01");
    s.step = step ? reader_.number(*step) : s.sampling.high;
    if (step) positive(*step, s.step);
    const double ratio = s.sampling.high / s.step;
    if (ratio > 1e7)
      reader_.fail(sampling->value_at, fmt::format("{:g} steps between two samples are too many (at most 1e7)", ratio));
    const double whole = std::round(ratio);
    if (s.sampling.is_single() && (whole < 1 || std::abs(ratio - whole) > 1e-6 * whole))
      reader_.fail(sampling->value_at, fmt::format("sampling {} is not a multiple of step {}", s.sampling.high, s.step),
                   fmt::format("the sampling is that of the data, the step is free: step = {:.10g} fits",
                               s.sampling.high / std::max(1.0, std::ceil(ratio))));
    // With a range of sampling intervals the number of steps is common to all trajectories and the step varies, never
    // above `step`.
    s.steps_per_sample = std::max<int64_t>(
        1, s.sampling.is_single() ? static_cast<int64_t>(whole) : static_cast<int64_t>(std::ceil(ratio - 1e-9)));
    if (const TomlEntry* entry = find("burn_in")) s.burn_in = reader_.count_or_range(*entry, 0);
    const TomlEntry* length = find("length");
    if (!length)
      reader_.fail(section_at("simulation"), "'length' is missing: the number of samples",
                   "add to [simulation]:  length = 1000");
    s.length = reader_.count_or_range(*length, 2);
  }

  void read_paper() {
    const std::vector<TomlEntry> entries = section("paper");
    reader_.only_known(entries, {"trajectories", "batch", "epochs"}, "in [paper]");
    for (const TomlEntry& entry : entries) {
      const IntRange value = reader_.count_or_range(entry, 1);
      (entry.key == "trajectories" ? system_.paper.trajectories
       : entry.key == "batch"      ? system_.paper.batch
                                   : system_.paper.epochs) = value.high;
    }
  }

  void read_exact() {
    const std::vector<TomlEntry> entries = section("exact");
    if (entries.empty()) return;
    reader_.only_known(entries, {"tau", "D"}, "in [exact]");
    for (const TomlEntry& entry : entries)
      (entry.key == "tau" ? system_.exact.tau : system_.exact.D) = constant_expression(entry);
    const Position at = section_at("exact");
    if (entries.size() != 2)
      reader_.fail(at, "[exact] needs both tau and D", "for example:  [exact]\n      tau = \"tau\"\n      D = \"D\"");
    const std::string reason = why_not_relaxation(system_, system_.exact.tau, system_.exact.D);
    if (!reason.empty())
      reader_.fail(at, "[exact] says x' = -x/tau + sqrt(2 D/tau) B', but " + reason,
                   "correct it, or remove the section [exact]");
  }

  void check_noise_use() {
    for (size_t i = 0; i < system_.noises.size(); ++i) {
      const int noise = static_cast<int>(i);
      const auto equation = scope_.used_in_equations().find(noise);
      const auto observation = scope_.used_in_observations().find(noise);
      const bool drives = equation != scope_.used_in_equations().end(),
                 measures = observation != scope_.used_in_observations().end();
      if (drives && measures)
        reader_.fail(observation->second,
                     fmt::format("the noise '{}' drives an equation and cannot be a measurement noise too",
                                 system_.noises[i].name),
                     "declare a second noise in [noise]");
      if (!drives && !measures)
        reader_.fail(noise_entries_[i].key_at, fmt::format("the noise '{}' is never used", system_.noises[i].name),
                     "use it in an equation or an observation, or remove it");
      system_.noises[i].is_measurement = measures;
    }
  }

  // A parameter without effect is a mistake of the file (a name misspelt, a term forgotten): training would be wasted
  // on it.
  void check_parameter_use() {
    std::vector<NodeId> roots;
    for (const Noise& noise : system_.noises) roots.insert(roots.end(), noise.shapes.begin(), noise.shapes.end());
    for (const State& state : system_.states) {
      roots.insert(roots.end(), {state.drift, state.initial.low, state.initial.high});
      for (const Diffusion& diffusion : state.diffusion) roots.push_back(diffusion.coefficient);
    }
    for (const Observation& observation : system_.observations)
      for (const Channel& channel : observation.channels) roots.push_back(channel.value);
    std::erase(roots, -1);
    const std::vector<char> needed = system_.graph.reachable(roots);
    std::set<std::pair<SymbolKind, int>> used;
    for (size_t i = 0; i < needed.size(); ++i)
      if (const GraphNode& node = system_.graph.nodes()[i]; needed[i] && node.op == Op::kSymbol)
        used.insert({node.kind, node.index});
    for (const auto& [name, kind] :
         {std::pair("parameters", SymbolKind::kParameter), std::pair("nuisance", SymbolKind::kNuisance)}) {
      int index = 0;
      for (const TomlEntry& entry : section(name))
        if (!used.contains({kind, index++}))
          reader_.fail(entry.key_at,
                       fmt::format("'{}' has no effect: no equation, noise, initial value or observation depends on it",
                                   entry.key),
                       "use it, or remove it");
    }
  }

  // Shapes must be allowed everywhere in the box: tried at the corners of the parameters they depend on (of the first
  // eight), at the centre and at 256 points inside. The simulator checks every draw again.
  void check_shapes() {
    for (size_t i = 0; i < system_.noises.size(); ++i)
      for (size_t j = 0; j < system_.noises[i].shapes.size(); ++j)
        check_shape(system_.noises[i].shapes[j], system_.noises[i].type->shapes[j], shape_positions_[i][j]);
  }

  void check_shape(NodeId node, const NoiseShape& shape, const Position& at) {
    const size_t M = system_.parameters.size(), Q = system_.nuisance.size();
    const RandomKey key{1, 0, 0};
    std::vector<double> values, point(M + Q);
    const std::vector<char> marks = system_.graph.reachable({node});
    std::vector<int> corner_bit(M + Q, 0);  // of the parameters that matter, others stay at their lowest value
    int bits = 0;
    for (size_t n = 0; n < marks.size(); ++n) {
      const GraphNode& leaf = system_.graph.nodes()[n];
      if (marks[n] && leaf.op == Op::kSymbol && bits < 8)
        corner_bit[static_cast<size_t>(leaf.index) + (leaf.kind == SymbolKind::kNuisance ? M : 0)] = 1 << bits++;
    }
    const int corners = 1 << bits;
    for (int k = 0; k < corners + 257; ++k) {
      for (size_t p = 0; p < M + Q; ++p) {
        const Range range = p < M ? system_.parameters[p].range : system_.nuisance[p - M].range;
        const double fraction = k < corners    ? ((k & corner_bit[p]) != 0 ? 1.0 : 0.0)
                                : k == corners ? 0.5
                                               : key.uniform(0, static_cast<uint32_t>(k * (M + Q) + p));
        point[p] = range.low + fraction * (range.high - range.low);
      }
      system_.graph.evaluate(values, marks, [&](SymbolKind kind, int index) {
        return point[static_cast<size_t>(index) + (kind == SymbolKind::kNuisance ? M : 0)];
      });
      if (const double value = values[static_cast<size_t>(node)]; !shape.contains(value))
        reader_.fail(at, shape.outside(value),
                     system_.graph[node].op == Op::kNumber ? "" : "narrow the ranges of the parameters it is made of");
    }
  }

  TomlReader reader_;
  System system_;
  Scope scope_;
  std::vector<TomlEntry> noise_entries_;
  std::vector<std::vector<Position>> shape_positions_;  // of every noise
};

}  // namespace

System parse_system(const std::string& text, const std::string& source_name) {
  return SystemParser(text, source_name).parse();
}

}  // namespace penn
