/* SPDX-License-Identifier: Apache-2.0 */
// The report in a browser, as a reader has it: every page and every control, in both colour schemes, wide and on a phone.
//   node check.js HEDDLE FOLDER [RESULT.json|WHY.json...]    writes FOLDER/*.png; without results: makes them by HEDDLE
// Fails when anything reaches for the network, the console says anything, content is wider than the window, something that can
// be focused has no name, the layout moves by itself, a number differs from its result file, or a sum from its total.
import {execFileSync} from 'node:child_process';
import {existsSync, mkdirSync, readFileSync, statSync, writeFileSync} from 'node:fs';
import {join, resolve} from 'node:path';
import {openBrowser} from './browser.js';

const [heddle, folder, root] = [resolve(process.argv[2]), resolve(process.argv[3]), resolve(process.argv[4] || '.')];
const PAGES = ['summary', 'cycles', 'time', 'source', 'divergence', 'memory', 'configuration', 'comparison'];
const program = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
if (!program) {
    console.log('RESULT: chromium is not installed');
    process.exit(77);
}
mkdirSync(folder, {recursive: true});

const failures = [];
let checked = 0;
function expect(condition, ...words) {
    checked++;
    if (!condition && failures.push(words.join(' ')) <= 40)
        console.log('FAILED', ...words);
}
const run = (...words) => execFileSync(heddle, words, {cwd: folder, stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8'});
const at = (result, path) => path.split('/').reduce((found, key) => found === undefined || found === null ? undefined : found[key], result);
const sum = list => list.reduce((total, one) => total + one, 0);
const read = name => JSON.parse(readFileSync(join(folder, name), 'utf8'));

// A number as a page shows it is the file's, as far as its digits go.
function equal(text, value) {
    const plain = text.replace(/,/g, '').trim(), isPercent = plain.endsWith('%'), shown = Number(plain.replace('%', ''));
    if (Number.isInteger(value) && !isPercent)
        return shown === value;
    const wanted = isPercent ? 100 * value : value, digits = plain.replace('%', '').trim().replace(/^-?0*\.?0*/, '').replace(/e.*/, '').replace('.', '').length;
    return isPercent ? Math.abs(shown - wanted) <= 0.0501 : Math.abs(shown - wanted) <= Math.abs(wanted) * 10 ** -Math.min(3, digits - 0) || shown === Number(value.toPrecision(4)) || shown === Math.round(value);
}

const pause = ms => new Promise(done => setTimeout(done, ms));

async function settle(browser) {
    await browser.evaluate('new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))');
}

// ready: what holds once the page's own script has run.
async function open(browser, name, ready = '!!document.querySelector("section.page")') {
    await browser.page('Page.navigate', {url: 'about:blank'});
    await browser.page('Page.navigate', {url: `file://${join(folder, name)}`});
    for (let tries = 0; tries < 600; tries++) {
        if (await browser.evaluate(`document.readyState === "complete" && ${ready}`).catch(() => false))
            return;
        await pause(50);
    }
    throw new Error(`${name} does not come up`);
}

async function show(browser, page) {
    await browser.evaluate(`new Promise(done => {
        if (location.hash === '#${page}') { done(); return; }
        addEventListener('hashchange', () => done(), {once: true});
        location.hash = '${page}';
    })`);
    await settle(browser);
}

async function shoot(browser, name, width) {
    const {cssContentSize} = await browser.page('Page.getLayoutMetrics');
    const clip = {x: 0, y: 0, width, height: Math.min(4000, Math.ceil(cssContentSize.height)), scale: 1};
    const picture = await browser.page('Page.captureScreenshot', {captureBeyondViewport: true, clip});
    writeFileSync(join(folder, `${name}.png`), Buffer.from(picture.data, 'base64'));
}

// All numbers with a place in the file; tables with their rows in the document only.
async function compareNumbers(browser, results, where) {
    const shown = await browser.evaluate(`[...document.querySelectorAll('[data-key]')].map(one => [one.dataset.result, one.dataset.key, one.textContent])`);
    for (const [index, key, text] of shown)
        expect(equal(text, at(results[index], key)), where, key, 'shows', text, 'for', at(results[index], key));
    return shown.length;
}

async function layout(browser, where) {
    const [content, window] = await browser.evaluate('[document.documentElement.scrollWidth, innerWidth]');
    expect(content <= window, where, `is ${content} px wide in a window of ${window}`);
    // text that leaves its box, where nothing scrolls
    const cut = await browser.evaluate(`[...document.querySelectorAll('main p, main h1, main h2, main h3, main li, .card, .brand, nav a, button:not(.block), label')].filter(one => one.clientWidth && one.scrollWidth > one.clientWidth + 1).map(one => one.outerHTML.slice(0, 120))`);
    expect(!cut.length, where, 'cuts off', cut[0]);
    const overlapping = await browser.evaluate(`(() => {
        const boxes = [...document.querySelectorAll('main section.page > *, .card, .block, .bars > *, .heat > *')].map(one => ({one, box: one.getBoundingClientRect()})).filter(({box}) => box.width && box.height);
        for (let i = 0; i < boxes.length; i++)
            for (let k = i + 1; k < boxes.length; k++) {
                const [a, b] = [boxes[i], boxes[k]];
                if (a.one.contains(b.one) || b.one.contains(a.one)) continue;
                if (Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left) > 1 && Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top) > 1)
                    return a.one.outerHTML.slice(0, 90) + ' and ' + b.one.outerHTML.slice(0, 90);
            }
        return '';
    })()`);
    expect(!overlapping, where, 'overlap:', overlapping);
}

async function names(browser, where) {
    const {nodes} = await browser.page('Accessibility.getFullAXTree');
    for (const node of nodes) {
        const role = node.role?.value, focusable = node.properties?.some(property => property.name === 'focusable' && property.value.value);
        if (!node.ignored && (focusable || role === 'image' || role === 'img') && !['RootWebArea', 'main', 'generic'].includes(role))
            expect(node.name?.value?.trim(), where, `a ${role} has no name`);
    }
}

// Text against what is behind it, by WCAG 2's ratio.
async function contrast(browser, where) {
    const worst = await browser.evaluate(`(() => {
        const parse = text => (text.match(/[\\d.]+/g) || []).map(Number), light = ([r, g, b]) => [r, g, b].map(c => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4).reduce((t, c, i) => t + c * [0.2126, 0.7152, 0.0722][i], 0);
        let worst = [99, ''];
        for (const one of document.querySelectorAll('main p, main h1, main h2, main td, main th, main label, main figcaption, nav a, footer p, .card span')) {
            if (!one.textContent.trim() || !one.getClientRects().length) continue;
            let behind = one, paint = [];
            while (behind && (!(paint = parse(getComputedStyle(behind).backgroundColor)).length || paint[3] === 0)) behind = behind.parentElement;
            const a = light(parse(getComputedStyle(one).color)), b = light(behind ? paint : [255, 255, 255]);
            const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
            if (ratio < worst[0]) worst = [ratio, one.outerHTML.slice(0, 100)];
        }
        return worst;
    })()`);
    expect(worst[0] >= 4.5, where, `has text of contrast ${worst[0].toFixed(2)}:`, worst[1]);
}

// Everything that can be worked is, of what there is many of a few; whatever it does, the page stays whole.
async function work(browser, where) {
    const worked = await browser.evaluate(`(${workAll})()`);
    for (const broken of worked.broken)
        expect(false, where, broken);
    await settle(browser);
    return worked.count;
}

// Runs in the page.
function workAll() {
    const all = () => document.querySelectorAll('header select, main select, main input, main button, main summary, main tr[tabindex], main .plot');
    const selectOf = label => [...document.querySelectorAll('select')].find(other => other.parentElement.textContent === label);
    const seen = {}, broken = [];
    let count = 0;
    const set = (element, change, event) => {
        change(element);
        element.dispatchEvent(new Event(event, {bubbles: true}));
    };
    const press = (element, key) => element.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}));
    for (let i = 0; i < all().length; i++) {
        const one = all()[i], around = one.closest('.heat, .flow, tbody, thead');
        const kind = [one.tagName, one.type, around && around.className, around && around.tagName, one.closest('.table') && one.closest('.table').getAttribute('aria-label')].join(' ');
        seen[kind] = (seen[kind] || 0) + 1;
        if (seen[kind] > 2)
            continue;
        count++;
        one.focus();
        if (one.tagName === 'SELECT') {
            const label = one.parentElement.textContent, before = one.selectedIndex;
            for (let k = 0; k < Math.min(9, one.options.length); k++)
                set(selectOf(label) || one, now => now.selectedIndex = k, 'change');
            set(selectOf(label) || one, now => now.selectedIndex = before, 'change');
        } else if (one.type === 'search') {
            set(one, now => now.value = 'l1', 'input');
            const keys = [...document.querySelectorAll('.table')][0].querySelectorAll('tbody tr').length;
            set(document.querySelector('#filter'), now => now.value = '', 'input');
            if (document.querySelectorAll('.table tbody tr').length <= keys)
                broken.push('the search finds everything');
        } else if (one.type === 'checkbox') {
            one.click();
            const again = document.querySelector('main input[type=checkbox]');
            if (!again.checked)
                broken.push('the box is not ticked');
            again.click();
        } else if (one.classList.contains('plot')) {
            press(one, 'End');
            press(one, 'ArrowLeft');
            if (!/cycle [\d,]+ to/.test(one.parentElement.textContent))
                broken.push('the chart does not read its values');
        } else if (one.tagName === 'TR') {
            press(one, 'Enter');
            if (!document.querySelector('tr.chosen'))
                broken.push('the row is not chosen');
        } else {
            one.click();
        }
    }
    return {count, broken};
}

