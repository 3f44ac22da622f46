/* SPDX-License-Identifier: Apache-2.0 */
// Elements, numbers and tables.

// h('p', {class: 'soft'}, 'text', element…): attributes beginning with `on` are listeners; null and false are left out.
export function h(tag, attributes, ...children) {
    const element = document.createElement(tag);
    fill(element, attributes, children);
    return element;
}

export function svg(tag, attributes, ...children) {
    const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
    fill(element, attributes, children);
    return element;
}

function fill(element, attributes, children) {
    for (const [name, value] of Object.entries(attributes || {})) {
        if (value === null || value === undefined || value === false)
            continue;
        if (name.startsWith('on'))
            element.addEventListener(name.slice(2), value);
        else
            element.setAttribute(name, value === true ? '' : value);
    }
    element.append(...children.flat(3).filter(child => child !== null && child !== undefined && child !== false));
}

export const whole = value => value.toLocaleString('en-US', {maximumFractionDigits: 0});
export const percent = part => `${(100 * part).toFixed(1)} %`;
export function decimal(value) {
    if (Number.isInteger(value))
        return whole(value);
    return Math.abs(value) >= 1000 ? whole(value) : String(Number(value.toPrecision(4)));
}
// For axes and narrow places: 12.3 k.
export function short(value) {
    for (const [size, sign] of [[1e12, ' T'], [1e9, ' G'], [1e6, ' M'], [1e3, ' k']])
        if (Math.abs(value) >= size)
            return `${Number((value / size).toPrecision(3))}${sign}`;
    return String(Number(value.toPrecision(3)));
}

// A number of the result file, which `data-key` says where to find: tests compare the two.
export function value(result, path, format) {
    const found = path.split('/').reduce((at, key) => at === undefined || at === null ? undefined : at[key], result.data);
    if (typeof found !== 'number')
        return h('span', {}, found === undefined || found === null ? '–' : String(found));
    return h('span', {'data-result': result.index, 'data-key': path}, (format || (Number.isInteger(found) ? whole : decimal))(found));
}

export function missing(...text) {
    return h('p', {class: 'missing'}, ...text);
}

export function scroller(label, content, tall) {
    return h('div', {class: tall ? 'scroll tall' : 'scroll', tabindex: 0, role: 'region', 'aria-label': label}, content);
}

const ROW = 27, SHOWN = 60, ALL = 300;

// A table of any length. columns: {title, left, mono, text(row), key(row): what it is sorted by, wrap, class, style(row)}. More than ALL
// rows: only those in sight are in the document. options: label, sort (column), ascending, foot (cells), choose(row),
// isChosen(row) and name(row) for rows that can be chosen, tall, narrow.
export function table(columns, rows, options) {
    const body = h('tbody'), head = h('tr');
    let order = rows.slice(), sorted = options.sort, ascending = !!options.ascending, first = 0, everything = rows.length <= ALL;
    const view = scroller(options.label, h('table', {class: options.class}, h('caption', {hidden: true}, options.label), h('thead', {}, head), body,
        options.foot ? h('tfoot', {}, h('tr', {}, options.foot)) : null), options.tall || rows.length > 24);
    view.classList.add('table');
    view.classList.toggle('virtual', !everything);
    view.classList.toggle('narrow', !!options.narrow);

    function cell(column, row, position) {
        const tag = position === 0 ? 'th' : 'td';
        const kinds = [column.left ? 'l' : '', column.mono ? 'mono' : '', column.wrap ? 'wrap' : '', column.class || ''].join(' ').trim();
        return h(tag, {class: kinds || null, scope: position === 0 ? 'row' : null, style: column.style ? column.style(row) : null}, column.text(row));
    }
    function line(row) {
        const attributes = {};
        if (options.choose) {
            attributes.tabindex = 0;
            attributes['aria-label'] = options.name(row);
            attributes['aria-selected'] = options.isChosen && options.isChosen(row) ? 'true' : null;
            attributes.class = attributes['aria-selected'] ? 'chosen' : null;
            attributes.onclick = () => options.choose(row);
            attributes.onkeydown = event => {
                if (event.key === 'Enter' || event.key === ' ') {
                    event.preventDefault();
                    options.choose(row);
                }
            };
        }
        return h('tr', attributes, columns.map((column, position) => cell(column, row, position)));
    }
    const spacer = height => h('tr', {class: 'spacer', 'aria-hidden': 'true'}, h('td', {colspan: columns.length, style: `height:${height}px`}));
    function draw() {
        if (everything) {
            body.replaceChildren(...order.map(line));
            return;
        }
        const last = Math.min(order.length, first + SHOWN);
        body.replaceChildren(spacer(first * ROW), ...order.slice(first, last).map(line), spacer((order.length - last) * ROW));
    }
    function sort() {
        const column = columns[sorted];
        if (column && column.key) {
            order = rows.map((row, index) => [column.key(row), index, row]);
            const sign = ascending ? 1 : -1;
            order.sort((a, b) => (a[0] < b[0] ? -sign : a[0] > b[0] ? sign : a[1] - b[1]));
            order = order.map(entry => entry[2]);
        }
        headings();
        draw();
    }
    function headings() {
        head.replaceChildren(...columns.map((column, index) => h('th', {
            scope: 'col', class: column.left ? 'l' : null, title: column.help || null,
            'aria-sort': column.key && sorted === index ? (ascending ? 'ascending' : 'descending') : null,
        }, column.key ? h('button', {type: 'button', 'aria-label': `Sort by ${column.title}`, onclick: () => {
            ascending = sorted === index ? !ascending : !!column.left;
            sorted = index;
            sort();
            head.children[index].querySelector('button').focus();
        }}, column.title) : column.title)));
    }
    view.addEventListener('scroll', () => {
        const now = Math.max(0, Math.floor(view.scrollTop / ROW) - 15);
        if (!everything && Math.abs(now - first) > 8) {
            first = now;
            draw();
        }
    });
    sort();
    view.redraw = draw;
    view.showRow = index => {
        const at = order.indexOf(rows[index]);
        if (at < 0)
            return;
        first = everything ? 0 : Math.max(0, at - 25);
        draw();
        const top = everything ? body.children[at].offsetTop : at * ROW;
        view.scrollTop = Math.max(0, top - view.clientHeight / 2 + ROW);
    };
    view.printAll = yes => {
        everything = yes ? rows.length <= 2000 : rows.length <= ALL;
        draw();
    };
    return view;
}

export function choice(label, options, chosen, change) {
    return h('label', {}, label, h('select', {onchange: event => change(event.target.value)},
        options.map(([key, text]) => h('option', {value: key, selected: String(key) === String(chosen)}, text))));
}

export function tick(label, chosen, change) {
    return h('label', {}, h('input', {type: 'checkbox', checked: chosen, style: 'margin:0 6px 0 0', onchange: event => change(event.target.checked)}), label);
}
