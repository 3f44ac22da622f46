#include "mem/crossbar.h"

#include <stdalign.h>
#include <string.h>

#include "base/bits.h"

#define NO_MESSAGE UINT32_MAX
static const uint64_t MAX_MESSAGES = UINT64_C(1) << 28;

/* A message stays in its slot from push to pop; buffers are lists of slots and counts of flits. */
struct message {
    uint32_t next; /* in its buffer, or in the list of free slots */
    uint32_t output, bytes;
    uint32_t flits, flits_left; /* left: those that have not crossed */
    alignas(8) unsigned char item[];
};

struct buffer {
    uint32_t first, last; /* slots; NO_MESSAGE when empty */
    uint32_t credits;     /* flits of room */
};

struct grant {
    uint32_t input, output;
};

/* Masks over outputs have `output_words` words, masks over inputs `input_words`. At most one queue of an input asks for
 * an output, so (input, output) names a request. */
struct crossbar {
    struct crossbar_params params;
    struct crossbar_shape shape;
    uint32_t ports, queues_per_input, output_words, input_words, largest_flits;
    uint64_t port_masks[2]; /* the outputs a port serves, in each word */
    uint64_t number_base;   /* of the random numbers */

    uint64_t next_cycle; /* the first not advanced through */
    bool wake;           /* something changed since a cycle in which nothing could cross */
    bool was_waiting;    /* flits were left at inputs by the last cycle advanced through */
    uint32_t active_inputs;
    uint64_t *active;      /* inputs that ask for anything */
    uint64_t *freed;       /* inputs, see crossbar_freed */
    uint64_t *ready;       /* outputs with a whole message */
    uint64_t *room;        /* outputs that the largest message fits in */
    uint64_t *held;        /* outputs between the first and last flit of a message; with `hold` only */
    uint64_t *requests;    /* [input]: outputs asked for */
    uint64_t *started;     /* [input]: those of them whose message has begun to cross */
    struct buffer *queues; /* [input][queue] */
    struct buffer *outputs;

    /* a cycle's allocation; between cycles `best` is 0 */
    struct grant *grants;
    uint32_t grant_count;
    uint64_t *best;             /* random, [output]: draw << 32 | port + 1 of the winner so far */
    uint32_t *contested;        /* random: outputs with a best */
    uint64_t *matched_outputs;  /* cleared at each cycle when there are several passes */
    uint64_t *matched_inputs;   /* [port] */
    uint64_t *choice;           /* one mask over outputs or inputs */
    uint64_t *asking, *begun;   /* islip, [output]: inputs, the transpose of requests and started */
    uint64_t *asked;            /* islip: outputs with a request */
    uint64_t *granted;          /* islip, [input]: outputs; between cycles 0 */
    uint64_t *granted_inputs;   /* islip: inputs with a grant; between cycles 0 */
    uint32_t *grant_turns;      /* islip, [output]: the input first in turn */
    uint32_t *accept_turns;     /* islip, [input][port]: the output first in turn */

    unsigned char *messages;
    uint64_t message_bytes; /* of a slot */
    uint32_t unused_messages, free_messages; /* slots never used yet begin here; list of slots given back */
    struct crossbar_stats stats;
};

static inline void mask_set(uint64_t *mask, uint32_t n) { mask[n / 64] |= UINT64_C(1) << n % 64; }
static inline void mask_clear(uint64_t *mask, uint32_t n) { mask[n / 64] &= ~(UINT64_C(1) << n % 64); }
static inline bool mask_test(const uint64_t *mask, uint32_t n) { return (mask[n / 64] >> n % 64 & 1) != 0; }

static inline struct message *message_at(const struct crossbar *x, uint32_t slot) {
    return (struct message *)(void *)(x->messages + slot * x->message_bytes);
}

static inline struct buffer *queue_of(const struct crossbar *x, uint32_t input, uint32_t output) {
    uint32_t queue = x->params.queues == CROSSBAR_FIFO ? 0 : x->params.queues == CROSSBAR_SPLIT ? output & 1 : output;
    return &x->queues[input * x->queues_per_input + queue];
}

