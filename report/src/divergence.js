/* SPDX-License-Identifier: Apache-2.0 */
import {h, svg, value, whole, percent, decimal, missing, choice, table} from './dom.js';
import {place, sum} from './model.js';
import {histogram} from './charts.js';

const MOST = 200;

function measureBlocks(result, kernel) {
    const at = new Map(kernel.instructions.map((inst, i) => [inst.pc, i]));
    return kernel.flow.map(block => {
        const inside = [];
        for (let pc = block.first; pc < block.end; pc++)
            if (at.has(pc))
                inside.push(at.get(pc));
        const list = inside.map(i => kernel.instructions[i]), last = list[list.length - 1], issues = sum(list.map(inst => inst.warp_instructions));
        const isBranch = block.next.length > 1 && last && last.pc === block.end - 1;
        return {
            ...block, list, issues, index: inside[inside.length - 1],
            entered: list.length ? list[0].warp_instructions : 0,
            lanes: issues ? sum(list.map(inst => inst.active_lanes)) / issues : 0,
            branch: isBranch ? last : null, diverged: isBranch ? last.divergent : 0, isBranch,
        };
    });
}

// Arcs beside the boxes: forward on the right, back on the left, further out the further they reach.
function arcs(holder, blocks, boxes) {
    const frame = holder.getBoundingClientRect(), position = new Map(blocks.map((block, i) => [block.first, i]));
    const narrow = frame.width < 700, room = narrow ? 26 : 62, picture = svg('svg', {'aria-hidden': 'true', focusable: 'false'});
    const rects = boxes.map(box => {
        const rect = box.getBoundingClientRect();
        return {left: rect.left - frame.left, right: rect.right - frame.left, top: rect.top - frame.top, bottom: rect.bottom - frame.top};
    });
    const reach = distance => Math.min(room, 10 + 7 * Math.abs(distance));
    const head = (x, y, side) => `M${x + side * 6} ${y - 4}L${x} ${y}L${x + side * 6} ${y + 4}`;
    blocks.forEach((block, i) => {
        const from = rects[i];
        block.next.forEach((target, k) => {
            const to = position.get(target);
            if (to === undefined)
                return;
            if (to === i + 1) {
                const x = from.left + 24 + 10 * k;
                picture.append(svg('path', {d: `M${x} ${from.bottom}L${x} ${rects[to].top - 1}M${x - 4} ${rects[to].top - 7}L${x} ${rects[to].top - 1}L${x + 4} ${rects[to].top - 7}`}));
                return;
            }
            const back = to <= i, side = back ? -1 : 1, edge = back ? 'left' : 'right', out = from[edge] + side * reach(to - i);
            const y1 = from.bottom - 14, y2 = rects[to].top + 14;
            picture.append(svg('path', {class: back ? 'back' : '', d: `M${from[edge]} ${y1}C${out} ${y1} ${out} ${y1} ${out} ${(y1 + y2) / 2}C${out} ${y2} ${out} ${y2} ${rects[to][edge]} ${y2}${head(rects[to][edge], y2, side)}`}));
        });
        const meets = position.get(block.post_dominator);
        if (block.diverged && meets !== undefined) {
            const out = from.right + (narrow ? 30 : 78), y1 = from.bottom - 26, y2 = rects[meets].top + 26;
            picture.append(svg('path', {class: 'meet', d: `M${from.right} ${y1}C${out} ${y1} ${out} ${y1} ${out} ${(y1 + y2) / 2}C${out} ${y2} ${out} ${y2} ${rects[meets].right} ${y2}${head(rects[meets].right, y2, 1)}`}));
        }
    });
    const old = holder.querySelector('svg');
    if (old)
        old.remove();
    holder.prepend(picture);
}

const pcs = block => block.end - block.first > 1 ? `PC ${block.first}–${block.end - 1}` : `PC ${block.first}`;

