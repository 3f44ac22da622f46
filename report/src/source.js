/* SPDX-License-Identifier: Apache-2.0 */
import {h, value, whole, percent, decimal, missing, table, choice} from './dom.js';
import {CLASSES, STALLS, STALL_WORDS, className, colour, isAccess, mainStall, place, slotsOf, sum} from './model.js';

// Accesses of a line, by its instructions that made transactions.
function accessesByLine(result) {
    const out = new Map();
    for (const kernel of result.data.kernels)
        for (const inst of kernel.instructions)
            if (isAccess(inst))
                out.set(place(inst), (out.get(place(inst)) || 0) + inst.warp_instructions);
    return out;
}

function stallBar(stalls) {
    const all = sum(STALLS.map(name => stalls[name]));
    return h('span', {class: 'track', style: 'display:inline-flex;width:48px;height:11px;border:1px solid var(--line)', role: 'img',
        'aria-label': all ? STALLS.map(name => `${name} ${percent(stalls[name] / all)}`).join(', ') : 'no wait'},
    all ? STALLS.map(name => h('i', {style: `display:block;width:${100 * stalls[name] / all}%;background:${colour(`--s-${name}`)}`})) : null);
}

const perAccess = (transactions, accesses) => accesses ? decimal(transactions / accesses) : '';

function columnsOf(result, accesses, total) {
    const share = row => slotsOf(row.counts) / total;
    return [
        ...(result.timed ? [{title: 'of all slots', class: 'n', help: 'its part of the time', text: row => row.counts ? [row.path ? h('span', {}, percent(share(row))) : percent(share(row)), h('span', {class: 'share', 'aria-hidden': 'true', style: `--p:${Math.min(100, 100 * share(row)).toFixed(1)}%`})] : '', key: row => row.counts ? share(row) : -1}] : []),
        {title: 'issues', help: 'warp instructions', text: row => row.counts ? value(result, `${row.path}/warp_instructions`) : '', key: row => row.counts ? row.counts.warp_instructions : -1},
        {title: 'SIMD', help: 'SIMD efficiency', text: row => row.counts ? percent(row.counts.simd_efficiency) : '', key: row => row.counts ? row.counts.simd_efficiency : 2},
        {title: 'diverged', help: 'branches at which lanes diverged', text: row => row.counts && row.counts.divergent ? value(result, `${row.path}/divergent`) : '', key: row => row.counts ? row.counts.divergent : -1},
        ...(result.timed ? [
            {title: 'waits for', left: true, help: 'warp-cycles before it issued, by reason', text: row => row.counts ? [stallBar(row.counts.stalls), sum(Object.values(row.counts.stalls)) ? ` ${mainStall(row.counts.stalls)}` : ''] : '', key: row => row.counts ? sum(Object.values(row.counts.stalls)) : -1},
            {title: 'trans. / access', help: 'memory transactions per issue of its loads and stores', text: row => row.counts ? perAccess(row.counts.transactions, accesses(row.counts)) : '', key: row => row.counts && accesses(row.counts) ? row.counts.transactions / accesses(row.counts) : -1},
        ] : []),
    ];
}

// All that was counted for a line or an instruction.
function details(result, row) {
    if (!row || !row.counts)
        return h('p', {class: 'soft'}, 'Choose a line or an instruction to see everything that was counted for it.');
    const counts = row.counts, entry = (name, path, format) => [h('span', {}, name), h('span', {}), h('span', {class: 'n'}, value(result, `${row.path}/${path}`, format))];
    return [
        h('h3', {}, row.title),
        h('div', {class: 'bars'}, entry('warp instructions', 'warp_instructions'), entry('thread instructions', 'thread_instructions'), entry('active lanes', 'active_lanes'),
            entry('SIMD efficiency', 'simd_efficiency', percent), entry('branches that diverged', 'divergent'),
            result.timed && [entry('memory transactions', 'transactions'), entry('L1 misses', 'misses'),
                STALLS.filter(name => counts.stalls[name]).map(name => entry(`warp cycles waiting for ${STALL_WORDS[name]}`, `stalls/${name}`)),
                CLASSES.filter(name => counts.cycle_classes[name]).map(name => entry(`slots: ${className(name, result.warpSize)}`, `cycle_classes/${name}`))]),
    ];
}

