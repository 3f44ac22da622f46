/* SPDX-License-Identifier: Apache-2.0 */
#include "mem/crossbar.h"

#include "base/bits.h"
#include "mem/crossbar_state.h"
#include "mem/link.h"

#define STAT(field, unit, help) STAT_ENTRY(struct crossbar_stats, field, unit, help)
#define RATIO(name, numerator, denominator, scale, unit, help)                                                         \
    RATIO_ENTRY(struct crossbar_stats, name, numerator, denominator, scale, unit, help)
const struct stat_description crossbar_stat_table[] = {
#include "mem/crossbar_stats.def"
    STAT_END};
#undef STAT
#undef RATIO

static const uint64_t MAX_MESSAGE_BYTES = UINT64_C(1) << 31; /* of all slots: they are named by 32 bits */

static void buffer_append(struct crossbar *x, struct buffer *buffer, uint32_t slot) {
    message_at(x, slot)->next = NO_MESSAGE;
    if (buffer->first == NO_MESSAGE)
        buffer->first = slot;
    else
        message_at(x, buffer->last)->next = slot;
    buffer->last = slot;
}

/* ---- creation ---- */

uint32_t crossbar_flits(const struct crossbar *x, uint32_t bytes) {
    uint64_t whole = (uint64_t)bytes + x->params.header_bytes;
    return whole <= x->params.flit_bytes ? 1 : (uint32_t)((whole + x->params.flit_bytes - 1) / x->params.flit_bytes);
}

static enum status shape_check(const struct crossbar *x, struct report *report) {
    const struct crossbar_shape *shape = &x->shape;
    if (shape->inputs == 0 || shape->outputs == 0 || shape->inputs > 65536 || shape->outputs > 65536)
        return report_add(report, STATUS_INVALID, "crossbar: %u inputs and %u outputs; each must be from 1 to 65536",
                          shape->inputs, shape->outputs);
    const char *small = x->params.input_buffer_flits < x->largest_flits    ? "crossbar.input_buffer_flits"
                        : x->params.output_buffer_flits < x->largest_flits ? "crossbar.output_buffer_flits"
                                                                           : NULL;
    if (small)
        return report_add(report, STATUS_INVALID,
                          "%s: the largest message has %u bytes, %u flits, and would never fit; raise it to %u or more",
                          small, shape->largest_message_bytes, x->largest_flits, x->largest_flits);
    return STATUS_OK;
}

/* A message at an input holds a flit of its queue's room at least, one at an output a flit of the output's. */
static uint64_t message_limit(const struct crossbar *x) {
    return (uint64_t)x->shape.inputs * x->queues_per_input * x->params.input_buffer_flits +
           (uint64_t)x->shape.outputs * x->params.output_buffer_flits;
}

static struct buffer *buffers_create(struct arena *arena, size_t count, uint32_t credits) {
    struct buffer *buffers = ARENA_ARRAY(arena, struct buffer, count);
    for (size_t i = 0; i < count; i++)
        buffers[i] = (struct buffer){NO_MESSAGE, NO_MESSAGE, credits};
    return buffers;
}

static void masks_create(struct crossbar *x, struct arena *arena) {
    size_t inputs = x->shape.inputs, outputs = x->shape.outputs;
    size_t input_words = x->input_words, output_words = x->output_words;
    x->active = ARENA_ARRAY(arena, uint64_t, input_words);
    x->freed = ARENA_ARRAY(arena, uint64_t, input_words);
    x->streams = ARENA_ARRAY(arena, uint64_t, input_words);
    x->ready = ARENA_ARRAY(arena, uint64_t, output_words);
    x->room = ARENA_ARRAY(arena, uint64_t, output_words);
    x->partial = ARENA_ARRAY(arena, uint64_t, output_words);
    x->partial_counts = ARENA_ARRAY(arena, uint32_t, outputs);
    for (uint32_t i = 0; i < outputs; i++)
        mask_set(x->room, i);
    x->used = ARENA_ARRAY(arena, uint32_t, inputs);
    x->grants = ARENA_ARRAY(arena, struct grant, outputs);
    x->matched_outputs = ARENA_ARRAY(arena, uint64_t, output_words);
    x->matched_inputs = ARENA_ARRAY(arena, uint64_t, x->ports * input_words);
    x->choice = ARENA_ARRAY(arena, uint64_t, output_words > input_words ? output_words : input_words);
    if (x->params.allocator == CROSSBAR_RANDOM) {
        x->requests = ARENA_ARRAY(arena, uint64_t, inputs * output_words);
        x->started = ARENA_ARRAY(arena, uint64_t, inputs * output_words);
        x->best = ARENA_ARRAY(arena, uint64_t, outputs);
        x->contested = ARENA_ARRAY(arena, uint32_t, outputs);
        return;
    }
    x->asking = ARENA_ARRAY(arena, uint64_t, outputs * input_words);
    x->begun = ARENA_ARRAY(arena, uint64_t, outputs * input_words);
    x->asked = ARENA_ARRAY(arena, uint64_t, output_words);
    x->granted = ARENA_ARRAY(arena, uint64_t, inputs * output_words);
    x->granted_inputs = ARENA_ARRAY(arena, uint64_t, input_words);
    x->grant_turns = ARENA_ARRAY(arena, uint32_t, outputs);
    x->accept_turns = ARENA_ARRAY(arena, uint32_t, inputs * x->ports);
}