/* The finalizer of splitmix64: every bit of the result depends on every bit of n. */
static inline uint64_t mix(uint64_t n) {
    n = (n ^ n >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    n = (n ^ n >> 27) * UINT64_C(0x94d049bb133111eb);
    return n ^ n >> 31;
}

#define MIX_STEP UINT64_C(0x9e3779b97f4a7c15)

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
    x->ready = ARENA_ARRAY(arena, uint64_t, output_words);
    x->room = ARENA_ARRAY(arena, uint64_t, output_words);
    x->held = ARENA_ARRAY(arena, uint64_t, output_words);
    for (uint32_t i = 0; i < outputs; i++)
        mask_set(x->room, i);
    x->requests = ARENA_ARRAY(arena, uint64_t, inputs * output_words);
    x->started = ARENA_ARRAY(arena, uint64_t, inputs * output_words);
    x->grants = ARENA_ARRAY(arena, struct grant, outputs);
    x->matched_outputs = ARENA_ARRAY(arena, uint64_t, output_words);
    x->matched_inputs = ARENA_ARRAY(arena, uint64_t, x->ports * input_words);
    x->choice = ARENA_ARRAY(arena, uint64_t, output_words > input_words ? output_words : input_words);
    if (x->params.allocator == CROSSBAR_RANDOM) {
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
    x->number_base = mix(mix(params->seed + MIX_STEP) + shape->stream * MIX_STEP);
    x->message_bytes = bits_round_up(offsetof(struct message, item) + (uint64_t)shape->item_bytes, 8);
    if (message_limit(x) > MAX_MESSAGES)
        return report_add(report, STATUS_INVALID,
                          "crossbar: %u inputs and %u outputs with %u and %u flits of room are too many; lower "
                          "crossbar.input_buffer_flits or crossbar.output_buffer_flits",
                          shape->inputs, shape->outputs, params->input_buffer_flits, params->output_buffer_flits);
    masks_create(x, arena);
    x->queues = buffers_create(arena, (size_t)shape->inputs * x->queues_per_input, params->input_buffer_flits);
    x->outputs = buffers_create(arena, shape->outputs, params->output_buffer_flits);
    x->messages = arena_calloc(arena, (size_t)message_limit(x), (size_t)x->message_bytes);
    x->free_messages = NO_MESSAGE;
    *out = x;
    return STATUS_OK;
}

/* ---- both ends ---- */

static uint32_t message_take(struct crossbar *x) {
    uint32_t slot = x->free_messages;
    if (slot == NO_MESSAGE)
        return x->unused_messages++;
    x->free_messages = message_at(x, slot)->next;
    return slot;
}

static void request_set(struct crossbar *x, uint32_t input, uint32_t output) {
    mask_set(x->requests + (size_t)input * x->output_words, output);
    if (x->asking) {
        mask_set(x->asking + (size_t)output * x->input_words, input);
        mask_set(x->asked, output);
    }
}

static void request_clear(struct crossbar *x, uint32_t input, uint32_t output) {
    mask_clear(x->requests + (size_t)input * x->output_words, output);
    if (x->asking) {
        uint64_t *asking = x->asking + (size_t)output * x->input_words;
        mask_clear(asking, input);
        uint64_t rest = 0;
        for (uint32_t w = 0; w < x->input_words; w++)
            rest |= asking[w];
        if (!rest)
            mask_clear(x->asked, output);
    }
}

static void started_set(struct crossbar *x, uint32_t input, uint32_t output) {
    mask_set(x->started + (size_t)input * x->output_words, output);
    if (x->begun)
        mask_set(x->begun + (size_t)output * x->input_words, input);
    if (x->params.hold)
        mask_set(x->held, output);
}

static void started_clear(struct crossbar *x, uint32_t input, uint32_t output) {
    mask_clear(x->started + (size_t)input * x->output_words, output);
    if (x->begun)
        mask_clear(x->begun + (size_t)output * x->input_words, input);
    mask_clear(x->held, output);
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
    memcpy(message->item, item, x->shape.item_bytes);
    if (queue->first == NO_MESSAGE) {
        request_set(x, input, output);
        if (!mask_test(x->active, input)) {
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
static void message_arrive(struct crossbar *x, struct buffer *queue, uint32_t input, uint32_t output) {
    uint32_t slot = queue->first;
    struct message *message = message_at(x, slot);
    if (message->flits > 1)
        started_clear(x, input, output);
    queue->first = message->next;
    buffer_append(x, &x->outputs[output], slot);
    mask_set(x->ready, output);
    uint32_t next_output = queue->first == NO_MESSAGE ? NO_MESSAGE : message_at(x, queue->first)->output;
    if (next_output == output)
        return;
    request_clear(x, input, output);
    if (next_output != NO_MESSAGE) {
        request_set(x, input, next_output);
        return;
    }
    uint64_t rest = 0;
    for (uint32_t w = 0; w < x->output_words; w++)
        rest |= x->requests[(size_t)input * x->output_words + w];
    if (!rest) {
        mask_clear(x->active, input);
        x->active_inputs--;
    }
}

/* False: the output is full and the grant is lost. */
static bool flit_cross(struct crossbar *x, uint32_t input, uint32_t output) {
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
            started_set(x, input, output);
    }
    queue->credits++;
    mask_set(x->freed, input);
    if (--message->flits_left == 0)
        message_arrive(x, queue, input, output);
    return true;
}

static void grant_add(struct crossbar *x, uint32_t input, uint32_t port, uint32_t output) {
    x->grants[x->grant_count++] = (struct grant){input, output};
    if (x->params.iterations > 1) {
        mask_set(x->matched_outputs, output);
        mask_set(x->matched_inputs + (size_t)port * x->input_words, input);
    }
}

/* ---- random, input-first ---- */

/* The bit of the mask with `rank` set bits below it. */
static inline uint32_t mask_select(const uint64_t *mask, uint32_t rank) {
    uint32_t w = 0;
    for (uint32_t count; rank >= (count = bits_count64(mask[w])); w++)
        rank -= count;
    uint64_t rest = mask[w];
    while (rank--)
        rest &= rest - 1;
    return w * 64 + bits_first64(rest);
}

/* What the port may pick from, into x->choice; how many (2 stands for more with one word). 0 when no pick of it could
 * matter: with one pass, a pick of a full output changes nothing for anyone. */
static inline uint32_t port_choices(struct crossbar *x, uint32_t input, uint32_t port, uint32_t pass, uint32_t words,
                                    bool *movable) {
    const uint64_t *requests = x->requests + (size_t)input * words, *started = x->started + (size_t)input * words;
    uint64_t can_move = 0;
    uint32_t count = 0;
    for (uint32_t w = 0; w < words; w++) {
        uint64_t mask = requests[w] & x->port_masks[port] & (~x->held[w] | started[w]);
        if (pass > 0)
            mask &= ~x->matched_outputs[w];
        can_move |= mask & (x->room[w] | started[w]);
        x->choice[w] = mask;
        /* most masks have one bit, and counting bits is slow on the base instruction set */
        count += (mask & (mask - 1)) ? bits_count64(mask) : mask != 0;
    }
    *movable |= can_move != 0;
    return can_move || x->params.iterations > 1 ? count : 0;
}

/* Ports pick; the best pick of every output is in x->best, the outputs are in x->contested. */
static inline uint32_t ports_pick(struct crossbar *x, uint64_t numbers, uint32_t pass, uint32_t words, bool *movable) {
    uint32_t contested = 0;
    for (uint32_t active_word = 0; active_word < x->input_words; active_word++) {
        for (uint64_t rest = x->active[active_word]; rest; rest &= rest - 1) {
            uint32_t input = active_word * 64 + bits_first64(rest);
            for (uint32_t port = 0; port < x->ports; port++) {
                if (pass > 0 && mask_test(x->matched_inputs + (size_t)port * x->input_words, input))
                    continue;
                uint32_t count = port_choices(x, input, port, pass, words, movable);
                if (count == 0)
                    continue;
                uint64_t id = (uint64_t)input * x->ports + port;
                uint64_t number = mix(numbers + id * MIX_STEP);
                /* the upper half picks the output, the lower half is the port's bid there */
                uint32_t output = mask_select(x->choice, (uint32_t)((number >> 32) * count >> 32));
                uint64_t bid = number << 32 | (id + 1);
                if (x->best[output] == 0)
                    x->contested[contested++] = output;
                if (bid > x->best[output])
                    x->best[output] = bid;
            }
        }
    }
    return contested;
}

static inline bool allocate_random_words(struct crossbar *x, uint64_t cycle, uint32_t words) {
    bool movable = false;
    uint64_t numbers = mix(x->number_base + cycle * MIX_STEP);
    for (uint32_t pass = 0; pass < x->params.iterations; pass++) {
        uint32_t contested = ports_pick(x, numbers, pass, words, &movable);
        if (contested == 0)
            break;
        for (uint32_t i = 0; i < contested; i++) {
            uint32_t output = x->contested[i], id = (uint32_t)x->best[output] - 1;
            x->best[output] = 0;
            grant_add(x, id / x->ports, id % x->ports, output);
        }
        numbers = mix(numbers);
    }
    return movable;
}

/* Whether any flit could have crossed. */
static bool allocate_random(struct crossbar *x, uint64_t cycle) {
    return x->output_words == 1 ? allocate_random_words(x, cycle, 1) : allocate_random_words(x, cycle, x->output_words);
}

/* ---- islip ---- */

/* The first set bit at or after `from`, else the first of all; NO_MESSAGE for an empty mask. */
static uint32_t mask_in_turn(const uint64_t *mask, uint32_t words, uint32_t from) {
    uint32_t word = from / 64;
    uint64_t tail = mask[word] & UINT64_MAX << from % 64;
    for (uint32_t i = 0; !tail && i < words; i++) {
        word = word + 1 == words ? 0 : word + 1;
        tail = mask[word];
    }
    return tail ? word * 64 + bits_first64(tail) : NO_MESSAGE;
}

static void output_grant(struct crossbar *x, uint32_t output) {
    const uint64_t *asking = x->asking + (size_t)output * x->input_words;
    const uint64_t *begun = x->begun + (size_t)output * x->input_words;
    const uint64_t *matched = x->matched_inputs, *matched_second = matched;
    if (x->ports == 2) {
        matched_second = matched + x->input_words;
        if (x->params.port_choice == CROSSBAR_PORT_SPLIT)
            matched = matched_second = output & 1 ? matched_second : matched;
    }
    bool open = mask_test(x->room, output) && !mask_test(x->held, output);
    for (uint32_t w = 0; w < x->input_words; w++)
        x->choice[w] = (open ? asking[w] : begun[w]) & ~(matched[w] & matched_second[w]);
    uint32_t input = mask_in_turn(x->choice, x->input_words, x->grant_turns[output]);
    if (input == NO_MESSAGE)
        return;
    mask_set(x->granted + (size_t)input * x->output_words, output);
    mask_set(x->granted_inputs, input);
}

static void input_accept(struct crossbar *x, uint32_t input, uint32_t pass) {
    uint64_t *granted = x->granted + (size_t)input * x->output_words;
    for (uint32_t port = 0; port < x->ports; port++) {
        if (mask_test(x->matched_inputs + (size_t)port * x->input_words, input))
            continue;
        for (uint32_t w = 0; w < x->output_words; w++)
            x->choice[w] = granted[w] & x->port_masks[port];
        uint32_t *turn = &x->accept_turns[input * x->ports + port];
        uint32_t output = mask_in_turn(x->choice, x->output_words, *turn);
        if (output == NO_MESSAGE)
            continue;
        mask_clear(granted, output);
        grant_add(x, input, port, output);
        if (pass == 0) {
            *turn = output + 1 == x->shape.outputs ? 0 : output + 1;
            x->grant_turns[output] = input + 1 == x->shape.inputs ? 0 : input + 1;
        }
    }
    memset(granted, 0, x->output_words * sizeof *granted);
}

static bool allocate_islip(struct crossbar *x) {
    for (uint32_t pass = 0; pass < x->params.iterations; pass++) {
        for (uint32_t w = 0; w < x->output_words; w++)
            for (uint64_t rest = x->asked[w] & ~x->matched_outputs[w]; rest; rest &= rest - 1)
                output_grant(x, w * 64 + bits_first64(rest));
        uint32_t before = x->grant_count;
        for (uint32_t w = 0; w < x->input_words; w++) {
            for (uint64_t rest = x->granted_inputs[w]; rest; rest &= rest - 1)
                input_accept(x, w * 64 + bits_first64(rest), pass);
            x->granted_inputs[w] = 0;
        }
        if (x->grant_count == before)
            break;
    }
    return x->grant_count > 0;
}

/* ---- time ---- */

uint64_t crossbar_next(const struct crossbar *x) { return x->wake && x->active_inputs ? x->next_cycle : NO_CYCLE; }

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
        uint64_t crossed = 0;
        if (x->wake) {
            x->grant_count = 0;
            if (x->params.iterations > 1) {
                memset(x->matched_outputs, 0, x->output_words * sizeof *x->matched_outputs);
                memset(x->matched_inputs, 0, (size_t)x->ports * x->input_words * sizeof *x->matched_inputs);
            }
            x->wake = x->params.allocator == CROSSBAR_RANDOM ? allocate_random(x, cycle) : allocate_islip(x);
            for (uint32_t i = 0; i < x->grant_count; i++)
                crossed += flit_cross(x, x->grants[i].input, x->grants[i].output);
        }
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