async function sums(browser, result, where) {
    const number = id => browser.evaluate(`(document.getElementById('${id}') || {textContent: '-1'}).textContent.replace(/,/g, '')`).then(Number);
    expect(await number('lines-issues') === result.total.warp_instructions, where, 'issues of the lines are not those of the total');
    const cells = await browser.evaluate(`[...document.querySelectorAll('section.page > .table')].at(-1).querySelectorAll('tbody tr').length`);
    expect(cells === result.total.lines.length || cells > 50, where, `${cells} of ${result.total.lines.length} lines in the hot list`);
    if (result.mode !== 'timed')
        return;
    const nobody = sum(Object.values(result.total.nobody));
    expect(await number('lines-slots') + nobody === result.total.slots, where, 'slots of the lines and of nobody are not all slots');
    expect(await number('lines-stalls') === sum(Object.values(result.total.stalls)), where, 'stalls of the lines are not those of the total');
    if (cells === result.total.lines.length) {
        const shown = await browser.evaluate(`[...[...document.querySelectorAll('section.page > .table')].at(-1).querySelectorAll('tbody tr')].map(row => Number(row.children[1].textContent.replace(/,/g, '')))`);
        expect(sum(shown) + nobody === result.total.slots, where, 'the slots shown do not add up');
        expect(shown.every((value, i) => !i || value <= shown[i - 1]), where, 'the hot list is not sorted');
    }
}

