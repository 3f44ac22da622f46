/* SPDX-License-Identifier: Apache-2.0 */
// The results in the page, and what follows from their numbers.

export const CLASSES = ['W1-4', 'W5-8', 'W9-12', 'W13-16', 'W17-20', 'W21-24', 'W25-28', 'W29-32', 'memory', 'idle', 'stall'];
export const ISSUED = CLASSES.slice(0, 8);
export const CLASS_COLOURS = ['--w1', '--w2', '--w3', '--w4', '--w5', '--w6', '--w7', '--w8', '--memory', '--idle', '--stall'];
export const STALLS = ['fetch', 'register', 'memory', 'barrier', 'unit', 'turn'];
export const CLASS_WORDS = {memory: 'every warp waits for memory', idle: 'idle for another reason', stall: 'ready, but a unit was taken'};
export const STALL_WORDS = {fetch: 'the instruction', register: 'a result', memory: 'data', barrier: 'other threads', unit: 'a unit', turn: 'its turn'};
export const LETTERS = 'ABCDEFGH';

export const colour = name => `var(${name})`;
export const sum = list => list.reduce((total, one) => total + one, 0);
export const slotsOf = counts => sum(Object.values(counts.cycle_classes || {}));

// A class as people read it: the width of groups for machines whose warps have other sizes than 32 is in eighths.
export function className(name, warpSize) {
    const at = ISSUED.indexOf(name);
    if (at < 0)
        return CLASS_WORDS[name];
    const first = Math.floor(at * warpSize / 8) + 1, last = Math.floor((at + 1) * warpSize / 8);
    return first >= last ? `issued, ${last} lane${last === 1 ? '' : 's'}` : `issued, ${first}–${last} lanes`;
}

function open(element, index, total) {
    const data = JSON.parse(element.textContent);
    element.remove(); // its text is not needed twice
    const parameters = data.machine.parameters, of = key => parameters[key] ? parameters[key].value : undefined;
    const result = {
        index, data, name: element.dataset.name, letter: LETTERS[index],
        timed: data.mode === 'timed', warpSize: of('sm.warp_size') || 32, mechanism: of('divergence.mechanism'), parameter: of,
        launch: 0, kernel: 0, why: null, unit: key => data.units[key] || '',
    };
    result.title = total > 1 ? `${result.letter}: ${result.name}` : result.name;
    data.launches.forEach((launch, i) => {
        if (result.timed && launch.cycles > data.launches[result.launch].cycles)
            result.launch = i; // the longest first
    });
    data.kernels.forEach((kernel, i) => {
        if (kernel.warp_instructions > data.kernels[result.kernel].warp_instructions)
            result.kernel = i;
    });
    return result;
}

export function readResults() {
    const elements = [...document.querySelectorAll('script.result')];
    const results = elements.map((element, i) => open(element, i, elements.length));
    for (const element of document.querySelectorAll('script.why'))
        results[Number(element.dataset.result)].why = JSON.parse(element.textContent);
    return results;
}

export const sizes = list => list.filter((size, i) => i === 0 || size > 1 || list.slice(i).some(one => one > 1)).join(' × ');
export const times = (count, noun) => `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`;
export const isAccess = inst => inst.transactions > 0;
export const place = line => `${line.file}:${line.line}`;

// Of all lines the one with the most of something.
export function worstLine(result, of) {
    let worst = null, most = 0;
    for (const line of result.data.total.lines) {
        const count = of(line);
        if (count > most)
            [worst, most] = [line, count];
    }
    return worst && {line: worst, count: most};
}

export function mainStall(stalls) {
    return STALLS.reduce((most, name) => stalls[name] > stalls[most] ? name : most, STALLS[0]);
}

// What cost most of the schedulers' slots, from the result alone.
export function costs(result) {
    const total = result.data.total, list = [];
    const with_line = (slots, title, words, of) => list.push({slots, title, words, worst: of && worstLine(result, of)});
    if (!result.timed)
        return list;
    const {cycle_classes: classes, nobody, stall_stages: stages} = total;
    const issued = sum(ISSUED.map(name => classes[name]));
    with_line(classes.memory - nobody.memory, 'Waiting for memory', 'every warp of a scheduler waited for data',
        line => line.cycle_classes.memory);
    with_line(classes.idle - nobody.idle, 'Waiting inside the SM',
        'warps waited for a result of their own, for an instruction to be fetched or at a barrier', line => line.cycle_classes.idle);
    with_line(nobody.memory + nobody.idle, 'No warp to run', 'a scheduler had no warp at all: too few blocks, or the last ones still running elsewhere');
    const stage = Object.keys(stages).reduce((most, name) => stages[name] > stages[most] ? name : most);
    const missing = {in_flight: 'because as many instructions were in flight as an SM holds',
        scheduler: 'because the scheduler held it back'}[stage] || `the ${stage.replace('_', '/')} unit`;
    with_line(classes.stall, 'Units taken', `a warp was ready and what it needs was not, mostly ${missing}`, line => line.cycle_classes.stall);
    with_line(issued * (1 - total.simd_efficiency), 'Lanes switched off',
        'groups were issued with some of their lanes off: threads that diverged, or warps that are not full',
        line => line.warp_instructions * (1 - line.simd_efficiency));
    return list.sort((a, b) => b.slots - a.slots).filter(cost => cost.slots > 0);
}
