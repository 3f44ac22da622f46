/* SPDX-License-Identifier: Apache-2.0 */
// The program as WebAssembly against the native one: the same bytes of result files, tables, steps and reports, in Node.js and in the page, which
// Chromium opens from a file.
//   node check.js HEDDLE FOLDER    the native program, and the folder with heddle.html
const assert = require('node:assert');
const {spawnSync} = require('node:child_process');
const {mkdtempSync, readFileSync, rmSync, writeFileSync} = require('node:fs');
const {tmpdir} = require('node:os');
const {join, resolve} = require('node:path');
const {heddleRun} = require('./program.js');

const [native, folder] = process.argv.slice(2).map(path => resolve(path));
const make = require(join(folder, 'heddle.js'));
const binary = readFileSync(join(folder, 'heddle.wasm'));
const root = join(__dirname, '..');
const EXAMPLES = {tasks: 'browser/examples', collatz: 'browser/examples', warp_sum: 'examples'};

// What is of the host and the hour: the part "host" at the end of a result file, the seconds of a table.
const result = bytes => {
    const text = Buffer.from(bytes).toString();
    return text.slice(0, text.lastIndexOf('"host"'));
};
const table = text => text.replace(/^ *[\d.]+ s, .*$/m, '').trimEnd();

function filesOf(name) {
    const read = end => readFileSync(join(root, EXAMPLES[name], `${name}.${end}`), 'utf8');
    return {'launch.yaml': read('yaml'), [`${name}.ptx`]: read('ptx')};
}

function runNative(files, words) {
    const place = mkdtempSync(join(tmpdir(), 'heddle-browser-'));
    try {
        for (const [name, text] of Object.entries(files))
            writeFileSync(join(place, name), text);
        const end = spawnSync(native, words, {cwd: place, encoding: 'utf8'});
        const read = name => readFileSync(join(place, name));
        return {status: end.status, out: end.stdout, error: end.stderr, result: words.includes('result.json') && end.status === 0 ? read('result.json') : null,
            page: words.includes('step.html') && end.status === 0 ? read('step.html').toString() : null};
    } finally {
        rmSync(place, {recursive: true});
    }
}

let compared = 0;
async function same(name, words) {
    const files = filesOf(name), expected = runNative(files, words);
    const got = await heddleRun(make, binary, files, words);
    const what = `${name}: heddle ${words.join(' ')}`;
    assert.strictEqual(got.status, expected.status, `${what}: status, ${got.error}`);
    assert.strictEqual(table(got.out), table(expected.out), `${what}: what it prints`);
    if (expected.result)
        assert.strictEqual(result(got.file('result.json')), result(expected.result), `${what}: the result file`);
    if (expected.page)
        assert.strictEqual(Buffer.from(got.file('step.html')).toString(), expected.page, `${what}: the page of steps`);
    compared++;
}

async function inNode() {
    for (const name of Object.keys(EXAMPLES)) {
        for (const machine of [['--gpu', 'fung-8800', '--divergence', 'dwf'], ['--gpu', 'fung-8800', '--divergence', 'tbc'], ['--gpu', 'gtx480'],
            ['--gpu', 'rtx3070'], ['--functional']])
            await same(name, ['run', 'launch.yaml', '-o', 'result.json', ...machine]);
        await same(name, ['run', 'launch.yaml', '--gpu', 'fung-8800', '--divergence', 'pdom,dwf,tbc']);
        await same(name, ['step', 'launch.yaml', '--html', 'step.html', '--gpu', 'fung-8800']);
        await same(name, ['show', 'launch.yaml', '--cfg']);
    }
    const refuses = async (files, words, message) => {
        const end = await heddleRun(make, binary, files, words);
        assert(end.status === 2 && message.test(end.error), `${words.join(' ')}: ${end.status}, ${end.error}`);
        compared++;
    };
    // What a browser cannot do is refused by name: a kernel that needs a compiler, more memory than it gives.
    await refuses({'k.cl': 'kernel void k(global int *a) { a[0] = 1; }', 'l.yaml': 'module: k.cl\nbuffers:\n  a: {type: i32, count: 1}\nlaunches:\n  - {kernel: k, grid: [1], block: [1], args: [a]}\n'},
        ['run', 'l.yaml'], /clang/);
    for (const count of [100e6, 2 ** 31, 2 ** 40])
        await refuses({...filesOf('tasks'), 'launch.yaml': filesOf('tasks')['launch.yaml'].replace('count: 512', `count: ${count}`)}, ['run', 'launch.yaml'], /memory|bytes/);
}