// The page opens at the hottest line of the file that it shows, by the result alone: chosen, in sight, with the darkest margin; code keeps its own line breaks.
async function hottest(browser, result, where) {
    const weight = line => result.mode === 'timed' ? sum(Object.values(line.cycle_classes)) : line.warp_instructions;
    const seen = await browser.evaluate(`(() => {
        const view = document.querySelector('.two .table'), row = view.querySelector('tr.chosen'), text = row && row.querySelector('td.text'), box = row && row.getBoundingClientRect(), frame = view.getBoundingClientRect();
        const heats = [...view.querySelectorAll('tbody .hot')].map(cell => [Number(cell.textContent), Number(getComputedStyle(cell, '::before').opacity)]);
        return row && {file: document.querySelector('.two h2').textContent, line: Number(row.firstChild.textContent), inSight: box.top >= frame.top && box.bottom <= frame.bottom + 1, wraps: getComputedStyle(text).whiteSpace, heats};
    })()`);
    expect(seen, where, 'no line is chosen when the source page opens');
    if (!seen)
        return;
    const lines = result.total.lines.filter(line => line.file === seen.file), most = Math.max(...lines.map(weight));
    expect(lines.some(line => line.line === seen.line && weight(line) === most), where, `opens at line ${seen.line}, which is not the hottest`);
    expect(seen.inSight, where, 'the hottest line is not in sight');
    expect(seen.wraps === 'pre', where, `code is wrapped: ${seen.wraps}`);
    for (const [number, shown] of seen.heats) {
        const line = lines.find(one => one.line === number), wanted = line ? weight(line) / most : 0;
        expect(Math.abs(shown - wanted) < 0.002, where, `the margin of line ${number} is ${shown}, not ${wanted}`);
    }
}