function box(result, block, meeting, path) {
    const first = block.list[0], text = first ? `${place(first)} ${block.list.map(inst => inst.text).join(' ')}` : 'never issued';
    return h('button', {type: 'button', class: block.diverged ? 'block diverged' : 'block', 'aria-pressed': 'false', 'data-pc': block.first},
        h('b', {}, pcs(block)), block.loop_depth ? ` · loop depth ${block.loop_depth}` : '', ` · entered ${whole(block.entered)} times`,
        block.issues ? [h('br'), 'groups of ', decimal(block.lanes), ` lanes `, h('span', {class: 'lanes', 'aria-hidden': 'true', style: `--p:${(100 * block.lanes / result.warpSize).toFixed(1)}%`})] : '',
        block.branch ? [h('br'), 'its branch diverged ', value(result, `${path}/instructions/${block.index}/divergent`), ` of ${whole(block.branch.warp_instructions)} times`] : '',
        meeting.length ? [h('br'), h('b', {}, 'Threads reconverge here'), ` that diverged at PC ${meeting.join(', ')}`] : '',
        h('span', {class: 'mono'}, text));
}

function flow(result, kernel, path) {
    let blocks = measureBlocks(result, kernel);
    const left = blocks.length - MOST;
    if (left > 0) { // those that matter most, in the order of the code
        const kept = new Set(blocks.slice().sort((a, b) => b.diverged - a.diverged || b.issues - a.issues).slice(0, MOST));
        blocks = blocks.filter(block => kept.has(block));
    }
    const meets = new Map();
    for (const block of blocks)
        if (block.diverged)
            meets.set(block.post_dominator, [...(meets.get(block.post_dominator) || []), block.end - 1]);
    const boxes = blocks.map(block => box(result, block, meets.get(block.first) || [], path));
    const listing = h('div', {'aria-live': 'polite'}), holder = h('div', {class: 'flow', role: 'group', 'aria-label': `Control flow of ${kernel.kernel}`}, boxes);
    boxes.forEach((one, i) => one.addEventListener('click', () => {
        boxes.forEach(other => other.setAttribute('aria-pressed', String(other === one)));
        const block = blocks[i], branch = block.branch;
        listing.replaceChildren(h('h3', {}, pcs(block)),
            branch && block.next.length === 2 ? h('p', {}, `Of ${whole(branch.active_lanes)} threads at its branch, ${whole(branch.thread_instructions)} went to ${block.next[1] === null ? 'the end' : `PC ${block.next[1]}`}, ${whole(branch.active_lanes - branch.thread_instructions)} to ${block.next[0] === null ? 'the end' : `PC ${block.next[0]}`}.`) : '',
            block.list.length ? table([
                {title: 'PC', text: inst => String(inst.pc)}, {title: 'line', left: true, text: place}, {title: 'issues', text: inst => whole(inst.warp_instructions)},
                {title: 'SIMD', text: inst => percent(inst.simd_efficiency)}, {title: 'instruction', left: true, class: 'text', text: inst => inst.text},
            ], block.list, {label: 'Instructions of the block', class: 'code'}) : h('p', {}, 'Nothing of it issued.'));
    }));
    new ResizeObserver(() => arcs(holder, blocks, boxes)).observe(holder);
    return [
        left > 0 && missing(`The code has ${whole(blocks.length + left)} basic blocks. Shown are the ${MOST} whose branches diverged or that issued most.`),
        holder, listing,
    ];
}

