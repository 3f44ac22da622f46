/* SPDX-License-Identifier: Apache-2.0 */
import {h, value, percent, missing, table, whole} from './dom.js';
import {histogram, timeChart, heatChart, bars} from './charts.js';
import {intervals, noSeries, seriesOf} from './time.js';

const CACHES = [['l1', 'L1'], ['constant_cache', 'constant cache'], ['l2', 'L2']];
// Of programs that read images.
function texture(result) {
    const found = result.data.total.memory.texture, path = 'total/memory/texture';
    if (!found)
        return [];
    const columns = [['requests', 'instructions'], ['samples', 'samples of lanes'], ['texels', 'texels'], ['sectors', 'sectors'], ['hits', 'hits'], ['misses', 'misses'], ['busy', 'cycles busy'], ['waits', 'cycles waited for']];
    return [h('h2', {}, 'Texture units'), table(columns.map(([key, title]) => ({title, text: () => value(result, `${path}/${key}`), key: () => found[key]})), [found], {label: 'Texture units'})];
}

const BLOCKED = ['blocked_mshr', 'blocked_merge', 'blocked_ways', 'blocked_room'];

function levels(result) {
    const memory = result.data.total.memory, path = 'total/memory';
    const column = (title, key, format) => ({title, text: ([name]) => value(result, `${path}/${name}/${key}`, format), key: ([name]) => memory[name][key]});
    return table([
        {title: 'cache', left: true, text: ([, title]) => title}, column('accesses', 'accesses'), column('hits', 'hits'), column('pending hits', 'pending_hits'), column('misses', 'misses'),
        column('hit rate', 'hit_rate', percent), ...BLOCKED.map(key => column(`refused: ${key.slice(8).replace('mshr', 'MSHRs')}`, key)), column('evictions', 'evictions'), column('written back', 'write_backs'),
    ], CACHES, {label: 'Caches'});
}

function overTime(result) {
    const launch = result.data.launches[result.launch];
    if (noSeries(launch))
        return missing('Nothing was sampled over the cycles of this launch.');
    const {ends, lengths} = intervals(launch), wanted = list => list.filter(Boolean);
    const rows = wanted([seriesOf(result, 'dram_row_hits', 'requests that found their row open', '--c3', lengths), seriesOf(result, 'dram_row_misses', 'requests that opened a row', '--c5', lengths)]);
    return [
        timeChart({title: `DRAM bytes per cycle, launch ${result.launch + 1}`, label: 'Bytes that the DRAM channels moved per cycle, over the cycles of the launch.', x: 'cycle', ends, height: 180, series: wanted([seriesOf(result, 'dram_bytes', 'bytes per cycle', '--c1', lengths)])}),
        rows.length ? timeChart({title: 'DRAM rows: requests per cycle', label: 'DRAM requests per cycle that found their row open or opened one, over the cycles of the launch.', x: 'cycle', ends, height: 180, stacked: true, series: rows})
            : missing('This result does not have DRAM rows over time; results of this version do.'),
        banks(result, ends, lengths),
        timeChart({title: 'Cache misses per cycle', label: 'Misses of the L1s and of the L2 per cycle, over the cycles of the launch.', x: 'cycle', ends, height: 180, series: wanted([seriesOf(result, 'l1_misses', 'L1 misses', '--c2', lengths), seriesOf(result, 'l2_misses', 'L2 misses', '--c4', lengths)])}),
    ];
}

// Which bank of the DRAM was asked when: that bank of all channels together.
function banks(result, ends, lengths) {
    const found = result.data.launches[result.launch].series.dram_banks;
    if (!found)
        return missing('This result does not have DRAM banks over time; results of this version do.');
    if (!found.column_commands.length)
        return missing(`The DRAM of this machine is of the model ${result.parameter('dram.model')}: it has no banks.`);
    const rows = name => found[name].map((_, b) => seriesOf(result, `dram_banks/${name}/${b}`, `bank ${b}`, '--c1', lengths));
    return [
        heatChart({title: 'DRAM banks: reads and writes per cycle', label: 'Reads and writes of each DRAM bank per cycle, over the cycles of the launch.', x: 'cycle', ends, colour: '--c1', spoken: 4, unit: 'column commands per cycle', series: rows('column_commands')}),
        heatChart({title: 'DRAM banks: rows opened per cycle', label: 'Rows opened in each DRAM bank per cycle, over the cycles of the launch.', x: 'cycle', ends, colour: '--c5', spoken: 4, unit: 'rows per cycle', series: rows('activates')}),
    ];
}