function makeResults() {
    const example = name => join(root, 'examples', name);
    run('run', example('collatz'), '--divergence', 'pdom,dwf', '-q', '-o', 'collatz.json');
    run('why', example('collatz'), '-q', '-o', 'why.json');
    run('run', example('matmul'), '-q', '-o', 'matmul.json');
    run('run', example('odd_even'), '-q', '-o', 'odd_even.json');
    run('run', example('warp_sum'), '--functional', '-q', '-o', 'functional.json');
    return {
        'one.html': ['collatz-1.json', 'why.json'],
        'several.html': ['matmul.json', 'collatz-1.json', 'collatz-2.json', 'functional.json', 'odd_even.json'],
        'functional.html': ['functional.json'],
    };
}

// 50 MB: a run of thousands of launches and of a long program, which are those of a small one again and again.
function makeLarge() {
    const result = read('odd_even.json'), launch = JSON.stringify(result.launches[0]), kernel = result.kernels[0];
    const launches = Math.ceil(40e6 / launch.length);
    result.launches = Array.from({length: launches}, () => JSON.parse(launch));
    const instruction = kernel.instructions[0], line = result.total.lines[0];
    kernel.instructions = Array.from({length: 8000}, (_, i) => ({...instruction, pc: i, line: i + 1}));
    kernel.flow = Array.from({length: 1000}, (_, i) => ({first: 8 * i, end: 8 * i + 8, loop_depth: 0, post_dominator: i === 999 ? null : 8 * i + 8, next: i === 999 ? [null] : [8 * i + 8, 8 * ((i + 2) % 1000)]}));
    result.total.lines = Array.from({length: 8000}, (_, i) => ({...line, line: i + 1}));
    result.sources = {};
    writeFileSync(join(folder, 'large.json'), JSON.stringify(result));
    run('report', 'large.json', '-o', 'large.html');
    return statSync(join(folder, 'large.json')).size / 1e6;
}

const started = Date.now(), passed = what => console.log(`${((Date.now() - started) / 1000).toFixed(1)} s: ${what}`);
const reports = makeResults();
for (const [page, files] of Object.entries(reports))
    run('report', ...files, '-o', page);
