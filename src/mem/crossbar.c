/* SPDX-License-Identifier: Apache-2.0 */
#include "mem/crossbar.h"

#include <stdalign.h>

#include "base/bits.h"
#include "mem/allocator/allocator.h"
#include "mem/link.h"

#define NO_MESSAGE UINT32_MAX

/* A message stays in its slot from push to pop; buffers are lists of slots and counts of flits. A slot is named by where it
 * begins in `messages`, so that it is found without multiplying. */
struct message {
    uint32_t next; /* in its buffer, or in the list of free slots */
    uint32_t output, bytes;
    uint32_t flits, flits_left; /* left: those that have not crossed */
    alignas(8) unsigned char item[];
};

struct buffer {
    alignas(16) uint32_t first;
    uint32_t last;    /* slots; NO_MESSAGE when empty */
    uint32_t credits; /* flits of room */
};

struct crossbar {
    struct crossbar_params params;
    struct crossbar_shape shape;
    uint32_t queues_per_input, largest_flits;
    struct matching view; /* what its allocator sees, and the grants of a cycle */
    allocate_function *allocate;
    void *allocator; /* its state */

    uint64_t next_cycle; /* the first not advanced through */
    bool wake;           /* something changed since a cycle in which nothing could cross */
    bool was_waiting;    /* flits were left at inputs by the last cycle advanced through */
    uint32_t active_inputs;
    uint64_t *freed; /* inputs, see crossbar_freed */
    uint64_t *ready; /* outputs with a whole message */
    uint32_t *used;  /* [input]: queues with a message */
    /* With `hold` and one queue and port, nobody can come between the flits of a message once the first has crossed: the
     * others follow one a cycle. Such an input is in `streams` and asks for nothing. */
    bool streaming;
    uint64_t *streams;
    uint32_t stream_count;
    struct buffer *queues; /* [input][queue] */
    struct buffer *outputs;
    uint32_t *partial_counts; /* [output] */

    unsigned char *messages;
    uint32_t message_bytes;                  /* of a slot */
    uint32_t unused_messages, free_messages; /* slots never used yet begin here; list of slots given back */
    struct crossbar_stats stats;
};

static inline struct message *message_at(const struct crossbar *x, uint32_t slot) {
    return (struct message *)(void *)(x->messages + slot);
}

static inline struct buffer *queue_of(const struct crossbar *x, uint32_t input, uint32_t output) {
    uint32_t queue = x->params.queues == CROSSBAR_FIFO ? 0 : x->params.queues == CROSSBAR_SPLIT ? output & 1 : output;
    return &x->queues[input * x->queues_per_input + queue];
}

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

