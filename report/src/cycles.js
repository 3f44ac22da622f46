/* SPDX-License-Identifier: Apache-2.0 */
import {h, value, whole, percent, missing, table, choice} from './dom.js';
import {CLASSES, CLASS_COLOURS, ISSUED, className, colour, sizes, sum} from './model.js';
import {bars, legend} from './charts.js';

const MEASURES = [
    ['issued', 'slots in which something issued'], ['memory', 'slots waiting for memory'], ['idle', 'idle slots'], ['stall', 'slots stalled by a unit'],
    ['lanes', 'SIMD efficiency'], ['warp_instructions', 'warp instructions'], ['blocks', 'blocks run'], ['l1_misses', 'L1 misses'],
];

function measureSm(sms, name, k, warpSize) {
    const slots = sum(CLASSES.map(one => sms[one][k]));
    switch (name) {
    case 'issued': return {part: slots ? sum(ISSUED.map(one => sms[one][k])) / slots : 0};
    case 'memory': case 'idle': case 'stall': return {part: slots ? sms[name][k] / slots : 0};
    case 'lanes': return {part: sms.warp_instructions[k] ? sms.active_lanes[k] / (sms.warp_instructions[k] * warpSize) : 0};
    default: return {count: sms[name][k]};
    }
}

function heatMap(result, state, redraw) {
    const sms = result.data.launches[result.launch].sms;
    if (!sms || !sms.count)
        return missing('This result has no counts by SM: of a program run by heddle exec only the first 64 launches have them, and results of older versions have none.');
    const name = state.measure || 'issued', chosen = Math.min(state.sm || 0, sms.count - 1);
    const cells = Array.from({length: sms.count}, (_, k) => measureSm(sms, name, k, result.warpSize));
    const most = Math.max(1e-300, ...cells.map(cell => cell.part !== undefined ? cell.part : cell.count));
    const text = cell => cell.part !== undefined ? percent(cell.part) : whole(cell.count);
    const ink = name === 'memory' ? '--memory' : name === 'stall' ? '--stall' : name === 'idle' ? '--soft' : '--w6';
    const columns = Math.ceil(Math.sqrt(sms.count * 2)), words = MEASURES.find(one => one[0] === name)[1];
    return [
        h('p', {class: 'controls'}, choice('Shown', MEASURES, name, chosenName => {
            state.measure = chosenName;
            redraw();
        })),
        h('div', {class: 'heat', role: 'group', 'aria-label': `SMs by ${words}`, style: `grid-template-columns:repeat(${Math.min(columns, 16)}, minmax(0, 1fr))`}, cells.map((cell, k) => h('button', {
            type: 'button', 'aria-pressed': k === chosen ? 'true' : 'false', title: `SM ${k}: ${words} ${text(cell)}`, 'aria-label': `SM ${k}: ${words} ${text(cell)}`,
            style: `background:color-mix(in srgb, ${colour(ink)} ${Math.round(85 * (cell.part !== undefined ? cell.part : cell.count) / most)}%, var(--raised))`,
            onclick: () => {
                state.sm = k;
                redraw(`SM ${k}:`);
            },
        }, String(k)))),
        h('p', {class: 'small soft'}, `A field for each SM, by its number: the stronger its colour, the more ${words}. The most is ${text(cells.find(cell => (cell.part !== undefined ? cell.part : cell.count) === most) || cells[0])}.`),
        table([
            {title: 'SM', text: k => String(k), key: k => k},
            {title: 'blocks', text: k => value(result, `launches/${result.launch}/sms/blocks/${k}`), key: k => sms.blocks[k]},
            {title: 'warp instructions', text: k => value(result, `launches/${result.launch}/sms/warp_instructions/${k}`), key: k => sms.warp_instructions[k]},
            {title: 'issued', text: k => percent(measureSm(sms, 'issued', k).part), key: k => measureSm(sms, 'issued', k).part},
            ...['memory', 'idle', 'stall'].map(one => ({title: `${one} slots`, text: k => value(result, `launches/${result.launch}/sms/${one}/${k}`), key: k => sms[one][k]})),
            {title: 'SIMD efficiency', text: k => percent(measureSm(sms, 'lanes', k, result.warpSize).part), key: k => measureSm(sms, 'lanes', k, result.warpSize).part},
            {title: 'L1 misses', text: k => value(result, `launches/${result.launch}/sms/l1_misses/${k}`), key: k => sms.l1_misses[k]},
        ], cells.map((_, k) => k), {label: 'Every SM', sort: 0, ascending: true, isChosen: k => k === chosen, name: k => `SM ${k}`, choose: k => {
            state.sm = k;
            redraw(`SM ${k}`);
        }}),
    ];
}

