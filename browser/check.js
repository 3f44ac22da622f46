/* SPDX-License-Identifier: Apache-2.0 */
// The program as WebAssembly against the native one: the same bytes of result files, tables, steps and reports, in Node.js and in the page, which
// Chromium opens from a file. Without emscripten only the page is tried, around a stand-in that says what the native program says.
//   node check.js HEDDLE FOLDER              the native program, and the folder with heddle.html
//   node check.js HEDDLE FOLDER --stand-in   the page alone, which is put together in the folder
const assert = require('node:assert');
const {execFileSync} = require('node:child_process');
const {mkdirSync, readFileSync} = require('node:fs');
const {join, resolve} = require('node:path');
const {heddleRun} = require('./program.js');
const standIn = require('./stand_in.js');

const [native, folder] = process.argv.slice(2, 4).map(path => resolve(path));
const hasProgram = process.argv[4] !== '--stand-in';
const runNative = (files, words) => standIn.runNative(native, files, words);
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

let compared = 0;
async function same(program, name, words) {
    const files = filesOf(name), expected = runNative(files, words);
    const got = await program(files, words);
    const what = `${name}: heddle ${words.join(' ')}`;
    assert.strictEqual(got.status, expected.status, `${what}: status, ${got.error}`);
    assert.strictEqual(table(got.out), table(expected.out), `${what}: what it prints`);
    if (expected.files['result.json'])
        assert.strictEqual(result(got.file('result.json')), result(expected.files['result.json']), `${what}: the result file`);
    if (expected.files['step.html'])
        assert.strictEqual(Buffer.from(got.file('step.html')).toString(), expected.files['step.html'].toString(), `${what}: the page of steps`);
    compared++;
}

async function inNode() {
    const make = require(join(folder, 'heddle.js')), binary = readFileSync(join(folder, 'heddle.wasm'));
    const program = (files, words) => heddleRun(make, binary, files, words);
    for (const name of Object.keys(EXAMPLES)) {
        for (const machine of [['--gpu', 'fung-8800', '--divergence', 'dwf'], ['--gpu', 'fung-8800', '--divergence', 'tbc'], ['--gpu', 'gtx480'],
            ['--gpu', 'rtx3070'], ['--functional']])
            await same(program, name, ['run', 'launch.yaml', '-o', 'result.json', ...machine]);
        await same(program, name, ['run', 'launch.yaml', '--gpu', 'fung-8800', '--divergence', 'pdom,dwf,tbc']);
        await same(program, name, ['step', 'launch.yaml', '--html', 'step.html', '--gpu', 'fung-8800']);
        await same(program, name, ['show', 'launch.yaml', '--cfg']);
    }
    const refuses = async (files, words, message) => {
        const end = await program(files, words);
        assert(end.status === 2 && message.test(end.error), `${words.join(' ')}: ${end.status}, ${end.error}`);
        compared++;
    };
    // What a browser cannot do is refused by name: a kernel that needs a compiler, more memory than it gives.
    await refuses({'k.cl': 'kernel void k(global int *a) { a[0] = 1; }', 'l.yaml': 'module: k.cl\nbuffers:\n  a: {type: i32, count: 1}\nlaunches:\n  - {kernel: k, grid: [1], block: [1], args: [a]}\n'},
        ['run', 'l.yaml'], /clang/);
    for (const count of [100e6, 2 ** 31, 2 ** 40])
        await refuses({...filesOf('tasks'), 'launch.yaml': filesOf('tasks')['launch.yaml'].replace('count: 512', `count: ${count}`)}, ['run', 'launch.yaml'], /memory|bytes/);
}

// What the page is asked below.
const CHOSEN = ['--gpu', 'fung-8800', '--divergence', 'pdom'];
const WRONG = {...filesOf('tasks'), 'tasks.ptx': filesOf('tasks')['tasks.ptx'].replace('mov.u32', 'moo.u32')};
const RUN = ['run', 'launch.yaml', '-o', 'result.json'];
const COMPARE = ['run', 'launch.yaml', '--gpu', 'fung-8800', '--divergence', 'pdom,tbc'];
const STEP = ['step', 'launch.yaml', '--html', 'step.html', ...CHOSEN];
const REPORT = ['report', 'result.json', '-o', 'report.html'];
const WHY = ['why', 'launch.yaml', ...CHOSEN];
const FLOW = ['show', 'launch.yaml', '--cfg'];
const COLLATZ = [...RUN, '--gpu', 'gtx480', '--divergence', 'pdom'];

function makePage() {
    const tasks = filesOf('tasks');
    mkdirSync(folder, {recursive: true});
    standIn.writeStandIn(native, folder, [[tasks, [...RUN, ...CHOSEN]], [tasks, REPORT], [tasks, COMPARE], [tasks, STEP], [tasks, WHY], [tasks, FLOW],
        [WRONG, [...RUN, ...CHOSEN]], [filesOf('collatz'), COLLATZ]]);
    execFileSync(process.execPath, [join(__dirname, 'build.js'), folder]);
}