export function memoryPage(result) {
    if (!result.timed)
        return [h('h1', {}, 'Memory'), missing('The run was functional: memory has no levels and no time in it. '), h('p', {}, 'Loads ', value(result, 'total/memory_reads'), ', stores ', value(result, 'total/memory_writes'), ', atomics ', value(result, 'total/atomics'), ', by group.')];
    const memory = result.data.total.memory, path = 'total/memory', dram = memory.dram;
    const way = [['global_accesses', 'accesses of groups'], ['transactions', 'transactions of the coalescer'], ['requests_sent', 'requests to the memory system']];
    const card = (title, content) => h('div', {class: 'card'}, h('b', {}, content), h('span', {}, title));
    const ratio = (part, of, unit) => of ? `${(part / of).toFixed(2)}${unit}` : '–';
    return [
        h('h1', {}, 'Memory'),
        h('div', {class: 'cards'},
            card('transactions per access', ratio(memory.transactions, memory.global_accesses, '')), card('L1 hits', value(result, `${path}/l1/hit_rate`, percent)),
            card('L2 hits', value(result, `${path}/l2/hit_rate`, percent)), card('DRAM rows found open', value(result, `${path}/dram/row_hit_rate`, percent)),
            card('DRAM bandwidth used', value(result, `${path}/dram/bandwidth_utilisation`, percent)), card('passes per shared access', ratio(memory.shared_accesses + memory.shared_passes, memory.shared_accesses, ''))),
        h('h2', {}, 'The way down'),
        bars('From accesses to DRAM requests', [...way.map(([key, name]) => ({name, parts: [{value: memory[key], colour: '--c1'}], text: value(result, `${path}/${key}`)})),
            {name: 'accesses of the L2, refused ones too', parts: [{value: memory.l2.accesses, colour: '--c2'}], text: value(result, `${path}/l2/accesses`)},
            {name: 'requests to the DRAM', parts: [{value: dram.requests, colour: '--c4'}], text: value(result, `${path}/dram/requests`)}]),
        h('h2', {}, 'Caches'), levels(result),
        h('p', {class: 'small soft'}, 'Refused accesses come again and are counted each time; rates are of those that were not refused.'),
        ...texture(result),
        h('div', {class: 'two'},
            h('section', {}, h('h2', {}, 'Coalescing: transactions of an access'), histogram(result, 'total/histograms/transactions', 'Accesses by the transactions they made', {of: 'accesses to global and local memory, by lines or sectors touched', none: 'Global memory was not accessed.'})),
            h('section', {}, h('h2', {}, 'Bank conflicts: passes of a shared access'), histogram(result, 'total/histograms/shared_passes', 'Shared accesses by the passes they took', {of: 'accesses to shared memory; 1 pass is without conflict', none: 'Shared memory was not accessed.', colour: '--c5'})),
            h('section', {}, h('h2', {}, 'Latency of loads, cycles'), histogram(result, 'total/histograms/load_latency', 'Loads by their latency', {of: 'loads of global and local memory, from issue to write-back', none: 'Nothing was loaded.', colour: '--c3'})),
            h('section', {}, h('h2', {}, 'Latency of DRAM reads, DRAM cycles'), histogram(result, 'total/histograms/dram_read_latency', 'DRAM reads by their latency', {of: 'reads, from acceptance to the last data', none: 'The DRAM was not read.', colour: '--c4'}))),
        h('h2', {}, 'DRAM'),
        table([{title: 'counter', left: true, text: name => name.replace(/_/g, ' ')}, {title: 'value', text: name => value(result, `${path}/dram/${name}`, Number.isInteger(dram[name]) ? whole : undefined)}, {title: 'unit', left: true, text: name => result.unit(`memory.dram.${name}`)}], Object.keys(dram), {label: 'Counters of the DRAM', narrow: true}),
        h('h2', {}, 'Over time'), overTime(result),
    ];
}
