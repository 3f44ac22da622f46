/* SPDX-License-Identifier: Apache-2.0 */
// A heddle.js that computes nothing: it knows what the native program answered to some commands, so that the page can be tried where emscripten is not installed.
const {mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync} = require('node:fs');
const {spawnSync} = require('node:child_process');
const {tmpdir} = require('node:os');
const {join} = require('node:path');

// One command of the native program in a folder of its own: what it printed, and every file that is there afterwards.
function runNative(native, files, words) {
    const place = mkdtempSync(join(tmpdir(), 'heddle-browser-'));
    try {
        for (const [name, content] of Object.entries(files))
            writeFileSync(join(place, name), content);
        const end = spawnSync(native, words, {cwd: place, encoding: 'utf8', maxBuffer: 1 << 28});
        if (end.error)
            throw end.error;
        return {status: end.status, out: end.stdout, error: end.stderr,
            files: Object.fromEntries(readdirSync(place).map(name => [name, readFileSync(join(place, name))]))};
    } finally {
        rmSync(place, {recursive: true});
    }
}

// In the page: the interface of emscripten's module, as far as program.js uses it. A command is known by its words and the texts it is given.
function standIn(answers, options) {
    const files = {}, name = path => path.replace(/^.*\//, '');
    return {
        FS: {
            writeFile(path, content) { files[name(path)] = content; },
            chdir() {},
            readFile(path) {
                if (!(name(path) in files))
                    throw new Error(`no file ${path}`);
                return files[name(path)];
            },
        },
        callMain(words) {
            const texts = Object.values(files).filter(content => typeof content === 'string');
            const answer = answers.find(one => one.words.join(' ') === words.join(' ') && one.texts.every(text => texts.includes(text)));
            if (!answer)
                throw new Error(`the stand-in was not told what 'heddle ${words.join(' ')}' gives`);
            for (const [end, print] of [['out', options.print], ['error', options.printErr]])
                if (answer[end])
                    answer[end].replace(/\n$/, '').split('\n').forEach(line => print(line));
            for (const [path, content] of Object.entries(answer.files))
                files[path] = Uint8Array.from(atob(content), one => one.charCodeAt(0));
            return answer.status;
        },
    };
}

// Writes FOLDER/heddle.js and heddle.wasm that answer these commands: [files, words] each, in their order; one that needs what those before it
// wrote has it.
function writeStandIn(native, folder, commands) {
    let written = {};
    const answers = commands.map(([files, words]) => {
        const end = runNative(native, {...written, ...files}, words), texts = Object.values(files);
        const made = Object.entries(end.files).filter(([name]) => !(name in files));
        written = Object.fromEntries(made);
        return {words, texts, status: end.status, out: end.out, error: end.error,
            files: Object.fromEntries(made.map(([name, content]) => [name, content.toString('base64')]))};
    });
    writeFileSync(join(folder, 'heddle.js'), `const heddleModule = options => (${standIn})(${JSON.stringify(answers)}, options);\n`);
    writeFileSync(join(folder, 'heddle.wasm'), '');
}
module.exports = {runNative, writeStandIn};
