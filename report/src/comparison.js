/* SPDX-License-Identifier: Apache-2.0 */
import {h, value, whole, percent, missing, table, tick} from './dom.js';
import {CLASSES, CLASS_COLOURS, className, place, slotsOf} from './model.js';
import {bars, legend} from './charts.js';

const MAIN = ['cycles', 'ipc', 'warp_instructions', 'thread_instructions', 'simd_efficiency', 'divergent_branches', 'memory.transactions', 'memory.l1.hit_rate', 'memory.l1.misses', 'memory.l2.hit_rate', 'memory.l2.misses', 'memory.dram.requests', 'memory.dram.row_hit_rate', 'memory.dram.bandwidth_utilisation'];

function flatten(object, prefix, into) {
    for (const [key, one] of Object.entries(object))
        if (typeof one === 'number')
            into.push(prefix + key);
        else if (one && typeof one === 'object' && !Array.isArray(one) && key !== 'histograms')
            flatten(one, `${prefix}${key}.`, into);
    return into;
}

const counterAt = (result, name) => name.split('.').reduce((found, key) => found === undefined || found === null ? undefined : found[key], result.data.total);
const isMain = name => MAIN.includes(name) || name.startsWith('cycle_classes.') || name.startsWith('stalls.');

function change(from, to) {
    if (from === undefined || to === undefined)
        return '';
    if (from === to)
        return '=';
    return from ? `${to > from ? '+' : ''}${(100 * (to - from) / from).toFixed(1)} %` : 'new';
}

function lines(results) {
    const timed = results.every(result => result.timed), all = new Map();
    results.forEach((result, i) => result.data.total.lines.forEach(line => {
        const key = `${place(line)}\n${line.text}`, row = all.get(key) || {place: place(line), text: line.text, counts: results.map(() => 0)};
        // slots divided by the slots of a cycle: cycles
        row.counts[i] = timed ? slotsOf(line) * result.data.total.cycles / (result.data.total.slots || 1) : line.warp_instructions;
        all.set(key, row);
    }));
    const moved = row => Math.max(...row.counts.map(count => Math.abs(count - row.counts[0])));
    return table([
        {title: 'line', left: true, text: row => row.place, key: row => row.place},
        ...results.flatMap((result, i) => [{title: result.letter, text: row => whole(row.counts[i]), key: row => row.counts[i]},
            ...(i ? [{title: 'change', text: row => h('span', {class: row.counts[i] > row.counts[0] ? 'up' : row.counts[i] < row.counts[0] ? 'down' : 'changed'}, change(Math.round(row.counts[0]), Math.round(row.counts[i]))), key: row => row.counts[i] - row.counts[0]}] : [])]),
        {title: 'source', left: true, class: 'text', text: row => row.text.trim()},
    ], [...all.values()].sort((a, b) => moved(b) - moved(a)), {label: timed ? 'Cycles by line' : 'Warp instructions by line', class: 'code'});
}

export function comparisonPage(result, state, redraw) {
    const results = state.results;
    if (results.length < 2)
        return [h('h1', {}, 'Comparison'), missing('There is one result in this report. heddle report A.json B.json … -o FILE.html compares up to eight.')];
    const names = [...new Set(results.flatMap(one => flatten(one.data.total, '', [])))];
    const changed = name => results.some(one => counterAt(one, name) !== counterAt(results[0], name));
    const wanted = names.filter(name => state.all || (isMain(name) && (changed(name) || name === 'cycles' || name === 'warp_instructions')));
    const inTime = results.filter(one => one.timed), timed = inTime.length === results.length, keys = [...new Set(results.flatMap(one => Object.keys(one.data.machine.parameters)))];
    const parameter = (one, key) => (one.data.machine.parameters[key] || {value: '–'}).value;
    const different = keys.filter(key => results.some(one => parameter(one, key) !== parameter(results[0], key)));
    return [
        h('h1', {}, 'Comparison'),
        h('p', {}, 'Everything is compared with the first.'),
        table([{title: 'result', left: true, text: one => one.letter}, {title: 'file', left: true, text: one => one.name}, {title: 'module', left: true, text: one => one.data.module.name}, {title: 'machine', left: true, text: one => one.data.machine.name}, {title: 'mechanism', left: true, text: one => one.mechanism || '–'}, {title: 'mode', left: true, text: one => one.data.mode}, {title: 'complete', left: true, text: one => one.data.complete ? 'yes' : 'no'}], results, {label: 'Results'}),
        inTime.length > 0 && [h('h2', {}, 'Cycles, by where slots went'), legend(CLASSES.map((name, i) => ({name: className(name, 32), colour: CLASS_COLOURS[i]}))),
            bars('Cycles of each result by class of slots', inTime.map(one => ({name: one.letter, parts: CLASSES.map((name, i) => ({name: className(name, one.warpSize), colour: CLASS_COLOURS[i], value: one.data.total.slots ? one.data.total.cycle_classes[name] / one.data.total.slots * one.data.total.cycles : 0})), text: [value(one, 'total/cycles'), one.index ? ` (${change(results[0].data.total.cycles, one.data.total.cycles)})`.replace(' ()', '') : '']})))],
        h('h2', {}, 'Counters'),
        h('p', {class: 'controls'}, tick('every counter, changed or not', !!state.all, yes => {
            state.all = yes;
            redraw();
        })),
        table([
            {title: 'counter', left: true, text: name => name, key: name => name},
            ...results.flatMap((one, i) => [{title: one.letter, text: name => value(one, `total/${name.replace(/\./g, '/')}`, /_rate$|utilisation$|efficiency$/.test(name) ? percent : undefined)},
                ...(i ? [{title: 'change', text: name => h('span', {class: 'changed'}, change(counterAt(results[0], name), counterAt(one, name)))}] : [])]),
            {title: 'unit', left: true, text: name => result.unit(name) || result.unit(name.split('.')[0])},
        ], wanted, {label: 'Counters', tall: true}),
        h('h2', {}, 'Keys of the machine that differ'),
        different.length ? table([{title: 'key', left: true, mono: true, text: key => key}, ...results.map(one => ({title: one.letter, left: true, text: key => String(parameter(one, key))}))], different, {label: 'Keys that differ'}) : h('p', {}, 'None: the machines are the same.'),
        h('h2', {}, timed ? 'Cycles by line' : 'Warp instructions by line'), lines(results),
    ];
}