enum status crossbar_create(struct crossbar **out, struct arena *arena, const struct crossbar_params *params,
                            const struct crossbar_shape *shape, struct report *report) {
    struct crossbar *x = ARENA_NEW(arena, struct crossbar);
    x->params = *params;
    x->shape = *shape;
    x->largest_flits = crossbar_flits(x, shape->largest_message_bytes);
    enum status status = shape_check(x, report);
    if (status != STATUS_OK)
        return status;
    x->ports = params->input_speedup;
    x->queues_per_input = params->queues == CROSSBAR_FIFO ? 1 : params->queues == CROSSBAR_SPLIT ? 2 : shape->outputs;
    x->output_words = (shape->outputs + 63) / 64;
    x->input_words = (shape->inputs + 63) / 64;
    bool split = x->ports == 2 && params->port_choice == CROSSBAR_PORT_SPLIT;
    x->port_masks[0] = split ? UINT64_C(0x5555555555555555) : UINT64_MAX;
    x->port_masks[1] = split ? UINT64_C(0xaaaaaaaaaaaaaaaa) : UINT64_MAX;
    x->single = params->queues == CROSSBAR_FIFO && x->ports == 1 && params->iterations == 1;
    x->streaming = params->hold && x->single;
    x->hold_mask = params->hold ? UINT64_MAX : 0;
    x->number_base = mix(mix(params->seed + MIX_STEP) + shape->stream * MIX_STEP);
    const uint64_t message_bytes = bits_round_up(offsetof(struct message, item) + (uint64_t)shape->item_bytes, 8);
    if (message_limit(x) > MAX_MESSAGE_BYTES / message_bytes)
        return report_add(report, STATUS_INVALID,
                          "crossbar: %u inputs and %u outputs with %u and %u flits of room are too many; lower "
                          "crossbar.input_buffer_flits or crossbar.output_buffer_flits",
                          shape->inputs, shape->outputs, params->input_buffer_flits, params->output_buffer_flits);
    masks_create(x, arena);
    x->queues = buffers_create(arena, (size_t)shape->inputs * x->queues_per_input, params->input_buffer_flits);
    x->outputs = buffers_create(arena, shape->outputs, params->output_buffer_flits);
    x->message_bytes = (uint32_t)message_bytes;
    x->messages = arena_alloc_unset(arena, (size_t)(message_limit(x) * message_bytes)); /* written when first used */
    x->free_messages = NO_MESSAGE;
    *out = x;
    return STATUS_OK;
}

/* ---- both ends ---- */

static uint32_t message_take(struct crossbar *x) {
    uint32_t slot = x->free_messages;
    if (slot == NO_MESSAGE) {
        slot = x->unused_messages;
        x->unused_messages += x->message_bytes;
        return slot;
    }
    x->free_messages = message_at(x, slot)->next;
    return slot;
}

static inline void request_set(struct crossbar *x, uint32_t input, uint32_t output) {
    if (!x->asking) {
        mask_set(x->requests + (size_t)input * x->output_words, output);
        return;
    }
    mask_set(x->asking + (size_t)output * x->input_words, input);
    mask_set(x->asked, output);
}

static inline void request_clear(struct crossbar *x, uint32_t input, uint32_t output) {
    if (!x->asking) {
        mask_clear(x->requests + (size_t)input * x->output_words, output);
        return;
    }
    uint64_t *asking = x->asking + (size_t)output * x->input_words, rest = 0;
    mask_clear(asking, input);
    for (uint32_t w = 0; w < x->input_words; w++)
        rest |= asking[w];
    if (!rest)
        mask_clear(x->asked, output);
}

/* A message of several flits begins to cross. A stream leaves the allocation. */
static inline void message_start(struct crossbar *x, uint32_t input, uint32_t output) {
    x->partial_counts[output]++;
    mask_set(x->partial, output);
    if (x->streaming) {
        mask_set(x->streams, input);
        x->stream_count++;
        request_clear(x, input, output);
    } else if (x->begun) {
        mask_set(x->begun + (size_t)output * x->input_words, input);
    } else {
        mask_set(x->started + (size_t)input * x->output_words, output);
    }
}

