// Asymmetric alpha-stable white noise: `stable(alpha, beta)`.
//
// The driving process L(t) has E exp(ikL(t)) = exp(t psi(k)) with Nolan's parameterisation S0 over unit time,
//   psi(k) = -|k|^alpha [1 + i beta sign(k) tan(pi alpha/2) (|k|^(1-alpha) - 1)],
//   psi(k) = -|k| [1 + i beta sign(k) (2/pi) ln|k|]  at alpha = 1,
// which is continuous in alpha and beta everywhere: alpha = 1 is no border for inference. Increments over h have the
// exponent h psi(k), so two of them over h/2 add up to one over h, as they must.
#pragma once

#include "penn/noise/noise_type.h"

namespace penn {

const NoiseType& asymmetric_stable_noise();

}  // namespace penn
