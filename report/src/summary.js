/* SPDX-License-Identifier: Apache-2.0 */
import {h, value, whole, percent, decimal, missing, table} from './dom.js';
import {costs, place, sizes, times, slotsOf} from './model.js';

function about(result) {
    const data = result.data, names = [...new Set(data.launches.map(launch => launch.kernel))];
    const kernels = names.length > 4 ? `${names.length} kernels` : `kernel${names.length === 1 ? '' : 's'} ${names.join(', ')}`;
    const first = data.launches[0];
    const shape = data.launches.length === 1 && first ? `, ${times(first.blocks, 'block')}${first.grid[1] > 1 || first.grid[2] > 1 ? ` (${sizes(first.grid)})` : ''} of ${sizes(first.block)} threads` : '';
    return [
        h('p', {}, h('b', {}, data.module.name), `: ${kernels}, ${times(data.launches.length, 'launch').replace('launchs', 'launches')}${shape}.`),
        h('p', {}, `On `, h('b', {}, data.machine.name), data.machine.about ? `: ${data.machine.about}` : '', `. Divergence mechanism: ${result.mechanism || '–'}.`,
            result.timed ? '' : ' The run was functional: what instructions do, without time.'),
    ];
}

function card(name, content) {
    return h('div', {class: 'card'}, h('b', {}, content), h('span', {}, name));
}

function cards(result) {
    const total = result.data.total, khz = result.parameter('clock.sm');
    return h('div', {class: 'cards'},
        result.timed && card(khz ? `cycles, ${decimal(1000 * total.cycles / khz)} µs at ${decimal(khz / 1000)} MHz` : 'cycles', value(result, 'total/cycles')),
        result.timed && card('thread instructions per cycle (IPC)', value(result, 'total/ipc')),
        card('SIMD efficiency', value(result, 'total/simd_efficiency', percent)),
        card('warp instructions', value(result, 'total/warp_instructions')),
        card('thread instructions', value(result, 'total/thread_instructions')),
        card('branches that diverged', [value(result, 'total/divergent_branches'), h('span', {class: 'soft'}, ' of '), value(result, 'total/branches')]),
        result.timed && card('L1 hits', value(result, 'total/memory/l1/hit_rate', percent)),
        result.timed && card('DRAM bandwidth used', value(result, 'total/memory/dram/bandwidth_utilisation', percent)));
}

const codeAt = line => h('span', {}, h('b', {}, place(line)), line.text ? [' ', h('code', {class: 'mono'}, line.text.trim())] : '');

// What ideal parts of the machine would gain: it was run.
function fromWhy(result) {
    const why = result.why, lines = new Map(result.data.total.lines.map(line => [place(line), line]));
    const worth = why.order.slice(0, 3).map(name => why.parts.find(part => part.name === name));
    return [
        h('p', {class: 'soft'}, 'From heddle why: the launch was repeated with one part of the machine ideal at a time.'),
        why.grid && why.grid.idle >= 0.02 && h('p', {id: 'small-grid'}, `The grid is too small for the machine: ${why.grid.too_small} of ${why.grid.launches} launches have fewer blocks than its ${why.grid.sms} SMs, and ${percent(why.grid.idle)} of the SMs' time goes by without one.`),
        why.units && why.units.limit && h('p', {id: 'units-taken'}, `The ${why.units.title} are the limit: in ${percent(why.units.taken)} of the schedulers' slots a warp was ready and all of them were taken, most often at `,
            codeAt(lines.get(place(why.units)) || why.units), `. To need them less, ${why.units.act}.`),
        worth.length ? h('ol', {class: 'costs'}, worth.map(part => h('li', {}, h('b', {}, `${part.title[0].toUpperCase()}${part.title.slice(1)} would save ${percent(part.gain)}`),
            ` of the time (${whole(part.cycles)} cycles instead of ${whole(why.cycles)}): ${part.act}.`,
            part.lines.length ? [' Most of it at ', codeAt(lines.get(place(part.lines[0])) || part.lines[0]), ` (${percent(part.lines[0].share)} of the gain).`] : '')))
            : !(why.units && why.units.limit) && h('p', {}, 'None of the parts alone would save 2 %: the launch is held by the instructions it issues, or by how they wait for each other.'),
        h('h3', {}, 'Every ideal part'),
        table([
            {title: 'if there were', left: true, text: part => part.title, key: part => part.title},
            {title: 'cycles', text: part => part.ran ? whole(part.cycles) : 'not run', key: part => part.cycles || 0},
            {title: 'time saved', text: part => part.ran ? percent(part.gain) : '–', key: part => part.gain || 0},
            {title: 'its own', text: part => part.ran ? percent(part.own_gain) : '–', key: part => part.own_gain || 0},
        ], why.parts, {label: 'Gain of every ideal part', narrow: true}),
    ];
}

function fromSlots(result) {
    const slots = result.data.total.slots;
    return [
        h('p', {class: 'soft'}, 'By the share of the schedulers\' slots. What each would gain when it were gone is more than a share can tell: run heddle why LAUNCH -o why.json and give why.json to heddle report beside the result.'),
        h('ol', {class: 'costs'}, costs(result).slice(0, 3).map(cost => h('li', {}, h('b', {}, `${cost.title}: ${percent(cost.slots / slots)} of all slots`), `. There ${cost.words}.`,
            cost.worst ? [' Most of it at ', codeAt(cost.worst.line), '.'] : ''))),
    ];
}

function checks(result) {
    const list = result.data.checks, wrong = list.filter(check => !check.passed);
    if (!list.length)
        return h('p', {class: 'soft'}, 'The run checked no results.');
    return h('p', {}, wrong.length ? h('b', {class: 'up'}, `${wrong.length} of ${list.length} checks failed: ${wrong.map(check => check.buffer).join(', ')}.`) : `${list.length === 1 ? 'The check of its result was' : `All ${list.length} checks of its results were`} passed.`);
}

export function summaryPage(result, state) {
    const hot = result.data.total.lines.slice().sort((a, b) => result.timed ? slotsOf(b) - slotsOf(a) : b.warp_instructions - a.warp_instructions).slice(0, 5);
    return [
        h('h1', {}, 'Summary'),
        !result.data.complete && missing('The run was stopped before its end: the numbers are of what was reached.'),
        about(result), checks(result), cards(result),
        h('h2', {}, 'The three things that cost most'),
        result.why ? fromWhy(result) : result.timed ? fromSlots(result) : missing('A functional run has no time. Leave out --functional to see where the cycles go.'),
        h('h2', {}, 'The hottest lines'),
        hot.length ? table([
            {title: 'line', left: true, text: place},
            result.timed ? {title: 'of all slots', text: line => percent(slotsOf(line) / result.data.total.slots)} : {title: 'warp instructions', text: line => whole(line.warp_instructions)},
            {title: 'SIMD efficiency', text: line => percent(line.simd_efficiency)},
            {title: 'source', left: true, mono: true, text: line => line.text.trim() || '(no text at hand)'},
        ], hot, {label: 'The hottest lines'}) : h('p', {}, 'Nothing was issued.'),
        state.results.length > 1 && h('p', {}, h('a', {href: '#comparison'}, `Compare the ${state.results.length} results`)),
    ];
}