static inline void message_end(struct crossbar *x, uint32_t input, uint32_t output) {
    if (--x->partial_counts[output] == 0)
        mask_clear(x->partial, output);
    if (x->streaming) {
        mask_clear(x->streams, input);
        x->stream_count--;
    } else if (x->begun) {
        mask_clear(x->begun + (size_t)output * x->input_words, input);
    } else {
        mask_clear(x->started + (size_t)input * x->output_words, output);
    }
}

bool crossbar_room(const struct crossbar *x, uint32_t input, uint32_t output, uint32_t bytes) {
    return crossbar_flits(x, bytes) <= queue_of(x, input, output)->credits;
}

bool crossbar_push(struct crossbar *x, uint32_t input, uint32_t output, uint32_t bytes, const void *item) {
    struct buffer *queue = queue_of(x, input, output);
    uint32_t flits = crossbar_flits(x, bytes);
    if (flits > queue->credits || flits > x->largest_flits)
        return false;
    queue->credits -= flits;
    uint32_t slot = message_take(x);
    struct message *message = message_at(x, slot);
    message->output = output;
    message->bytes = bytes;
    message->flits = message->flits_left = flits;
    link_copy(message->item, item, x->shape.item_bytes);
    if (queue->first == NO_MESSAGE) {
        request_set(x, input, output);
        if (!x->used[input]++) {
            mask_set(x->active, input);
            x->active_inputs++;
        }
        x->wake = true;
    }
    buffer_append(x, queue, slot);
    x->stats.messages_in++;
    x->stats.bytes_in += bytes;
    x->stats.flits_in += flits;
    return true;
}

const void *crossbar_peek(const struct crossbar *x, uint32_t output, uint32_t *bytes) {
    uint32_t slot = x->outputs[output].first;
    if (slot == NO_MESSAGE)
        return NULL;
    const struct message *message = message_at(x, slot);
    if (bytes)
        *bytes = message->bytes;
    return message->item;
}

bool crossbar_pop(struct crossbar *x, uint32_t output) {
    struct buffer *buffer = &x->outputs[output];
    uint32_t slot = buffer->first;
    if (slot == NO_MESSAGE)
        return false;
    struct message *message = message_at(x, slot);
    buffer->first = message->next;
    if (buffer->first == NO_MESSAGE)
        mask_clear(x->ready, output);
    buffer->credits += message->flits;
    if (buffer->credits >= x->largest_flits && !mask_test(x->room, output)) {
        mask_set(x->room, output);
        x->wake = true;
    }
    x->stats.messages_out++;
    x->stats.bytes_out += message->bytes;
    x->stats.flits_out += message->flits;
    message->next = x->free_messages;
    x->free_messages = slot;
    return true;
}

uint64_t crossbar_ready(const struct crossbar *x, uint32_t word) { return x->ready[word]; }

uint64_t crossbar_freed(struct crossbar *x, uint32_t word) {
    uint64_t freed = x->freed[word];
    x->freed[word] = 0;
    return freed;
}

/* ---- crossing ---- */

/* The message's last flit has crossed: it is whole at the output, and the next of its queue asks. */
static inline void message_arrive(struct crossbar *x, struct buffer *queue, uint32_t input, uint32_t output) {
    uint32_t slot = queue->first;
    struct message *message = message_at(x, slot);
    const bool asks = !x->streaming || message->flits == 1;
    if (message->flits > 1)
        message_end(x, input, output);
    queue->first = message->next;
    buffer_append(x, &x->outputs[output], slot);
    mask_set(x->ready, output);
    uint32_t next_output = queue->first == NO_MESSAGE ? NO_MESSAGE : message_at(x, queue->first)->output;
    if (asks && next_output == output)
        return;
    if (asks)
        request_clear(x, input, output);
    if (next_output != NO_MESSAGE) {
        request_set(x, input, next_output);
        return;
    }
    if (!--x->used[input]) {
        mask_clear(x->active, input);
        x->active_inputs--;
    }
}

/* False: the output is full and the grant is lost. */
static inline bool flit_cross(struct crossbar *x, uint32_t input, uint32_t output) {
    struct buffer *queue = queue_of(x, input, output);
    struct message *message = message_at(x, queue->first);
    if (message->flits_left == message->flits) {
        if (!mask_test(x->room, output))
            return false;
        struct buffer *buffer = &x->outputs[output];
        buffer->credits -= message->flits;
        if (buffer->credits < x->largest_flits)
            mask_clear(x->room, output);
        if (message->flits > 1)
            message_start(x, input, output);
    }
    queue->credits++;
    mask_set(x->freed, input);
    if (--message->flits_left == 0)
        message_arrive(x, queue, input, output);
    return true;
}

