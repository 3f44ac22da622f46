/* SPDX-License-Identifier: Apache-2.0 */
/* Host side of Black-Scholes: options as the CUDA sample draws them, priced once more in double precision with the
 * error function of the C library. */
#include "workload.h"

#include <math.h>

static double normal(double d) { return 0.5 * erfc(-d * 0.70710678118654752440); }

static void blackscholes(struct workload *w) {
    const uint32_t options = (uint32_t[]){2048, 73728, 1 << 19}[w->size];
    const float rate = 0.02f, volatility = 0.30f;
    float *price = WORKLOAD_NEW(w, float, options), *strike = WORKLOAD_NEW(w, float, options);
    float *years = WORKLOAD_NEW(w, float, options), *call = WORKLOAD_NEW(w, float, options);
    float *put = WORKLOAD_NEW(w, float, options), *expected = WORKLOAD_NEW(w, float, options);
    struct random r = {5347};
    for (uint32_t i = 0; i < options; i++) {
        price[i] = 5 + 25 * random_unit(&r);
        strike[i] = 1 + 99 * random_unit(&r);
        years[i] = 0.25f + 9.75f * random_unit(&r);
    }
    const size_t bytes = options * sizeof *price, block = workload_block(w, w->size == SIZE_TEST ? 128 : 768);
    const size_t global = workload_round_up(options, block);
    cl_mem prices = workload_buffer(w, bytes, price), strikes = workload_buffer(w, bytes, strike);
    cl_mem times = workload_buffer(w, bytes, years), calls = workload_buffer(w, bytes, NULL);
    cl_mem puts = workload_buffer(w, bytes, NULL);
    workload_launch(w, "blackscholes", 1, &global, &block, ARGUMENT(prices), ARGUMENT(strikes), ARGUMENT(times),
                    ARGUMENT(calls), ARGUMENT(puts), ARGUMENT(options), ARGUMENT(rate), ARGUMENT(volatility));
    workload_read(w, calls, bytes, call);
    workload_read(w, puts, bytes, put);

    /* In single precision a difference of products up to 100 is off by a few units of 2^-18, and d1 and the discount by
     * as many in the last place; the distribution adds 30 * 7.5e-8. */
    const double tolerance = 5e-5;
    const double drift = (double)rate + 0.5 * (double)volatility * (double)volatility;
    for (unsigned side = 0; side < 2; side++) {
        const double sign = side ? -1 : 1;
        for (uint32_t i = 0; i < options; i++) {
            const double s = (double)price[i], x = (double)strike[i], t = (double)years[i];
            const double spread = (double)volatility * sqrt(t), d = (log(s / x) + drift * t) / spread;
            const double value = s * normal(sign * d) - x * exp(-(double)rate * t) * normal(sign * (d - spread));
            expected[i] = (float)(sign * value);
        }
        workload_close_f32(w, side ? "put" : "call", side ? put : call, expected, options, tolerance);
    }
}

int main(int argc, char **argv) { return workload_main(argc, argv, "blackscholes", NULL, blackscholes); }
