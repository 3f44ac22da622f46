/* SPDX-License-Identifier: Apache-2.0 */
import {h, choice} from './dom.js';
import {readResults} from './model.js';
import {summaryPage} from './summary.js';
import {cyclesPage} from './cycles.js';
import {timePage} from './time.js';
import {sourcePage} from './source.js';
import {divergencePage} from './divergence.js';
import {memoryPage} from './memory.js';
import {configurationPage} from './configuration.js';
import {comparisonPage} from './comparison.js';

const PAGES = [
    ['summary', 'Summary', summaryPage], ['cycles', 'Cycles', cyclesPage], ['time', 'Over time', timePage], ['source', 'Source', sourcePage],
    ['divergence', 'Divergence', divergencePage], ['memory', 'Memory', memoryPage], ['configuration', 'Configuration', configurationPage], ['comparison', 'Comparison', comparisonPage],
];
const LAUNCHES_LISTED = 300;
const state = {results: readResults(), shown: 0};
const content = document.getElementById('content');
const pageNow = () => PAGES.find(([name]) => `#${name}` === location.hash) || PAGES[0];

function render([name, , make]) {
    const result = state.results[state.shown];
    return h('section', {class: 'page', id: `page-${name}`}, make(result, state, focus => draw(focus)));
}

// Anew, where the reader is. `focus`: a selector, or the beginning of an accessible name, to stand at afterwards.
function draw(focus) {
    const page = pageNow(), scroll = window.scrollY;
    const selection = focus && document.activeElement.selectionStart;
    content.replaceChildren(render(page));
    document.title = `${page[1]} – ${state.results[state.shown].name} – Heddle report`;
    window.scrollTo(0, scroll);
    if (!focus)
        return;
    const target = focus.startsWith('#') ? document.querySelector(focus) : [...content.querySelectorAll('[aria-label]')].find(one => one.getAttribute('aria-label').startsWith(focus));
    if (target) {
        target.focus({preventScroll: true});
        if (typeof selection === 'number' && target.setSelectionRange)
            target.setSelectionRange(selection, selection);
    }
}

function controls() {
    const result = state.results[state.shown], launches = result.data.launches;
    const theme = choice('Colours', [['', 'as the system'], ['light', 'light'], ['dark', 'dark']], document.documentElement.dataset.theme || '', chosen => {
        if (chosen)
            document.documentElement.dataset.theme = chosen;
        else
            delete document.documentElement.dataset.theme;
    });
    const change = i => {
        result.launch = Math.max(0, Math.min(launches.length - 1, i));
        draw();
    };
    const launch = launches.length < 2 ? null : launches.length <= LAUNCHES_LISTED
        ? choice('Launch', launches.map((one, i) => [i, `${i + 1}: ${one.kernel}`]), result.launch, i => change(Number(i)))
        : h('label', {}, `Launch (1 to ${launches.length})`, h('input', {type: 'number', min: 1, max: launches.length, value: result.launch + 1, onchange: event => change(Number(event.target.value) - 1)}));
    document.getElementById('choices').replaceChildren(...[
        state.results.length > 1 && choice('Result', state.results.map((one, i) => [i, one.title]), state.shown, i => {
            state.shown = Number(i);
            controls();
            draw();
        }), launch, theme].filter(Boolean));
    document.getElementById('title').replaceChildren(`Heddle report: ${result.name}`);
}

function go() {
    const page = pageNow();
    for (const link of document.getElementById('nav').children)
        if (link.hash === `#${page[0]}`)
            link.setAttribute('aria-current', 'page');
        else
            link.removeAttribute('aria-current');
    controls();
    draw();
    window.scrollTo(0, 0);
}

document.getElementById('nav').append(...PAGES.map(([name, title], i) => h('a', {href: `#${name}`, 'aria-keyshortcuts': String(i + 1)}, title)));
document.getElementById('skip').addEventListener('click', event => {
    event.preventDefault();
    content.focus();
});
document.getElementById('foot').append(h('p', {}, `Written by Heddle ${state.results[0].data.heddle}. Keys 1 to ${PAGES.length} open the pages; Tab and Enter reach everything in them. Printing prints all pages.`));
window.addEventListener('hashchange', go);
window.addEventListener('keydown', event => {
    if (event.ctrlKey || event.altKey || event.metaKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName))
        return;
    const page = PAGES[Number(event.key) - 1];
    if (page)
        location.hash = page[0];
});
window.addEventListener('beforeprint', () => {
    content.replaceChildren(...PAGES.map(render));
    content.querySelectorAll('.table').forEach(one => one.printAll(true));
});
window.addEventListener('afterprint', () => draw());
go();