export function divergencePage(result, state, redraw) {
    const kernel = result.data.kernels[result.kernel], path = `kernels/${result.kernel}`;
    if (!kernel)
        return [h('h1', {}, 'Divergence'), missing('Nothing was launched.')];
    const branches = kernel.instructions.map((inst, i) => ({inst, i})).filter(({inst}) => inst.divergent);
    const byPc = new Map((kernel.flow || []).map(block => [block.end - 1, block])), meets = inst => byPc.get(inst.pc);
    const lanesAt = pc => {
        const inst = kernel.instructions.find(one => one.pc === pc);
        return inst && inst.warp_instructions ? inst.active_lanes / inst.warp_instructions : null;
    };
    return [
        h('h1', {}, 'Divergence'),
        h('p', {}, `Mechanism ${result.mechanism}: which threads issue together when those of a warp diverge, and when they reconverge.`),
        kernelChoice(result, redraw),
        h('div', {class: 'cards'},
            h('div', {class: 'card'}, h('b', {}, value(result, `${path}/simd_efficiency`, percent)), h('span', {}, 'SIMD efficiency')),
            h('div', {class: 'card'}, h('b', {}, value(result, `${path}/branches`)), h('span', {}, 'conditional branches issued')),
            h('div', {class: 'card'}, h('b', {}, value(result, `${path}/divergent_branches`)), h('span', {}, 'at which lanes diverged')),
            h('div', {class: 'card'}, h('b', {}, value(result, `${path}/full_groups`)), h('span', {}, 'groups issued with every lane'))),
        kernel.mechanism && [h('h2', {}, "The mechanism's own counters"), table([{title: 'counter', left: true, text: name => name.replace(/_/g, ' ')}, {title: 'value', text: name => value(result, `${path}/mechanism/${name}`)}, {title: 'unit', left: true, text: name => result.unit(`mechanism.${name}`)}], Object.keys(kernel.mechanism), {label: 'Counters of the mechanism', narrow: true})],
        h('h2', {}, 'Divergent branches'),
        branches.length ? table([
            {title: 'PC', text: ({inst}) => String(inst.pc), key: ({inst}) => inst.pc}, {title: 'line', left: true, text: ({inst}) => place(inst), key: ({inst}) => place(inst)},
            {title: 'diverged', text: ({i}) => value(result, `${path}/instructions/${i}/divergent`), key: ({inst}) => inst.divergent},
            {title: 'issued', text: ({i}) => value(result, `${path}/instructions/${i}/warp_instructions`), key: ({inst}) => inst.warp_instructions},
            {title: 'share of issues', text: ({inst}) => percent(inst.divergent / inst.warp_instructions), key: ({inst}) => inst.divergent / inst.warp_instructions},
            {title: 'mean lanes', text: ({inst}) => decimal(inst.active_lanes / inst.warp_instructions), key: ({inst}) => inst.active_lanes / inst.warp_instructions},
            {title: 'reconverges at', text: ({inst}) => !meets(inst) ? '–' : meets(inst).post_dominator === null ? 'the end' : `PC ${meets(inst).post_dominator}`},
            {title: 'lanes where they reconverge', text: ({inst}) => meets(inst) && meets(inst).post_dominator !== null && lanesAt(meets(inst).post_dominator) !== null ? decimal(lanesAt(meets(inst).post_dominator)) : '–'},
            {title: 'instruction', left: true, mono: true, text: ({inst}) => inst.text},
        ], branches, {label: 'Divergent branches', sort: 2, class: 'code'}) : h('p', {}, 'The lanes of no warp diverged at a branch.'),
        result.timed && [h('h2', {}, 'Group sizes'), histogram(result, `${path}/histograms/active_lanes`, 'Groups issued by their active lanes', {of: 'groups issued, by active lanes', none: 'Nothing was issued.', colour: '--w6', last: result.warpSize})],
        h('h2', {}, 'Control flow'),
        h('p', {}, 'Basic blocks in the order of the code. Red boxes end in a branch that diverged, a dashed line leads to where its sides reconverge (the immediate post-dominator). Lines on the left go back: loops. Where the mechanism lets threads reconverge elsewhere, groups are larger there.'),
        kernel.flow && kernel.flow.length ? flow(result, kernel, path) : missing('This result does not hold the control flow of its kernels; results of this version do.'),
    ];
}

function kernelChoice(result, redraw) {
    return result.data.kernels.length > 1 && h('p', {class: 'controls'}, choice('Kernel', result.data.kernels.map((one, i) => [i, one.kernel]), result.kernel, i => {
        result.kernel = Number(i);
        redraw();
    }));
}