/* What an allocator needs to know of the crossbar, which asks for nothing yet. */
static void view_create(struct crossbar *x, struct arena *arena, const struct allocator_ops *allocator) {
    const struct crossbar_params *params = &x->params;
    const bool split = params->input_speedup == 2 && params->port_choice == CROSSBAR_PORT_SPLIT;
    x->view = (struct matching){
        .inputs = x->shape.inputs,
        .outputs = x->shape.outputs,
        .ports = params->input_speedup,
        .iterations = params->iterations,
        .port_masks = {split ? UINT64_C(0x5555555555555555) : UINT64_MAX,
                       split ? UINT64_C(0xaaaaaaaaaaaaaaaa) : UINT64_MAX},
        .hold_mask = params->hold ? UINT64_MAX : 0,
        .seed = params->seed,
        .stream = x->shape.stream,
        .single = params->queues == CROSSBAR_FIFO && params->input_speedup == 1 && params->iterations == 1,
    };
    matching_create(&x->view, arena, allocator);
    x->allocator = allocator->create(arena, &x->view);
    x->allocate = allocator_function(allocator, &x->view);
    x->streaming = params->hold && x->view.single;
    x->freed = ARENA_ARRAY(arena, uint64_t, x->view.input_words);
    x->streams = ARENA_ARRAY(arena, uint64_t, x->view.input_words);
    x->ready = ARENA_ARRAY(arena, uint64_t, x->view.output_words);
    x->partial_counts = ARENA_ARRAY(arena, uint32_t, x->shape.outputs);
    x->used = ARENA_ARRAY(arena, uint32_t, x->shape.inputs);
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
    const struct allocator_ops *allocator = allocator_find(params->allocator, report);
    if (!allocator)
        return STATUS_INVALID;
    x->queues_per_input = params->queues == CROSSBAR_FIFO ? 1 : params->queues == CROSSBAR_SPLIT ? 2 : shape->outputs;
    const uint64_t message_bytes = bits_round_up(offsetof(struct message, item) + (uint64_t)shape->item_bytes, 8);
    if (message_limit(x) > MAX_MESSAGE_BYTES / message_bytes)
        return report_add(report, STATUS_INVALID,
                          "crossbar: %u inputs and %u outputs with %u and %u flits of room are too many; lower "
                          "crossbar.input_buffer_flits or crossbar.output_buffer_flits",
                          shape->inputs, shape->outputs, params->input_buffer_flits, params->output_buffer_flits);
    view_create(x, arena, allocator);
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

/* A message of several flits begins to cross. A stream leaves the allocation. */
static inline void message_start(struct crossbar *x, uint32_t input, uint32_t output) {
    x->partial_counts[output]++;
    mask_set(x->view.partial, output);
    if (!x->streaming) {
        matching_begin(&x->view, input, output);
        return;
    }
    mask_set(x->streams, input);
    x->stream_count++;
    matching_withdraw(&x->view, input, output);
}

static inline void message_end(struct crossbar *x, uint32_t input, uint32_t output) {
    if (--x->partial_counts[output] == 0)
        mask_clear(x->view.partial, output);
    if (!x->streaming) {
        matching_end(&x->view, input, output);
        return;
    }
    mask_clear(x->streams, input);
    x->stream_count--;
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
        matching_ask(&x->view, input, output);
        if (!x->used[input]++) {
            mask_set(x->view.active, input);
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
    if (buffer->credits >= x->largest_flits && !mask_test(x->view.room, output)) {
        mask_set(x->view.room, output);
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
        matching_withdraw(&x->view, input, output);
    if (next_output != NO_MESSAGE) {
        matching_ask(&x->view, input, next_output);
        return;
    }
    if (!--x->used[input]) {
        mask_clear(x->view.active, input);
        x->active_inputs--;
    }
}

/* False: the output is full and the grant is lost. */
static inline bool flit_cross(struct crossbar *x, uint32_t input, uint32_t output) {
    struct buffer *queue = queue_of(x, input, output);
    struct message *message = message_at(x, queue->first);
    if (message->flits_left == message->flits) {
        if (!mask_test(x->view.room, output))
            return false;
        struct buffer *buffer = &x->outputs[output];
        buffer->credits -= message->flits;
        if (buffer->credits < x->largest_flits)
            mask_clear(x->view.room, output);
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
    for (uint32_t w = 0; w < x->view.input_words; w++) {
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
        if (x->wake)
            x->wake = matching_fill(&x->view, x->allocate, x->allocator, cycle);
        else
            x->view.grant_count = 0;
        if (x->stream_count)
            streams_cross(x);
        for (uint32_t i = 0; i < x->view.grant_count; i++)
            crossed += flit_cross(x, x->view.grants[i].input, x->view.grants[i].output);
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
        right &= (x->outputs[i].credits >= x->largest_flits) == mask_test(x->view.room, i);
    }
    const struct crossbar_stats *stats = &x->stats;
    return right && output_used + output_credits == (uint64_t)x->shape.outputs * x->params.output_buffer_flits &&
           stats->messages_in == stats->messages_out + inside.messages &&
           stats->bytes_in == stats->bytes_out + inside.bytes && stats->flits_in == stats->flits_out + inside.flits &&
           stats->flits_in == stats->flits_crossed + at_inputs;
}
