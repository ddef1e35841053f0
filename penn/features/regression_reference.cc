// The definitions of the statistics, second half: regressions of the first and second difference.
#include "penn/features/regression_reference.h"

#include "penn/features/reference_parts.h"

namespace penn::reference {
namespace {

// Least squares with ridge: (G + diag(ridge)) b = g by L D L^T; G (K, K) row-major.
Numbers solve(Numbers G, Numbers g, const Numbers& ridge) {
  const size_t K = g.size();
  for (size_t i = 0; i < K; ++i) G[i * K + i] += ridge[i];
  for (size_t i = 0; i < K; ++i) {
    for (size_t r = i + 1; r < K; ++r) {
      const double factor = G[r * K + i] / G[i * K + i];
      for (size_t s = i; s < K; ++s) G[r * K + s] -= factor * G[i * K + s];
      g[r] -= factor * g[i];
    }
  }
  for (size_t i = K; i-- > 0;) {
    for (size_t s = i + 1; s < K; ++s) g[i] -= G[i * K + s] * g[s];
    g[i] /= G[i * K + i];
  }
  return g;
}

// Weighted regression of response(t) on columns(t), begin <= t < end. noise: mean square that a coefficient of prior
// size kCoefficientPrior is weighed against.
struct Fit {
  Numbers b, log_error;  // ln of the standard errors of b, as if the residual were white
  double unexplained;    // weighted mean square of the response less what the fit explains
};
template <class Columns, class Weight, class Response>
Fit regress(int64_t begin, int64_t end, Columns columns, Weight weight, Response response, double noise) {
  const size_t K = columns(begin).size();
  const double count = static_cast<double>(end - begin);
  Numbers G(K * K), g(K), ridge(K);
  double total = 0, square = 0;
  for (int64_t t = begin; t < end; ++t) {
    const Numbers x = columns(t);
    const double w = weight(t), r = response(t);
    for (size_t i = 0; i < K; ++i) {
      for (size_t s = 0; s < K; ++s) G[i * K + s] += w * x[i] * x[s] / count;
      g[i] += w * x[i] * r / count;
    }
    total += w / count, square += w * r * r / count;
  }
  for (size_t i = 0; i < K; ++i)
    ridge[i] = kRidge * G[i * K + i] +
               (noise < 0 ? square / (total + 1e-6) : noise) / (kCoefficientPrior * kCoefficientPrior * count) + 1e-30;
  Fit fit{solve(G, g, ridge), {}, square};
  for (size_t i = 0; i < K; ++i) fit.unexplained -= fit.b[i] * g[i];
  fit.unexplained = std::max(fit.unexplained, 1e-5 * square) / (total + 1e-6);
  for (size_t i = 0; i < K; ++i) {
    Numbers unit(K);
    unit[i] = 1;
    fit.log_error.push_back(clamp(0.5 * log_positive(solve(G, unit, ridge)[i] * fit.unexplained / count), kErrorLimit));
  }
  return fit;
}

void put_coefficients(Output& out, const Fit& fit, double factor) {
  for (const double b : fit.b) out.put(std::asinh(factor * b));
  for (const double e : fit.log_error) out.put(e);
}

// The velocity that is known before the second difference happens; c.w is known only after. For white noise in the
// second difference only the former shows damping: the latter holds half of the noise.
double past_velocity(const Channel& c, int64_t t) {
  return clamp((c.y[t] - c.y[t - 1]) / c.unit.velocity, 1e6);
}

// Least squares of two terms from their sums: a c + b s = y0, b c + d s = y1, with a little ridge.
struct TwoTerms {
  double constant, slope;
};
TwoTerms two_terms(double a, double b, double d, double y0, double y1) {
  a += kNoiseRidge * a, d += kNoiseRidge * d;
  const double determinant = a * d - b * b + 1e-30;
  return {(y0 * d - y1 * b) / determinant, (y1 * a - y0 * b) / determinant};
}

// d(t) regressed on monomials of u(t), on own(t), and for every other channel on u, theirs(channel, t), u^3; jumps
// weigh little.
template <class Own, class Theirs>
void put_increment_regression(Output& out, const Work& work, int channel, const Numbers& d, double unit, double floor,
                              Own own, Theirs theirs) {
  const Channel& c = work.channels[channel];
  const double scale = std::exp(log_moments(d, 0, c.n - 1, floor).mean);
  const auto columns = [&](int64_t t) {
    const double u = clamp(c.u[t], kValueLimit);
    Numbers x = {1, u, u * u, u * u * u, own(t)};
    for (const Channel* other : work.others(channel)) {
      const double v = clamp(other->u[t], kValueLimit);
      x.insert(x.end(), {v, theirs(*other, t), v * v * v});
    }
    return x;
  };
  const auto weight = [&](int64_t t) {
    return ramp(2 * (kValueLimit - std::fabs(c.u[t]))) / (1 + std::pow(d[t] / (4 * scale), 2));
  };
  const Fit fit = regress(
      0, c.n - 1, columns, weight, [&](int64_t t) { return clamp(d[t] / unit, 1e6); }, -1);
  put_coefficients(out, fit, 3);
  out.put(log_positive(fit.unexplained));
}

double value(const Channel& c, int64_t t) {
  return clamp(c.u[t], kValueLimit);
}

}  // namespace

// The increment regressed on monomials of the value before it.
void put_first_regression(Output& out, Work& work, Subject at) {
  const Channel& c = work.channels[at.first];
  Numbers d(c.n);
  for (int64_t t = 0; t + 1 < c.n; ++t) d[t] = c.y[t + 1] - c.y[t];
  put_increment_regression(
      out, work, at.first, d, c.unit.velocity, c.floor, [&](int64_t t) { return std::pow(value(c, t), 5); },
      [](const Channel& other, int64_t t) { return std::pow(value(other, t), 2); });
}

// Where a fast variable follows a slow hidden one, as in relaxation oscillators, c u' = u - u^3/3 + y with small c, the
// noise and the slow dynamics show in the increment of u^3/3 - u: the increment of u^3 regressed on that of u, and the
// same of others.
void put_cubic_regression(Output& out, Work& work, Subject at) {
  const Channel& c = work.channels[at.first];
  Numbers d(c.n);
  for (int64_t t = 0; t + 1 < c.n; ++t) d[t] = std::pow(value(c, t + 1), 3) - std::pow(value(c, t), 3);
  const auto step = [](const Channel& of, int64_t t) { return value(of, t + 1) - value(of, t); };
  put_increment_regression(
      out, work, at.first, d, 1, kCubeFloor, [&](int64_t t) { return step(c, t); }, step);
}

// The second difference regressed on monomials of value and velocity, twice: the second fit knows that neighbouring
// residuals are correlated (both sides are freed of rho times their neighbour: Cochrane and Orcutt) and trusts large
// ones less; once with the central velocity, whose residual is the cleanest, and once with the past one, whose
// coefficients are causal.
void put_second_regression(Output& out, Work& work, Subject at) {
  Channel& c = work.channels[at.first];
  const std::vector<const Channel*> others = work.others(at.first);
  const int64_t n = c.n, begin = 1, end = n - 1;
  const auto any_columns = [&](int64_t t, bool causal) {
    const auto velocity = [&](const Channel& channel) {
      return clamp(causal ? past_velocity(channel, t) : channel.w[t], kVelocityLimit);
    };
    const double u = clamp(c.u[t], kValueLimit), w = velocity(c);
    Numbers x = {1, u, u * u, u * u * u, w, u * w, u * u * w, u * u * u * u * w};
    for (const Channel* other : others) {
      const double theirs = clamp(other->u[t], kValueLimit);
      x.insert(x.end(), {theirs, velocity(*other), theirs * theirs * theirs});
    }
    return x;
  };
  const auto columns = [&](int64_t t) { return any_columns(t, false); };
  const auto inside = [&](int64_t t) {
    return ramp(2 * (kValueLimit - std::fabs(c.u[t]))) * ramp(kVelocityLimit - std::fabs(c.w[t]));
  };
  const auto response = [&](int64_t t) { return c.a[t]; };
  Numbers& r = c.residual;
  r.assign(n, 0);
  const auto set_residual = [&](const Numbers& b) {
    for (int64_t t = begin; t < end; ++t) {
      r[t] = c.a[t];
      const Numbers x = columns(t);
      for (size_t i = 0; i < b.size(); ++i) r[t] -= b[i] * x[i];
    }
  };
  const Fit first = regress(begin, end, columns, inside, response, 0);
  const double floor = c.residual_floor = std::max(c.floor / c.unit.second, kOwnFloor * std::sqrt(first.unexplained));
  set_residual(first.b);
  const double first_scale = std::exp(log_moments(r, begin, end, floor).mean), scale = kResidualWeight * first_scale;
  const double limit = kResidualClip * first_scale;
  const double product = mean(begin + 1, end, [&](int64_t t) { return clamp(r[t], limit) * clamp(r[t - 1], limit); });
  const double squares = mean(begin + 1, end, [&](int64_t t) {
    return (std::pow(clamp(r[t], limit), 2) + std::pow(clamp(r[t - 1], limit), 2)) / 2;
  });
  const double rho = std::clamp<double>(product / (squares + 1e-36), 0, kMaxCorrelation);
  Numbers white(n);
  for (int64_t t = begin + 1; t < end; ++t) white[t] = r[t] - rho * r[t - 1];
  const double white_scale = kResidualWeight * std::exp(log_moments(white, begin + 1, end, floor).mean);
  const auto white_fit = [&](bool causal) {
    const auto white_columns = [&](int64_t t) {
      Numbers x = any_columns(t, causal);
      const Numbers before = any_columns(t - 1, causal);
      for (size_t i = 0; i < x.size(); ++i) x[i] -= rho * before[i];
      return x;
    };
    const auto weight = [&](int64_t t) {
      return inside(t) * inside(t - 1) / (1 + std::pow(white[t] / white_scale, 2));
    };
    return regress(
        begin + 1, end, white_columns, weight, [&](int64_t t) { return c.a[t] - rho * c.a[t - 1]; },
        first.unexplained * (1 - rho * rho));
  };
  const Fit fit = white_fit(false);
  put_coefficients(out, fit, 1);
  put_coefficients(out, white_fit(true), 1);
  set_residual(fit.b);
  // The dynamics near where this trajectory lives: linear about its own mean, in the second difference and in what is
  // left of it.
  const auto local_columns = [&](int64_t t) {
    const auto local = [&](const Channel& channel) {
      return clamp((channel.y[t] - channel.centre) / channel.unit.value, kValueLimit);
    };
    const double x = local(c);
    Numbers all = {1, x, clamp(c.w[t], kVelocityLimit), x * clamp(c.w[t], kVelocityLimit)};
    for (const Channel* other : others) {
      all.push_back(local(*other));
      all.push_back(clamp(other->w[t], kVelocityLimit));
      all.push_back(x * local(*other));
    }
    return all;
  };
  const auto local_weight = [&](int64_t t) {
    const double x = (c.y[t] - c.centre) / c.unit.value;
    return ramp(2 * (kValueLimit - std::fabs(x))) * ramp(kVelocityLimit - std::fabs(c.w[t])) /
           (1 + std::pow(r[t] / scale, 2));
  };
  const Fit near_mean = regress(begin, end, local_columns, local_weight, response, first.unexplained);
  const Fit left = regress(
      begin, end, local_columns, local_weight, [&](int64_t t) { return r[t]; }, first.unexplained);
  put_coefficients(out, near_mean, 1);
  for (int64_t t = begin; t < end; ++t)
    for (size_t i = 0; i < left.b.size(); ++i) r[t] -= left.b[i] * local_columns(t)[i];
}

// The distribution of the residual r, its autocorrelation, that of the noise added and of the noise that multiplies the
// value, and its roughness.
void put_residual(Output& out, Work& work, Subject at) {
  Channel& c = work.channels[at.first];
  const int64_t n = c.n, begin = 1, end = n - 1;
  Numbers& r = c.residual;
  const double g = put_distribution(out, r, begin, end, c.residual_floor, 1);
  Numbers u(n), weight(n), by_u(n), by_uu(n), r_weight(n), r_by_u(n);
  for (int64_t t = begin; t < end; ++t) {
    r[t] = clamp(r[t], kResidualClip * g);
    u[t] = clamp(c.u[t], kValueLimit);
    weight[t] = 1 / (kNoiseWeight + u[t] * u[t]);
    by_u[t] = weight[t] * u[t], by_uu[t] = by_u[t] * u[t];
    r_weight[t] = weight[t] * r[t], r_by_u[t] = by_u[t] * r[t];
  }
  const double square = lagged(r, r, begin, end, 0) + 1e-36;
  for (const int k : kResidualAutocorrelationLags) {
    if (lag_fits(k, end - begin)) out.put(lagged(r, r, begin, end, k) / square);
    else out.repeat(1);
  }
  // r = eta + u xi: E r(t) r(t-k) = C_eta(k) + u(t) u(t-k) C_xi(k), by weighted least squares for each k.
  for (const int k : kNoiseLags) {
    if (!lag_fits(k, end - begin)) {
      out.repeat(2);
      continue;
    }
    const auto product = [&](const Numbers& s) { return lagged(s, s, begin, end, k); };
    const TwoTerms c = two_terms(product(weight), product(by_u), product(by_uu), product(r_weight), product(r_by_u));
    out.put(std::asinh(4 * c.constant / square));
    out.put(std::asinh(4 * c.slope / square));
  }
  // The squared step q of the residual: its mean, with the weights u^2, W and W u^2, and its weighted fit by 1 and u^2.
  const auto q = [&](int64_t t) { return std::pow(r[t] - r[t - 1], 2) / square; };
  const auto xx = [&](int64_t t) { return u[t] * u[t]; };
  const auto W = [&](int64_t t) { return weight[t] * weight[t]; };
  const auto average = [&](auto f) { return mean(begin + 1, end, f); };
  const double Wq = average([&](int64_t t) { return W(t) * q(t); }),
               Wqx = average([&](int64_t t) { return W(t) * q(t) * xx(t); });
  const TwoTerms rough = two_terms(average(W), average([&](int64_t t) { return W(t) * xx(t); }),
                                   average([&](int64_t t) { return W(t) * xx(t) * xx(t); }), Wq, Wqx);
  out.put(0.5 * log_positive(square));
  for (const double x : {average(q), average([&](int64_t t) { return q(t) * xx(t); }), Wq, Wqx})
    out.put(std::log(x + 1e-12));
  for (const double b : {rough.constant, rough.slope})
    out.put(std::asinh(10 * b)), out.put(std::log(std::max(b, 1e-5)));
}

}  // namespace penn::reference