passed('results made');
const browser = await openBrowser(program);
let requests = 0, numbers = 0, controls = 0, pictures = 0, shift = 0;
browser.listen((method, params) => {
    if (method === 'Network.requestWillBeSent' && !/^(file|data|about|blob):/.test(params.request.url))
        expect(false, 'a request to', params.request.url);
    if (method === 'Network.requestWillBeSent')
        requests++;
    if (method === 'Runtime.exceptionThrown')
        expect(false, 'an exception:', params.exceptionDetails.exception?.description);
    if (method === 'Runtime.consoleAPICalled')
        expect(false, 'the console says', JSON.stringify(params.args).slice(0, 200));
    if (method === 'Log.entryAdded')
        expect(false, 'the log says', params.entry.text);
});
await browser.page('Page.addScriptToEvaluateOnNewDocument', {source: `window.shifted = 0; new PerformanceObserver(list => { for (const entry of list.getEntries()) if (entry.sources.some(one => one.node && document.querySelector('main').contains(one.node))) { window.shifted += entry.value; window.shifter = entry.sources.map(one => one.node && one.node.outerHTML && one.node.outerHTML.slice(0, 80)).join(' '); } }).observe({type: 'layout-shift', buffered: true});`});

for (const [name, files] of Object.entries(reports)) {
    passed(name);
    const results = files.map(read).filter(result => result.schema.startsWith('heddle-result'));
    for (const width of [1600, 390])
        for (const scheme of ['light', 'dark']) {
            if (name !== 'several.html' && (width === 390) !== (scheme === 'dark'))
                continue;
            await browser.page('Emulation.setDeviceMetricsOverride', {width, height: 900, deviceScaleFactor: 1, mobile: width < 500});
            await browser.page('Emulation.setEmulatedMedia', {features: [{name: 'prefers-color-scheme', value: scheme}]});
            await open(browser, name);
            for (const page of PAGES) {
                const where = `${name} ${page} ${width} px ${scheme}:`;
                await browser.evaluate('scrollTo(0, 0)');
                await settle(browser);
                await browser.evaluate('window.shifted = 0');
                await show(browser, page);
                const moved = await browser.evaluate('window.shifted');
                shift = Math.max(shift, moved);
                expect(moved < 0.01, where, `moves by itself (${moved}):`, await browser.evaluate('window.shifter'));
                if (page === 'source')
                    await hottest(browser, results[0], where);
                await layout(browser, where);
                await contrast(browser, where);
                if (scheme === 'light' && width === 1600)
                    await names(browser, where);
                if (scheme === 'light') {
                    numbers += await compareNumbers(browser, results, where);
                }
                await shoot(browser, `${name.replace('.html', '')}-${page}-${width}-${scheme}`, width);
                pictures++;
                if (scheme === 'light' ? width === 1600 : width === 390 && name === 'one.html') {
                    if (page === 'source')
                        await sums(browser, results[0], where);
                    controls += await work(browser, where);
                    await layout(browser, `${where} after its controls:`);
                    numbers += await compareNumbers(browser, results, where);
                }
            }
        }
}

passed('pages seen');
// By keyboard alone: a number opens a page, Tab reaches its controls.
await open(browser, 'several.html');
for (const [i, page] of PAGES.entries()) {
    for (const type of ['keyDown', 'keyUp'])
        await browser.page('Input.dispatchKeyEvent', {type, key: String(i + 1), code: `Digit${i + 1}`, text: type === 'keyDown' ? String(i + 1) : undefined, windowsVirtualKeyCode: 49 + i});
    await settle(browser);
    expect(await browser.evaluate(`!!document.querySelector('#page-${page}')`), `key ${i + 1} does not open ${page}`);
}
const reached = new Set();
for (let i = 0; i < 40; i++) {
    for (const type of ['rawKeyDown', 'keyUp'])
        await browser.page('Input.dispatchKeyEvent', {type, key: 'Tab', code: 'Tab', windowsVirtualKeyCode: 9});
    reached.add(await browser.evaluate('document.activeElement.tagName + "|" + (document.activeElement.getAttribute("aria-label") || document.activeElement.textContent.slice(0, 40))'));
}
expect(reached.size > 15, `Tab reaches ${reached.size} things`);