export function sourcePage(result, state, redraw) {
    const data = result.data, lines = data.total.lines, files = [...new Set(lines.map(line => line.file))];
    if (!lines.length)
        return [h('h1', {}, 'Source'), missing('Nothing was issued.')];
    const file = files.includes(state.file) ? state.file : files.reduce((best, name) => {
        const weight = one => sum(lines.filter(line => line.file === one).map(line => result.timed ? slotsOf(line) : line.warp_instructions));
        return weight(name) > weight(best) ? name : best;
    }, files[0]);
    const kernel = data.kernels[result.kernel], total = data.total.slots || 1;
    const accesses = accessesByLine(result), counted = new Map();
    const lineRows = lines.map((line, i) => ({counts: line, path: `total/lines/${i}`, title: place(line), line: line.line, file: line.file, text: line.text}));
    for (const row of lineRows)
        if (row.file === file)
            counted.set(row.line, row);
    const texts = Object.values(data.sources || {}).filter(source => source.name === file).map(source => source.text.replace(/\n$/, '').split('\n'));
    const listing = texts.length === 1 ? texts[0].map((text, i) => counted.get(i + 1) || {line: i + 1, file, text}) : [...counted.values()];
    const instructions = kernel.instructions.map((inst, i) => ({counts: inst, path: `kernels/${result.kernel}/instructions/${i}`, title: `${inst.pc}: ${inst.text}`, pc: inst.pc, text: inst.text, line: inst.line, file: inst.file}));
    // The margin is as dark as the line is hot, the hottest wholly. The page opens there, or where the hot list led.
    const weigh = counts => !counts ? 0 : result.timed ? slotsOf(counts) : counts.warp_instructions;
    for (const row of [...listing, ...instructions])
        row.weight = weigh(row.counts);
    const hotter = (best, row) => row.weight > best.weight ? row : best;
    const hottest = listing.reduce(hotter, listing[0]), hottestInst = instructions.reduce(hotter, instructions[0]);
    const heat = top => row => `--heat:${row.weight ? (row.weight / top.weight).toFixed(3) : 0}`;
    const opening = listing.find(row => row.counts && row.line === state.line) || hottest;
    state.line = null;
    let chosen = opening.counts ? opening : null;
    const panel = h('div', {'aria-live': 'polite', style: 'min-height:160px'}, details(result, chosen));
    const isChosen = row => chosen && row.file === chosen.file && row.line === chosen.line && (row.pc === undefined || chosen.pc === undefined || row.pc === chosen.pc);
    const tables = [];
    function choose(row, from) {
        chosen = row;
        panel.replaceChildren(...[details(result, row)].flat());
        const other = from === 'ptx' ? tables[0] : tables[1], rows = from === 'ptx' ? listing : instructions;
        tables.forEach(one => one.redraw());
        other.showRow(rows.findIndex(one => one.file === row.file && one.line === row.line));
        const again = tables[from === 'ptx' ? 1 : 0].querySelector('tr.chosen');
        if (again)
            again.focus({preventScroll: true});
    }
    const byLine = counts => accesses.get(place(counts)) || 0, byInst = inst => isAccess(inst) ? inst.warp_instructions : 0;
    tables.push(table([
        {title: 'line', class: 'hot', style: heat(hottest), text: row => String(row.line), key: row => row.line}, {title: 'source', left: true, class: 'text', text: row => row.text},
        ...columnsOf(result, byLine, total),
    ], listing, {label: `Source ${file}`, class: 'code', sort: 0, ascending: true, tall: true, name: row => `Line ${row.line}: ${row.text.trim() || 'empty'}`, choose: row => choose(row, 'source'), isChosen}));
    tables.push(table([
        {title: 'PC', class: 'hot', style: heat(hottestInst), text: row => String(row.pc), key: row => row.pc}, {title: 'line', text: row => String(row.line), key: row => row.line},
        {title: 'instruction', left: true, class: 'text', text: row => row.text}, ...columnsOf(result, byInst, total),
    ], instructions, {label: `Instructions of ${kernel.kernel}`, class: 'code', sort: 0, ascending: true, tall: true, name: row => `PC ${row.pc}: ${row.text}`, choose: row => choose(row, 'ptx'), isChosen}));
    if (chosen)
        requestAnimationFrame(() => {
            tables[0].showRow(listing.indexOf(opening));
            tables[1].showRow(instructions.findIndex(one => one.file === opening.file && one.line === opening.line));
        });
    const nobody = result.timed ? sum(Object.values(data.total.nobody)) : 0;
    const foot = [
        h('th', {class: 'l', scope: 'row'}, 'sum of all lines'),
        ...(result.timed ? [h('td', {id: 'lines-slots'}, whole(sum(lines.map(slotsOf))))] : []),
        h('td', {id: 'lines-issues'}, whole(sum(lines.map(line => line.warp_instructions)))),
        h('td', {}, percent(data.total.simd_efficiency)), h('td', {}, whole(sum(lines.map(line => line.divergent)))),
        ...(result.timed ? [h('td', {class: 'l', id: 'lines-stalls'}, whole(sum(lines.map(line => sum(Object.values(line.stalls)))))), h('td', {}, '')] : []), h('td', {}, ''),
    ];
    const [shareColumn, ...others] = columnsOf(result, byLine, total);
    const hotColumns = result.timed ? [{title: 'slots', text: row => whole(slotsOf(row.counts)), key: row => slotsOf(row.counts)}, ...others] : [shareColumn, ...others];
    return [
        h('h1', {}, 'Source'),
        h('p', {}, result.timed ? 'A line\'s part of the slots is its part of the time: slots in which it issued, and in which nothing did and a warp stood at it. The page opens at the hottest line; the margin is as dark as a line is hot beside it.' : 'A functional run: how often lines were issued, without time. The page opens at the line issued most; the margin is as dark as a line is beside it.'),
        h('p', {class: 'controls'}, files.length > 1 && choice('File', files.map(name => [name, name]), file, name => {
            state.file = name;
            redraw();
        }), data.kernels.length > 1 && choice('Kernel', data.kernels.map((one, i) => [i, one.kernel]), result.kernel, i => {
            result.kernel = Number(i);
            redraw();
        })),
        texts.length !== 1 && missing(texts.length ? 'Several sources have this name; only lines that issued are shown.' : 'The text of this file was not at hand when the result was written; only lines that issued are shown.'),
        h('div', {class: 'two'}, h('section', {}, h('h2', {}, file), tables[0]), h('section', {}, h('h2', {}, `Instructions of ${kernel.kernel}`), tables[1])),
        panel,
        h('h2', {}, 'Hot list: every line that issued'),
        table([{title: 'line', left: true, text: row => row.title, key: row => row.title}, ...hotColumns, {title: 'source', left: true, class: 'text', text: row => row.text.trim()}],
            lineRows, {label: 'Hot list', class: 'code', sort: 1, foot, name: row => `${row.title}: ${row.text.trim()}`, choose: row => {
                if (row.file !== file) {
                    state.file = row.file;
                    state.line = row.line;
                    redraw();
                } else {
                    choose(row, 'ptx');
                }
            }}),
        result.timed && h('p', {class: 'small soft'}, `The lines have ${whole(sum(lines.map(slotsOf)))} slots, schedulers without a warp ${whole(nobody)}: together all `, value(result, 'total/slots'), '.'),
    ];
}
