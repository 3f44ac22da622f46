/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a sequence of DRAM commands is legal. It shares nothing with the model: every command is compared with every
 * earlier one that is still near enough to matter, by a table of least distances, and rows and data bus are followed
 * on their own. */
#ifndef HEDDLE_TESTS_DRAM_CHECKER_H
#define HEDDLE_TESTS_DRAM_CHECKER_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Names as in the timing sets of the reference data; FAW, RFC 0: none. */
struct checker_timing {
    long CL, WL, RCDRD, RCDWR, RP, RAS, RC, RRDS, RRDL, CCDS, CCDL, WTRS, WTRL, RTW, WR, RTP, RTPL, BLC, FAW, RFC;
    unsigned banks, groups, buses;
};

enum checker_kind { CHECK_RD, CHECK_WR, CHECK_ACT, CHECK_PRE, CHECK_PREA, CHECK_REF };

struct checker_command {
    long cycle;
    int kind;
    unsigned bank;
    long row;
};

enum { CHECKER_HISTORY = 1024 };

struct checker {
    struct checker_timing t;
    long horizon; /* no distance is longer */
    struct checker_command history[CHECKER_HISTORY];
    unsigned long count, violations;
    long open_row[64]; /* -1: closed */
    long bus_free;
    char first[200]; /* the first violation in words */
};

static void checker_start(struct checker *c, const struct checker_timing *timing) {
    memset(c, 0, sizeof *c);
    c->t = *timing;
    const struct checker_timing *t = timing;
    const long candidates[] = {t->RC,
                               t->RP,
                               t->RAS,
                               t->RTW,
                               t->FAW,
                               t->RFC,
                               t->CL + t->BLC,
                               t->WL + t->BLC + t->WR,
                               t->WL + t->BLC + t->WTRL,
                               t->WL + t->BLC + t->WTRS,
                               t->CCDL};
    for (unsigned i = 0; i < sizeof candidates / sizeof candidates[0]; i++)
        if (candidates[i] > c->horizon)
            c->horizon = candidates[i];
    for (unsigned b = 0; b < 64; b++)
        c->open_row[b] = -1;
    c->bus_free = -1;
}

static void checker_fail(struct checker *c, const struct checker_command *now, const char *rule) {
    static const char *const names[] = {"RD", "WR", "ACT", "PRE", "PREA", "REF"};
    if (c->violations++ == 0)
        snprintf(c->first, sizeof c->first, "cycle %ld: %s bank %u row %ld breaks %s", now->cycle, names[now->kind],
                 now->bank, now->row, rule);
}

/* The least distance from an earlier command to this one, 0 when there is none, and the rule's name. */
static long checker_distance(const struct checker_timing *t, const struct checker_command *before,
                             const struct checker_command *now, const char **rule) {
    bool all = before->kind >= CHECK_PREA || now->kind >= CHECK_PREA;
    bool bank = all || before->bank == now->bank;
    bool group = all || before->bank % t->groups == now->bank % t->groups;
    bool closing = now->kind == CHECK_PRE || now->kind == CHECK_PREA;
    bool opening = now->kind == CHECK_ACT || now->kind == CHECK_REF;
    switch (before->kind) {
    case CHECK_ACT:
        if (opening && bank)
            return *rule = "RC", t->RC;
        if (now->kind == CHECK_ACT)
            return *rule = group ? "RRDL" : "RRDS", group && t->RRDL > t->RRDS ? t->RRDL : t->RRDS;
        if (closing && bank)
            return *rule = "RAS", t->RAS;
        if (now->kind == CHECK_RD && bank)
            return *rule = "RCDRD", t->RCDRD;
        if (now->kind == CHECK_WR && bank)
            return *rule = "RCDWR", t->RCDWR;
        return 0;
    case CHECK_PRE:
    case CHECK_PREA: return opening && bank ? (*rule = "RP", t->RP) : 0;
    case CHECK_REF: return opening ? (*rule = "RFC", t->RFC) : 0;
    case CHECK_RD:
        if (now->kind == CHECK_RD)
            return *rule = "CCD", group && t->CCDL > t->CCDS ? t->CCDL : t->CCDS;
        if (now->kind == CHECK_WR)
            return *rule = "RTW", t->RTW;
        if (closing && bank)
            return *rule = "RTP", t->RTP > t->RTPL ? t->RTP : t->RTPL;
        return closing && group ? (*rule = "RTPL", t->RTPL) : 0;
    case CHECK_WR:
        if (now->kind == CHECK_WR)
            return *rule = "CCD", group && t->CCDL > t->CCDS ? t->CCDL : t->CCDS;
        if (now->kind == CHECK_RD)
            return *rule = "WTR", t->WL + t->BLC + (group && t->WTRL > t->WTRS ? t->WTRL : t->WTRS);
        return closing && bank ? (*rule = "WR", t->WL + t->BLC + t->WR) : 0;
    default: return 0;
    }
}

static void checker_rows(struct checker *c, const struct checker_command *now) {
    switch (now->kind) {
    case CHECK_ACT:
        if (c->open_row[now->bank] != -1)
            checker_fail(c, now, "activate of an open bank");
        c->open_row[now->bank] = now->row;
        break;
    case CHECK_PRE:
        if (c->open_row[now->bank] == -1)
            checker_fail(c, now, "precharge of a closed bank");
        c->open_row[now->bank] = -1;
        break;
    case CHECK_PREA:
        for (unsigned b = 0; b < 64; b++)
            c->open_row[b] = -1;
        break;
    case CHECK_REF:
        for (unsigned b = 0; b < 64; b++)
            if (c->open_row[b] != -1)
                checker_fail(c, now, "refresh with an open row");
        break;
    default:
        if (c->open_row[now->bank] != now->row)
            checker_fail(c, now, "column command to a row that is not open");
        long start = now->cycle + (now->kind == CHECK_RD ? c->t.CL : c->t.WL);
        if (start < c->bus_free)
            checker_fail(c, now, "one user of the data bus");
        c->bus_free = start + c->t.BLC;
    }
}

static void checker_command(struct checker *c, long cycle, int kind, unsigned bank, long row) {
    struct checker_command now = {.cycle = cycle, .kind = kind, .bank = bank, .row = row};
    unsigned activates = 0, same_cycle = 0, same_cycle_columns = 0;
    if (bank >= c->t.banks)
        checker_fail(c, &now, "the number of banks");
    for (unsigned long i = 1; i <= c->count && i < CHECKER_HISTORY; i++) {
        const struct checker_command *before = &c->history[(c->count - i) % CHECKER_HISTORY];
        long distance = cycle - before->cycle;
        if (distance > c->horizon && (activates >= 4 || c->t.FAW == 0))
            break;
        if (distance < 0)
            checker_fail(c, &now, "time");
        if (distance == 0) {
            same_cycle++;
            same_cycle_columns += before->kind <= CHECK_WR;
        }
        const char *rule = "";
        if (distance < checker_distance(&c->t, before, &now, &rule))
            checker_fail(c, &now, rule);
        if (before->kind == CHECK_ACT && ++activates == 4 && kind == CHECK_ACT && distance < c->t.FAW)
            checker_fail(c, &now, "FAW");
    }
    unsigned alike = kind <= CHECK_WR ? same_cycle_columns : same_cycle - same_cycle_columns;
    if (c->t.buses == 2 ? alike > 0 : same_cycle > 0)
        checker_fail(c, &now, "one command per bus and cycle");
    checker_rows(c, &now);
    c->history[c->count++ % CHECKER_HISTORY] = now;
}

#endif
