/* First layer of a network that reads handwritten digits (Simard, Steinkraus, Platt 2003): six maps of 13 x 13 neurons, each of
 * which looks at 5 x 5 pixels of the image. A work-group per map and image, a thread per neuron. */
#define IMAGE 29 /* pixels along an edge */
#define MAPS 6
#define EDGE 13
#define TAPS 25

/* tanh as GPU libraries have it: a polynomial near zero, beyond it by the hardware's exponential and reciprocal. */
float hyperbolic_tangent(float x) {
    const float size = fabs(x), squared = x * x;
    if (size < 0.55f)
        return x + x * squared * (-0.33332796f + squared * (0.13312418f + squared * (-0.05205894f + squared * 0.01584f)));
    return copysign(1 - native_divide(2, 1 + native_exp(2 * size)), x);
}

/* taps: where the pixels of a neuron lie. */
#define LAYER(name, unroll)                                                                                            \
    kernel void name(global const float *images, global const float *weights, constant int *taps, global float *out) { \
        const int map = get_group_id(0), image = get_group_id(1), x = get_local_id(0), y = get_local_id(1);            \
        int weight = map * (TAPS + 1);                                                                                 \
        float sum = weights[weight++];                                                                                 \
        _Pragma(unroll) for (int i = 0; i < TAPS; i++)                                                                 \
            sum += images[2 * y * IMAGE + 2 * x + taps[i] + IMAGE * IMAGE * image] * weights[weight + i];              \
        out[EDGE * EDGE * map + y * EDGE + x + EDGE * EDGE * MAPS * image] =                                           \
            1.7159f * hyperbolic_tangent(0.66666667f * sum);                                                           \
    }

LAYER(layer_unrolled, "unroll 4")
LAYER(layer_rolled, "unroll 1")
// SPDX-License-Identifier: Apache-2.0