/* The next flit of every stream that began before this cycle. */
static void streams_cross(struct crossbar *x) {
    for (uint32_t w = 0; w < x->input_words; w++) {
        x->freed[w] |= x->streams[w];
        for (uint64_t rest = x->streams[w]; rest; rest &= rest - 1) {
            const uint32_t input = w * 64 + bits_first64(rest);
            struct buffer *queue = &x->queues[input];
            struct message *message = message_at(x, queue->first);
            queue->credits++;
            if (--message->flits_left)
                continue;
            message_arrive(x, queue, input, message->output);
            x->wake = true;
        }
    }
}

/* ---- time ---- */

uint64_t crossbar_next(const struct crossbar *x) {
    return x->stream_count || (x->wake && x->active_inputs) ? x->next_cycle : NO_CYCLE;
}

void crossbar_advance(struct crossbar *x, uint64_t cycle) {
    if (cycle < x->next_cycle)
        return;
    if (x->was_waiting) {
        /* slept since, with every request blocked */
        x->stats.busy_cycles += cycle - x->next_cycle;
        x->stats.blocked_cycles += cycle - x->next_cycle;
    }
    x->next_cycle = cycle + 1;
    if (x->active_inputs) {
        uint64_t crossed = x->stream_count;
        x->grant_count = 0;
        if (x->wake)
            x->wake = crossbar_allocate(x, cycle);
        if (x->stream_count)
            streams_cross(x);
        for (uint32_t i = 0; i < x->grant_count; i++)
            crossed += flit_cross(x, x->grants[i].input, x->grants[i].output);
        x->stats.busy_cycles++;
        x->stats.blocked_cycles += crossed == 0;
        x->stats.flits_crossed += crossed;
    }
    x->was_waiting = x->active_inputs != 0;
}

bool crossbar_busy(const struct crossbar *x) { return x->stats.messages_in != x->stats.messages_out; }

uint64_t crossbar_drain(struct crossbar *x, uint64_t cycle) {
    for (uint64_t next; (next = crossbar_next(x)) != NO_CYCLE; cycle = cycle + 1) {
        if (cycle < next)
            cycle = next;
        crossbar_advance(x, cycle);
    }
    return cycle;
}

const struct crossbar_stats *crossbar_stats(const struct crossbar *x) { return &x->stats; }

/* ---- checks ---- */

struct contents {
    uint64_t messages, bytes, flits;
};

/* `*partial`: flits of the first message that have left the buffer. */
static struct contents buffer_contents(const struct crossbar *x, const struct buffer *buffer, uint64_t *partial) {
    struct contents contents = {0};
    *partial = 0;
    for (uint32_t slot = buffer->first; slot != NO_MESSAGE; slot = message_at(x, slot)->next) {
        const struct message *message = message_at(x, slot);
        contents.messages++;
        contents.bytes += message->bytes;
        contents.flits += message->flits;
        if (slot == buffer->first)
            *partial = message->flits_left ? message->flits - message->flits_left : 0;
    }
    return contents;
}

static void contents_add(struct contents *into, struct contents from) {
    into->messages += from.messages;
    into->bytes += from.bytes;
    into->flits += from.flits;
}

bool crossbar_conserves(const struct crossbar *x) {
    struct contents inside = {0};
    uint64_t partial, partials = 0, output_used = 0, output_credits = 0;
    bool right = true;
    for (size_t i = 0; i < (size_t)x->shape.inputs * x->queues_per_input; i++) {
        struct contents contents = buffer_contents(x, &x->queues[i], &partial);
        contents_add(&inside, contents);
        right &= contents.flits - partial + x->queues[i].credits == x->params.input_buffer_flits;
        partials += partial;
        if (partial)
            output_used += message_at(x, x->queues[i].first)->flits;
    }
    uint64_t at_inputs = inside.flits - partials;
    for (uint32_t i = 0; i < x->shape.outputs; i++) {
        struct contents contents = buffer_contents(x, &x->outputs[i], &partial);
        contents_add(&inside, contents);
        output_used += contents.flits;
        output_credits += x->outputs[i].credits;
        right &= x->outputs[i].credits <= x->params.output_buffer_flits;
        right &= (x->outputs[i].credits >= x->largest_flits) == mask_test(x->room, i);
    }
    const struct crossbar_stats *stats = &x->stats;
    return right && output_used + output_credits == (uint64_t)x->shape.outputs * x->params.output_buffer_flits &&
           stats->messages_in == stats->messages_out + inside.messages &&
           stats->bytes_in == stats->bytes_out + inside.bytes && stats->flits_in == stats->flits_out + inside.flits &&
           stats->flits_in == stats->flits_crossed + at_inputs;
}