passed('keys pressed');
// On paper: all pages, in light colours.
await browser.page('Emulation.setEmulatedMedia', {features: [{name: 'prefers-color-scheme', value: 'light'}]});
await open(browser, 'one.html');
const paper = await browser.page('Page.printToPDF', {printBackground: true});
writeFileSync(join(folder, 'one.pdf'), Buffer.from(paper.data, 'base64'));
expect((Buffer.from(paper.data, 'base64').toString('latin1').match(/\/Type \/Page\b/g) || []).length >= PAGES.length, 'fewer sheets than pages');
expect(await browser.evaluate('document.querySelectorAll("section.page").length') === 1, 'after printing more than one page stays');

passed('printed');
// The page of heddle step: its controls go where they say, as its own list of issues has it.
run('step', join(root, 'examples/collatz.yaml'), '--gpu', 'fung-8800', '--html', 'step.html');
await open(browser, 'step.html', 'typeof steps === "object" && /issue/.test(document.getElementById("place").textContent)');
const issue = click => browser.evaluate(`${click}; Number(/issue (\\d+) of/.exec(document.getElementById('place').textContent)[1])`);
const control = id => issue(`document.getElementById('${id}').click()`);
const [divergent, issues] = await browser.evaluate('[steps.flatMap((step, i) => i && step.diverged ? [i + 1] : []), steps.length]');
expect(divergent.length > 1 && issues > divergent[1], `step.html: ${divergent.length} divergent branches of ${issues} issues`);
expect(await control('divergence') === divergent[0] && await control('divergence') === divergent[1], 'step.html: next divergence');
expect(await browser.evaluate("/diverge/.test(document.getElementById('outcome').textContent)"), 'step.html: a divergent branch is not said');
expect(await control('next') === divergent[1] + 1 && await control('back') === divergent[1] && await control('first') === 1, 'step.html: next, back, first');
expect(await issue("dispatchEvent(new KeyboardEvent('keydown', {key: 'd'}))") === divergent[0], 'step.html: the key d');

passed('steps of step.html');
// 50 MB stay responsive.
const megabytes = makeLarge();
await browser.page('Emulation.setDeviceMetricsOverride', {width: 1600, height: 900, deviceScaleFactor: 1, mobile: false});
let begin = Date.now();
await open(browser, 'large.html');
const opened = Date.now() - begin;
let slowest = 0;
for (const page of PAGES) {
    begin = Date.now();
    await show(browser, page);
    slowest = Math.max(slowest, Date.now() - begin);
    const nodes = await browser.evaluate('document.querySelectorAll("*").length');
    expect(nodes < 20000, `large.html ${page}: ${nodes} elements`);
}
expect(opened < 12000, `large.html takes ${opened} ms to open`);
expect(slowest < 2500, `a page of large.html takes ${slowest} ms`);
const scrolled = await browser.evaluate(`(async () => {
    location.hash = 'source';
    await new Promise(done => setTimeout(done, 300));
    const view = document.querySelector('.virtual'), begin = performance.now();
    for (let i = 0; i < 20; i++) { view.scrollTop = 9000 * i; await new Promise(done => requestAnimationFrame(done)); }
    return [performance.now() - begin, view.querySelectorAll('tbody tr').length];
})()`);
expect(scrolled[0] < 10000 && scrolled[1] < 100, `scrolling: ${scrolled}`);
await browser.close();

console.log(`RESULT: ${pictures} pictures of ${PAGES.length} pages, ${numbers} numbers compared with their files, ${controls} controls, ${checked} checks, ${failures.length} failed; no request but ${requests} for files; layout shift at most ${shift.toFixed(4)}`);
console.log(`RESULT: ${megabytes.toFixed(0)} MB: open in ${(opened / 1000).toFixed(1)} s, slowest page ${slowest} ms`);
process.exit(failures.length ? 1 : 0);
