/* SPDX-License-Identifier: Apache-2.0 */
// Charts as SVG: drawn anew when their width changes, with a cursor by mouse and by arrow keys, and their numbers below as a
// table.
import {h, svg, short, whole, decimal, table} from './dom.js';
import {colour} from './model.js';

const LEFT = 58, RIGHT = 12, TOP = 10, BOTTOM = 24;

export function legend(entries) {
    return h('ul', {class: 'legend', 'aria-hidden': 'true'}, entries.map(entry => h('li', {}, h('i', {style: `background:${colour(entry.colour)}`}), entry.name)));
}

// Round steps up to a value.
export function steps(most, count) {
    if (!(most > 0))
        return [0, 1];
    const raw = most / count, size = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 2.5, 5, 10].find(times => times * size >= raw * 0.999) * size;
    const out = [];
    for (let at = 0; at <= most * 1.0001 + step * 0.999; at += step)
        out.push(Number(at.toPrecision(12)));
    return out;
}

// Redraws when the element gets another width; at once when it gets its first.
function watchWidth(element, draw) {
    let last = 0;
    new ResizeObserver(() => {
        const width = Math.round(element.clientWidth);
        if (width && width !== last) {
            last = width;
            draw(width);
        }
    }).observe(element);
}

// What charts over cycles share: the axis, the cursor, reading by mouse and keys, the numbers below. options: title, label (of
// the picture, in words), series: [{name, colour, values, raw}], ends: where each value's interval ends, x (name of the axis),
// height. `raw`: what the result file has, for the table. paint(picture, x, begin, width): draws all but the axis; above:
// what stands over the picture. options.spoken: of so many series, those with the highest values, the reading tells.
function chart(options, height, paint, above) {
    const count = options.ends.length, last = options.ends[count - 1] || 1, lines = Math.min(options.series.length, options.spoken || Infinity);
    const plot = h('div', {class: 'plot', style: `height:${height}px`, tabindex: 0, role: 'img', 'aria-label': `${options.label} Arrow keys read the values.`});
    const readout = h('p', {class: 'readout', 'aria-live': 'polite', style: `--wide:${Math.ceil((lines + 1) / 5)};--narrow:${Math.ceil(lines / 2) + 2}`}, 'Point at the chart, or focus it and use the arrow keys, to read values.');
    let cursor = -1, width = 0;
    const x = at => LEFT + (width - LEFT - RIGHT) * at / last;
    const begin = k => k ? options.ends[k - 1] : 0;

    function draw() {
        const picture = svg('svg', {'aria-hidden': 'true', focusable: 'false'});
        paint(picture, x, begin, width);
        const marks = steps(last, Math.max(2, Math.floor(width / 150))).filter(at => at <= last);
        marks.forEach(at => picture.append(svg('text', {x: x(at), y: height - 7, 'text-anchor': at === 0 ? 'start' : x(at) > width - 60 ? 'end' : 'middle'}, `${short(at)}${at === 0 ? ` ${options.x}` : ''}`)));
        if (cursor >= 0)
            picture.append(svg('line', {class: 'cursor', x1: x((begin(cursor) + options.ends[cursor]) / 2), x2: x((begin(cursor) + options.ends[cursor]) / 2), y1: TOP, y2: height - BOTTOM}));
        plot.replaceChildren(picture);
    }
    const said = () => lines === options.series.length ? options.series : options.series.slice().sort((a, b) => b.values[cursor] - a.values[cursor]).slice(0, lines);
    function read(k) {
        cursor = Math.max(0, Math.min(count - 1, k));
        draw();
        readout.replaceChildren(`${options.x} ${whole(begin(cursor))} to ${whole(options.ends[cursor])}: `,
            said().map(one => `${one.name} ${decimal(one.values[cursor])}`).join(' · '));
    }
    plot.addEventListener('pointermove', event => {
        const at = (event.clientX - plot.getBoundingClientRect().left - LEFT) / (width - LEFT - RIGHT) * last;
        const k = options.ends.findIndex(end => at < end);
        if (count && at >= 0 && k >= 0 && k !== cursor)
            read(k);
    });
    plot.addEventListener('keydown', event => {
        const move = {ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -count, End: count}[event.key];
        if (move && count) {
            event.preventDefault();
            read(cursor + move);
        }
    });
    watchWidth(plot, now => {
        width = now;
        draw();
    });
    return h('figure', {}, h('figcaption', {}, options.title), above, plot, readout,
        lazy('Numbers', () => table([
            {title: options.x, text: k => whole(begin(k)), key: k => begin(k)},
            ...options.series.map(one => ({title: one.name, text: k => one.raw ? h('span', {'data-result': one.result, 'data-key': `${one.raw}/${k}`}, whole(one.rawValues[k])) : decimal(one.values[k])})),
        ], options.ends.map((_, k) => k), {label: `${options.title}: numbers`, sort: 0, ascending: true, tall: true})));
}

