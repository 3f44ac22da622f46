/* SPDX-License-Identifier: Apache-2.0 */
// The page: a command of the program for each button, in a worker, so that the page stays alive and a run can be stopped. PARTS is what
// browser/build.js puts here: the program, packed, its script, examples, machines and mechanisms.
'use strict';
const $ = id => document.getElementById(id);
const buttons = ['run', 'step', 'compare', 'report', 'why', 'flow'];
let program = null; // heddle.wasm, when it is unpacked
let worker = null, result = null, begun = 0;

async function unpack(text) {
    const packed = Uint8Array.from(atob(text), one => one.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
    return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Commands run one after another, each with the files that those before it wrote.
const WORK = `
onmessage = async ({data}) => {
    try {
        const files = data.files, done = [];
        for (const {words, writes} of data.commands) {
            const end = await heddleRun(heddleModule, data.program, files, words);
            done.push({status: end.status, out: end.out, error: end.error});
            for (const name of writes)
                if (end.file(name))
                    files[name] = end.file(name);
            if (end.status > 1)
                break;
        }
        postMessage({done, files});
    } catch (thrown) {
        postMessage({failed: String(thrown)});
    }
};`;

function start(files, commands) {
    const source = new Blob([PARTS.script, '\n', PARTS.run, '\n', WORK], {type: 'text/javascript'});
    worker = new Worker(URL.createObjectURL(source));
    const finished = new Promise((resolve, reject) => {
        worker.onmessage = ({data}) => data.failed ? reject(new Error(data.failed)) : resolve(data);
        worker.onerror = event => reject(new Error(event.message));
    });
    worker.postMessage({program, files, commands});
    return finished;
}

function busy(is) {
    buttons.forEach(id => { $(id).disabled = is; });
    $('stop').disabled = !is;
    if (!is && worker) {
        worker.terminate();
        worker = null;
    }
}

function show(text, page) {
    $('help').hidden = true;
    $('out').hidden = Boolean(page);
    $('page').hidden = !page;
    $('out').textContent = text;
    $('page').srcdoc = page || '';
}

// The module that the launch file names is the kernel beside it.
function files() {
    const named = /^module:\s*(\S+)/m.exec($('launch').value);
    return {'launch.yaml': $('launch').value, [named ? named[1].replace(/^.*\//, '') : 'kernel.ptx']: $('kernel').value};
}

const machine = mechanism => ['--gpu', $('gpu').value, ...mechanism ? ['--divergence', mechanism] : []];
const one = () => machine($('divergence').value);
// What a button does: commands, and the page that they write.
const actions = {
    run: () => ({commands: [{words: ['run', 'launch.yaml', '-o', 'result.json', ...one()], writes: ['result.json']}]}),
    step: () => ({commands: [{words: ['step', 'launch.yaml', '--html', 'step.html', ...one()], writes: ['step.html']}], page: 'step.html'}),
    compare: () => ({commands: [{words: ['run', 'launch.yaml', ...machine(`${$('divergence').value || 'pdom'},${$('other').value}`)], writes: []}]}),
    report: () => ({commands: [{words: ['run', 'launch.yaml', '-o', 'result.json', ...one()], writes: ['result.json']},
        {words: ['report', 'result.json', '-o', 'report.html'], writes: ['report.html']}], page: 'report.html'}),
    why: () => ({commands: [{words: ['why', 'launch.yaml', ...one()], writes: []}]}),
    flow: () => ({commands: [{words: ['show', 'launch.yaml', '--cfg'], writes: []}]}),
};

async function act(name) {
    busy(true);
    begun = performance.now();
    const {commands, page} = actions[name]();
    $('state').textContent = `heddle ${commands[0].words.join(' ')}`;
    try {
        const {done, files: written} = await start(files(), commands);
        const last = done[done.length - 1];
        if (written['result.json'] && name !== 'compare') {
            result = written['result.json'];
            $('save').disabled = false;
        }
        const text = done.map(each => [each.out, each.error].filter(Boolean).join('\n')).join('\n');
        show(text, last.status === 0 && page && written[page] ? new TextDecoder().decode(written[page]) : null);
        $('state').textContent += `: ${last.status ? `ended with ${last.status}` : 'done'}, ${((performance.now() - begun) / 1000).toFixed(2)} s`;
        document.body.dataset.done = name;
        document.body.dataset.status = last.status;
    } catch (thrown) {
        show(String(thrown));
        document.body.dataset.done = name;
        document.body.dataset.status = 'failed';
    }
    busy(false);
}

function choices(id, names, chosen) {
    for (const name of names)
        $(id).append(new Option(name, name, name === chosen, name === chosen));
}

function choose() {
    const example = PARTS.examples[$('example').value];
    $('kernel').value = example.kernel;
    $('launch').value = example.launch;
}

async function begin() {
    choices('example', Object.keys(PARTS.examples), 'tasks');
    choices('gpu', PARTS.machines, 'fung-8800');
    choices('divergence', PARTS.mechanisms, 'pdom');
    choices('other', PARTS.mechanisms, 'tbc');
    choose();
    $('example').onchange = choose;
    buttons.forEach(id => { $(id).onclick = () => act(id); });
    $('stop').onclick = () => {
        busy(false);
        $('state').textContent += ': stopped';
    };
    $('save').onclick = () => {
        const link = document.createElement('a');
        link.href = URL.createObjectURL(new Blob([result], {type: 'application/json'}));
        link.download = 'result.json';
        link.click();
    };
    busy(true);
    $('stop').disabled = true;
    program = await unpack(PARTS.program);
    busy(false);
    $('state').textContent = 'ready';
    document.body.dataset.done = 'ready';
}
begin();