async function inChromium() {
    const {openBrowser} = await import('../report/browser.js');
    // A sandboxed frame in a process of its own could not be looked into from here.
    const browser = await openBrowser('chromium', ['--disable-features=IsolateSandboxedIframes']);
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
    // The value of an expression in the frame that shows steps and reports, as soon as it is true.
    const inFrame = async expression => {
        for (let waited = 0; waited < 100; waited++) {
            const {frameTree} = await browser.page('Page.getFrameTree');
            const {executionContextId} = await browser.page('Page.createIsolatedWorld', {frameId: frameTree.childFrames[0].frame.id});
            const {result: {value}} = await browser.page('Runtime.evaluate', {expression, contextId: executionContextId, returnByValue: true});
            if (value)
                return value;
            await new Promise(done => setTimeout(done, 100));
        }
        throw new Error(`the frame has not '${expression}' after 10 s: ${said.join('; ')}`);
    };
    // Nothing is wider than the window, on a phone, a tablet, a laptop.
    const fits = async what => {
        for (const width of [390, 820, 1280]) {
            await browser.page('Emulation.setDeviceMetricsOverride', {width, height: 860, deviceScaleFactor: 1, mobile: width < 600});
            const wide = await browser.evaluate('document.documentElement.scrollWidth');
            assert(wide <= width, `the page with ${what} is ${wide} pixels wide in a window of ${width}`);
        }
    };
    try {
        const begun = Date.now();
        await browser.page('Page.navigate', {url: `file://${join(folder, 'heddle.html')}`});
        await until('ready');
        const out = () => browser.evaluate("document.getElementById('out').textContent").then(table);
        assert.strictEqual(await click('run'), '0', 'Run');
        const first = (Date.now() - begun) / 1000;
        const files = filesOf('tasks');
        const expected = runNative(files, [...RUN, ...CHOSEN]);
        assert.strictEqual(await out(), table(expected.out), 'Run prints what the native program does');
        assert.strictEqual(result(Buffer.from(await browser.evaluate('Array.from(result)'))), result(expected.files['result.json']), 'Run: the result file');
        assert.strictEqual(await click('compare'), '0', 'Compare');
        assert.strictEqual(await out(), table(runNative(files, COMPARE).out), 'Compare');
        assert.strictEqual(await click('step'), '0', 'Step');
        assert.strictEqual(await browser.evaluate("document.getElementById('page').srcdoc"), runNative(files, STEP).files['step.html'].toString(), 'Step: the page of steps');
        await inFrame("/^issue 1 of /m.test(document.body.innerText)");
        await inFrame("document.getElementById('divergence').click() || true");
        await inFrame("/^issue (?!1 )\\d+ of /m.test(document.body.innerText)");
        await fits('steps');
        assert.strictEqual(await click('report'), '0', 'Report');
        const cycles = JSON.parse(expected.files['result.json']).launches[0].cycles.toLocaleString('en');
        await inFrame(`document.body.innerText.includes('${cycles}')`);
        await fits('a report');
        assert.strictEqual(await click('why'), '0', 'Why');
        assert.strictEqual(await out(), table(runNative(files, WHY).out), 'Why');
        await fits('a table');
        assert.strictEqual(await click('flow'), '0', 'Control flow');
        assert.strictEqual(await out(), table(runNative(files, FLOW).out), 'Control flow');
        // A kernel that is wrong is told with its line; the page goes on.
        await browser.evaluate("document.getElementById('kernel').value = document.getElementById('kernel').value.replace('mov.u32', 'moo.u32')");
        assert.strictEqual(await click('run'), '2', 'a wrong kernel');
        assert(/tasks\.ptx:\d+.*moo/.test(await browser.evaluate("document.getElementById('out').textContent")), 'a wrong kernel is told with its line');
        // Another example, on another machine.
        await browser.evaluate("document.getElementById('example').value = 'collatz'; document.getElementById('example').onchange(); document.getElementById('gpu').value = 'gtx480'");
        assert.strictEqual(await click('run'), '0', 'collatz on gtx480');
        assert.strictEqual(await out(), table(runNative(filesOf('collatz'), COLLATZ).out), 'collatz on gtx480');
        assert.deepStrictEqual(said, [], 'errors of the page');
        return first;
    } finally {
        await browser.close();
    }
}

(async () => {
    if (hasProgram) {
        await inNode();
        console.log(`RESULT: Node.js: ${compared} commands give what the native program gives, or refuse by name`);
    } else {
        makePage();
    }
    const seconds = await inChromium();
    const bytes = readFileSync(join(folder, 'heddle.html')).length;
    if (hasProgram)
        console.log(`RESULT: Chromium: run, compare, step, report, why; the same bytes; ${seconds.toFixed(1)} s from opening the page (${(bytes / 1e6).toFixed(1)} MB) to the first table`);
    else
        console.log('RESULT: Chromium: every button of the page, around a stand-in for the program; WebAssembly is built and compared with --full');
})().catch(thrown => {
    console.error(String(thrown.message || thrown).slice(0, 4000));
    process.exit(1);
});