async function inChromium() {
    const {openBrowser} = await import('../report/browser.js');
    const browser = await openBrowser('chromium');
    const said = [];
    browser.listen((method, event) => {
        if (method === 'Runtime.exceptionThrown')
            said.push(event.exceptionDetails.exception?.description || event.exceptionDetails.text);
        if (method === 'Network.requestWillBeSent' && /^https?:/.test(event.request.url))
            said.push(`the page asks for ${event.request.url}`);
    });
    const until = async wanted => {
        for (let waited = 0; waited < 600; waited++) {
            if (await browser.evaluate(`document.body && document.body.dataset.done === '${wanted}'`))
                return browser.evaluate('document.body.dataset.status');
            await new Promise(done => setTimeout(done, 100));
        }
        throw new Error(`the page was not done with '${wanted}' after 60 s: ${said.join('; ')}`);
    };
    const click = async name => {
        await browser.evaluate(`document.body.dataset.done = ''; document.getElementById('${name}').click()`);
        return until(name);
    };
    try {
        const begun = Date.now();
        await browser.page('Page.navigate', {url: `file://${join(folder, 'heddle.html')}`});
        await until('ready');
        assert.strictEqual(await click('run'), '0', 'Run');
        const first = (Date.now() - begun) / 1000;
        const files = filesOf('tasks'), chosen = ['--gpu', 'fung-8800', '--divergence', 'pdom'];
        const expected = runNative(files, ['run', 'launch.yaml', '-o', 'result.json', ...chosen]);
        assert.strictEqual(table(await browser.evaluate("document.getElementById('out').textContent")), table(expected.out), 'Run prints what the native program does');
        assert.strictEqual(result(Buffer.from(await browser.evaluate('Array.from(result)'))), result(expected.result), 'Run: the result file');
        assert.strictEqual(await click('compare'), '0', 'Compare');
        assert.strictEqual(table(await browser.evaluate("document.getElementById('out').textContent")),
            table(runNative(files, ['run', 'launch.yaml', '--gpu', 'fung-8800', '--divergence', 'pdom,tbc']).out), 'Compare');
        assert.strictEqual(await click('step'), '0', 'Step');
        assert.strictEqual(await browser.evaluate("document.getElementById('page').srcdoc"),
            runNative(files, ['step', 'launch.yaml', '--html', 'step.html', ...chosen]).page, 'Step: the page of steps');
        assert.strictEqual(await click('report'), '0', 'Report');
        assert(await browser.evaluate("!document.getElementById('page').hidden && document.getElementById('page').srcdoc.includes('tasks.ptx')"), 'Report is shown');
        assert.strictEqual(await click('why'), '0', 'Why');
        // A kernel that is wrong is told with its line; the page goes on.
        await browser.evaluate("document.getElementById('kernel').value = document.getElementById('kernel').value.replace('mov.u32', 'moo.u32')");
        assert.strictEqual(await click('run'), '2', 'a wrong kernel');
        assert(/tasks\.ptx:\d+.*moo/.test(await browser.evaluate("document.getElementById('out').textContent")), 'a wrong kernel is told with its line');
        // Another example, on another machine.
        await browser.evaluate("document.getElementById('example').value = 'collatz'; document.getElementById('example').onchange(); document.getElementById('gpu').value = 'gtx480'");
        assert.strictEqual(await click('run'), '0', 'collatz on gtx480');
        assert.deepStrictEqual(said, [], 'errors of the page');
        return first;
    } finally {
        await browser.close();
    }
}

(async () => {
    await inNode();
    console.log(`RESULT: Node.js: ${compared} commands give what the native program gives, or refuse by name`);
    const seconds = await inChromium();
    const bytes = readFileSync(join(folder, 'heddle.html')).length;
    console.log(`RESULT: Chromium: run, compare, step, report, why; the same bytes; ${seconds.toFixed(1)} s from opening the page (${(bytes / 1e6).toFixed(1)} MB) to the first table`);
})().catch(thrown => {
    console.error(String(thrown.message || thrown).slice(0, 4000));
    process.exit(1);
});
