/* A neural network that reads handwritten digits (the layout of Simard, Steinkraus, Platt 2003): two convolutions of 5 x 5 that
 * halve the image, two layers in which everything is tied to everything. A work-group per image and map, or per image. */
#define IMAGE 29 /* pixels along an edge */
#define MAPS1 6
#define EDGE1 13
#define MAPS2 50
#define EDGE2 5
#define NEURONS3 100
#define DIGITS 10

/* A rational function near tanh, 1.7159 tanh(2 x / 3) as in LeCun's papers. */
float activation(float x) {
    const float y = clamp(0.66666667f * x, -3.0f, 3.0f), squared = y * y;
    return 1.7159f * y * (27.0f + squared) / (27.0f + 9.0f * squared);
}

kernel void layer1(global const float *images, global const float *weights, global float *out) {
    const int map = get_group_id(0), image = get_group_id(1), x = get_local_id(0), y = get_local_id(1);
    global const float *pixels = images + image * IMAGE * IMAGE, *w = weights + map * 26;
    float sum = w[0];
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 5; j++)
            sum += pixels[(2 * y + i) * IMAGE + 2 * x + j] * w[1 + 5 * i + j];
    out[((image * MAPS1 + map) * EDGE1 + y) * EDGE1 + x] = activation(sum);
}

kernel void layer2(global const float *in, global const float *weights, global float *out) {
    const int map = get_group_id(0), image = get_group_id(1), x = get_local_id(0), y = get_local_id(1);
    global const float *w = weights + map * (1 + 25 * MAPS1);
    float sum = w[0];
    for (int from = 0; from < MAPS1; from++) {
        global const float *pixels = in + (image * MAPS1 + from) * EDGE1 * EDGE1;
        for (int i = 0; i < 5; i++)
            for (int j = 0; j < 5; j++)
                sum += pixels[(2 * y + i) * EDGE1 + 2 * x + j] * w[1 + 25 * from + 5 * i + j];
    }
    out[((image * MAPS2 + map) * EDGE2 + y) * EDGE2 + x] = activation(sum);
}

kernel void full(global const float *in, global const float *weights, global float *out, int inputs, int outputs) {
    const int neuron = get_local_id(0), image = get_group_id(0);
    if (neuron >= outputs)
        return;
    global const float *w = weights + neuron * (1 + inputs);
    float sum = w[0];
    for (int i = 0; i < inputs; i++)
        sum += in[image * inputs + i] * w[1 + i];
    out[image * outputs + neuron] = activation(sum);
}

/* Of each image, the digit whose neuron is most active. */
kernel void classify(global const float *in, uint images, global uint *digits) {
    const uint image = get_global_id(0);
    if (image >= images)
        return;
    uint best = 0;
    for (uint digit = 1; digit < DIGITS; digit++)
        if (in[image * DIGITS + digit] > in[image * DIGITS + best])
            best = digit;
    digits[image] = best;
}
// SPDX-License-Identifier: Apache-2.0