// Lines, or areas one upon another: options.stacked.
export function timeChart(options) {
    const height = options.height || 220, count = options.ends.length;
    const stack = options.stacked ? options.series.map((one, s) => one.values.map((_, k) => options.series.slice(0, s + 1).reduce((total, each) => total + each.values[k], 0))) : options.series.map(one => one.values);
    let most = 0;
    for (const values of stack)
        for (const one of values)
            most = Math.max(most, one);
    const ticks = steps(most, 4), top = ticks[ticks.length - 1];
    const y = at => TOP + (height - TOP - BOTTOM) * (1 - at / top);

    return chart(options, height, (picture, x, begin, width) => {
        function path(values, below) {
            let out = '';
            for (let k = 0; k < count; k++)
                out += `${k ? 'L' : 'M'}${x(begin(k)).toFixed(1)} ${y(values[k]).toFixed(1)}L${x(options.ends[k]).toFixed(1)} ${y(values[k]).toFixed(1)}`;
            if (!options.stacked)
                return out;
            for (let k = count - 1; k >= 0; k--)
                out += `L${x(options.ends[k]).toFixed(1)} ${y(below ? below[k] : 0).toFixed(1)}L${x(begin(k)).toFixed(1)} ${y(below ? below[k] : 0).toFixed(1)}`;
            return `${out}Z`;
        }
        for (const at of ticks)
            picture.append(svg('line', {class: 'grid', x1: LEFT, x2: width - RIGHT, y1: y(at), y2: y(at)}), svg('text', {x: LEFT - 6, y: y(at) + 4, 'text-anchor': 'end'}, short(at)));
        options.series.forEach((one, s) => picture.append(svg('path', options.stacked
            ? {d: path(stack[s], s ? stack[s - 1] : null), fill: colour(one.colour)}
            : {d: path(stack[s]), fill: 'none', stroke: colour(one.colour), 'stroke-width': 1.6})));
    }, legend(options.series));
}

const SHADES = 8;

// A row for each series, the stronger the higher its value: a path for each shade, however many fields there are.
export function heatChart(options) {
    const row = Math.max(5, Math.min(16, 320 / options.series.length)), height = TOP + BOTTOM + row * options.series.length;
    const most = Math.max(1e-300, ...options.series.map(one => Math.max(...one.values)));
    const every = Math.ceil(14 / row);
    const shade = k => `fill-opacity:${(k / SHADES).toFixed(3)}`;
    return chart(options, height, (picture, x, begin, width) => {
        const paths = Array.from({length: SHADES + 1}, () => '');
        options.series.forEach((one, s) => one.values.forEach((at, k) => {
            if (at > 0)
                paths[Math.max(1, Math.round(SHADES * at / most))] += `M${x(begin(k)).toFixed(1)} ${(TOP + s * row).toFixed(1)}H${x(options.ends[k]).toFixed(1)}v${(row - 1).toFixed(1)}H${x(begin(k)).toFixed(1)}Z`;
        }));
        picture.append(svg('rect', {x: LEFT, y: TOP, width: Math.max(0, width - LEFT - RIGHT), height: row * options.series.length, fill: colour('--raised')}));
        paths.forEach((d, k) => d && picture.append(svg('path', {d, fill: colour(options.colour), style: shade(k)})));
        options.series.forEach((one, s) => s % every === 0 && picture.append(svg('text', {x: LEFT - 6, y: TOP + (s + 0.5) * row + 4, 'text-anchor': 'end'}, one.name)));
    }, h('p', {class: 'small soft'}, `The strongest colour is ${decimal(most)} ${options.unit}.`));
}

// Filled when it is first opened.
export function lazy(title, make) {
    const details = h('details', {}, h('summary', {}, title));
    details.addEventListener('toggle', () => {
        if (details.open && details.children.length === 1)
            details.append(make());
    });
    return details;
}

// rows: [{name, parts: [{value, colour, name}], text: element}]; all on the scale of the largest, or of options.full.
export function bars(label, rows, full) {
    const most = full || Math.max(1e-300, ...rows.map(row => row.parts.reduce((total, part) => total + part.value, 0)));
    return h('div', {class: 'bars', role: 'group', 'aria-label': label}, rows.map(row => [
        h('span', {}, row.name),
        h('span', {class: 'track', role: 'img', 'aria-label': `${row.name}: ${row.parts.map(part => `${part.name ? `${part.name} ` : ''}${decimal(part.value)}`).join(', ')}`},
            row.parts.filter(part => part.value > 0).map(part => h('i', {style: `width:${100 * part.value / most}%;background:${colour(part.colour)}`, title: part.name || null}))),
        h('span', {class: 'n'}, row.text),
    ]));
}

// A histogram of the result file, a bar for each bucket; neighbouring ones are put together when there are more than `most`.
export function histogram(result, path, label, options) {
    const found = path.split('/').reduce((at, key) => at && at[key], result.data);
    if (!found || !found.count)
        return h('p', {class: 'soft'}, options.none);
    const name = bucket => bucket[1] === null && bucket[0] === options.last ? whole(bucket[0]) : bucket[1] === null ? `${whole(bucket[0])} and more` : bucket[0] === bucket[1] ? whole(bucket[0]) : `${whole(bucket[0])}–${whole(bucket[1])}`;
    return h('div', {}, bars(label, found.buckets.map((bucket, i) => ({
        name: name(bucket), parts: [{value: bucket[2], colour: options.colour || '--c1'}],
        text: [h('span', {'data-result': result.index, 'data-key': `${path}/buckets/${i}/2`}, whole(bucket[2])), ` (${(100 * bucket[2] / found.count).toFixed(1)} %)`],
    }))), h('p', {class: 'small soft'}, `${whole(found.count)} ${options.of}`));
}
