/* Black-Scholes prices of European options: a thread prices one. Exponential and logarithm are subroutines in software,
 * with the reductions, special cases and two-way ends of a portable C library (the algorithms of fdlibm, in single
 * precision): they branch on their arguments. */
#define LN2_HIGH 0x1.62e3p-1f /* with 8 zero bits at the end: times a small integer it is exact */
#define LN2_LOW 0x1.2fefa2p-17f
#define LN2 0x1.62e43p-1f

float soft_exp(float x) {
    const float size = fabs(x);
    float high = x, low = 0;
    int k = 0;
    if (size > 0.5f * LN2) {
        if (x > 88.7228f)
            return INFINITY;
        if (x < -103.972f)
            return 0;
        if (size < 1.5f * LN2)
            k = x < 0 ? -1 : 1;
        else
            k = (int)(x / LN2 + (x < 0 ? -0.5f : 0.5f));
        high = x - k * LN2_HIGH;
        low = k * LN2_LOW;
        x = high - low;
    } else if (size < 0x1p-14f) {
        return 1 + x;
    }
    const float t = x * x;
    const float c = x - t * (0x1.555556p-3f + t * (-0x1.6c16c2p-9f + t * (0x1.1566aap-14f + t * -0x1.bbd41cp-20f)));
    if (k == 0)
        return 1 - (x * c / (c - 2) - x);
    const float y = 1 - (low - x * c / (2 - c) - high);
    if (k < -125)
        return as_float(as_int(y) + ((k + 100) << 23)) * 0x1p-100f;
    if (k == 128)
        return y * 2 * 0x1p127f;
    return as_float(as_int(y) + (k << 23));
}

float soft_log(float x) {
    int bits = as_int(x), k = 0;
    if (bits < 0x00800000) {
        if ((bits & 0x7fffffff) == 0)
            return -INFINITY;
        if (bits < 0)
            return NAN;
        k = -25;
        bits = as_int(x * 0x1p25f);
    }
    if (bits >= 0x7f800000)
        return x;
    k += (bits >> 23) - 127;
    bits &= 0x007fffff;
    const int halved = (bits + 0x4afb20) & 0x800000; /* mantissas above the root of 2 are halved */
    k += halved >> 23;
    const float f = as_float(bits | (halved ^ 0x3f800000)) - 1;
    if (((bits + 15) & 0x007fffff) < 16) { /* |f| < 2^-20 */
        if (f == 0)
            return k == 0 ? 0 : k * LN2_HIGH + k * LN2_LOW;
        const float r = f * f * (0.5f - f / 3);
        if (k == 0)
            return f - r;
        return k * LN2_HIGH - (r - k * LN2_LOW - f);
    }
    const float s = f / (2 + f), z = s * s, w = z * z;
    const float even = w * (0x1.99999ap-2f + w * (0x1.c71c52p-3f + w * 0x1.39a09ep-3f));
    const float odd = z * (0x1.555556p-1f + w * (0x1.24924ap-2f + w * (0x1.74664ap-3f + w * 0x1.2f112ep-3f)));
    const float r = even + odd;
    if (bits > 0x30a3d0 && bits < 0x35c288) { /* where f * f / 2 would cancel too much */
        const float h = 0.5f * f * f;
        if (k == 0)
            return f - (h - s * (h + r));
        return k * LN2_HIGH - (h - (s * (h + r) + k * LN2_LOW) - f);
    }
    if (k == 0)
        return f - s * (f - r);
    return k * LN2_HIGH - (s * (f - r) - k * LN2_LOW - f);
}

/* The normal distribution (Abramowitz, Stegun, 26.2.17): off by less than 7.5e-8. */
float normal(float d) {
    const float k = 1 / (1 + 0.2316419f * fabs(d));
    const float p =
        k * (0.319381530f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
    const float tail = 0.39894228f * soft_exp(-0.5f * d * d) * p;
    if (d > 0)
        return 1 - tail;
    return tail;
}

kernel void blackscholes(global const float *price, global const float *strike, global const float *years,
                         global float *call, global float *put, uint options, float rate, float volatility) {
    const uint i = get_global_id(0);
    if (i >= options)
        return;
    const float s = price[i], x = strike[i], t = years[i];
    const float spread = volatility * sqrt(t);
    const float d1 = (soft_log(s / x) + (rate + 0.5f * volatility * volatility) * t) / spread;
    const float in_1 = normal(d1), in_2 = normal(d1 - spread);
    const float discounted = x * soft_exp(-rate * t);
    call[i] = s * in_1 - discounted * in_2;
    put[i] = discounted * (1 - in_2) - s * (1 - in_1);
}
// SPDX-License-Identifier: Apache-2.0
