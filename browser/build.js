/* SPDX-License-Identifier: Apache-2.0 */
// Puts the page together: page.html, page.js, the program and its script, examples, the names of machines and mechanisms become one
// HTML file without a reference to anything outside it.
//   node build.js FOLDER    reads FOLDER/heddle.js and heddle.wasm, writes FOLDER/heddle.html
const {readdirSync, readFileSync, writeFileSync} = require('node:fs');
const {join} = require('node:path');
const {gzipSync} = require('node:zlib');

const folder = process.argv[2];
if (!folder) {
    console.error('usage: node build.js FOLDER');
    process.exit(2);
}
const root = join(__dirname, '..');
const text = path => readFileSync(join(root, path), 'utf8');
const examples = {};
for (const [name, path] of [['tasks', 'browser/examples'], ['collatz', 'browser/examples'], ['warp_sum', 'examples']])
    examples[name] = {kernel: text(`${path}/${name}.ptx`), launch: text(`${path}/${name}.yaml`)};
const parts = {
    program: gzipSync(readFileSync(join(folder, 'heddle.wasm')), {level: 9}).toString('base64'),
    script: readFileSync(join(folder, 'heddle.js'), 'utf8'),
    run: text('browser/program.js'),
    examples,
    machines: readdirSync(join(root, 'configs')).filter(name => name.endsWith('.yaml')).map(name => name.slice(0, -5)).sort(),
    mechanisms: [...text('src/divergence/mechanisms.def').matchAll(/^MECHANISM\((\w+)\)/gm)].map(match => match[1]),
};
const script = `const PARTS = ${JSON.stringify(parts).replace(/</g, '\\u003c')};\n${text('browser/page.js')}`;
if (/<\/script|<!--/i.test(script))
    throw new Error('the script holds what would end it in HTML');
const page = text('browser/page.html').replace('/*SCRIPT*/', () => script);
writeFileSync(join(folder, 'heddle.html'), page);
console.log(`heddle.html: ${Buffer.byteLength(page)} bytes`);