export function cyclesPage(result, state, redraw) {
    const data = result.data;
    if (!result.timed)
        return [h('h1', {}, 'Where the cycles went'), missing('The run was functional and has no cycles. Leave out --functional to get them.')];
    const shown = data.launches[result.launch], path = `launches/${result.launch}`;
    const rows = (counts, base) => CLASSES.map((name, i) => ({
        name: className(name, result.warpSize), parts: [{value: counts.cycle_classes[name], colour: CLASS_COLOURS[i]}],
        text: [value(result, `${base}/cycle_classes/${name}`), ` (${percent(counts.slots ? counts.cycle_classes[name] / counts.slots : 0)})`],
    }));
    return [
        h('h1', {}, 'Where the cycles went'),
        h('p', {}, 'Every cycle each scheduler of each SM has one slot. Each slot is in exactly one class: something issued, with so many active lanes, or nothing did, for one reason.'),
        h('h2', {}, 'The whole run'),
        bars('Slots of the whole run by class', rows(data.total, 'total')),
        h('p', {class: 'small soft'}, value(result, 'total/slots'), ' slots in ', value(result, 'total/cycles'), ' cycles'),
        h('h2', {}, 'Stalls by what was missing'),
        data.total.cycle_classes.stall ? bars('Stalled slots by what was missing', Object.keys(data.total.stall_stages).map(name => ({
            name: name.replace('_', ' '), parts: [{value: data.total.stall_stages[name], colour: '--stall'}], text: value(result, `total/stall_stages/${name}`)}))) : h('p', {class: 'soft'}, 'No slot was stalled.'),
        h('h2', {}, 'Launches'),
        legend(CLASSES.map((name, i) => ({name: className(name, result.warpSize), colour: CLASS_COLOURS[i]}))),
        table([
            {title: 'launch', text: i => String(i + 1), key: i => i},
            {title: 'kernel', left: true, text: i => data.launches[i].kernel, key: i => data.launches[i].kernel},
            {title: 'grid', left: true, text: i => sizes(data.launches[i].grid)},
            {title: 'block', left: true, text: i => sizes(data.launches[i].block)},
            {title: 'cycles', text: i => value(result, `launches/${i}/cycles`), key: i => data.launches[i].cycles},
            {title: 'IPC', text: i => value(result, `launches/${i}/ipc`), key: i => data.launches[i].ipc},
            {title: 'SIMD efficiency', text: i => value(result, `launches/${i}/simd_efficiency`, percent), key: i => data.launches[i].simd_efficiency},
            {title: 'slots by class', left: true, text: i => {
                const launch = data.launches[i];
                return h('span', {class: 'track', role: 'img', 'aria-label': CLASSES.map(name => `${name} ${percent(launch.slots ? launch.cycle_classes[name] / launch.slots : 0)}`).join(', '), style: 'display:flex;width:220px;height:13px'},
                    CLASSES.map((name, k) => h('i', {style: `width:${launch.slots ? 100 * launch.cycle_classes[name] / launch.slots : 0}%;background:${colour(CLASS_COLOURS[k])}`})));
            }},
        ], data.launches.map((_, i) => i), {label: 'Launches', sort: 0, ascending: true, isChosen: i => i === result.launch, name: i => `Launch ${i + 1}: ${data.launches[i].kernel}`, choose: i => {
            result.launch = i;
            redraw(`Launch ${i + 1}:`);
        }}),
        h('h2', {}, `Launch ${result.launch + 1} of ${data.launches.length}: ${shown.kernel}`),
        h('p', {class: 'small soft'}, value(result, `${path}/slots`), ' slots in ', value(result, `${path}/cycles`), ' cycles'),
        h('h3', {}, 'By SM'),
        heatMap(result, state, redraw),
    ];
}
