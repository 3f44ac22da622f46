/* SPDX-License-Identifier: Apache-2.0 */
// Puts the page together: the modules that src/main.js needs, in the order they need each other, the style and the frame
// become one HTML file without a reference to anything outside it, and a C header with its bytes.
//   node build.js FOLDER    writes FOLDER/report.html and FOLDER/heddle_report_page.h
// Modules use `import {a, b} from './file.js';` on one line and `export` before declarations, nothing else of the module
// syntax; a name is declared once in all of them. So bundling is leaving these words out.
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import vm from 'node:vm';

const here = dirname(fileURLToPath(import.meta.url));
const folder = process.argv[2];
if (!folder) {
    console.error('usage: node build.js FOLDER');
    process.exit(2);
}

const texts = new Map(); // by name, in order
const declared = new Map(); // name to its file

function add(name, from) {
    if (texts.has(name)) {
        if (texts.get(name) === null)
            throw new Error(`${from}: ${name} needs itself`);
        return;
    }
    texts.set(name, null);
    const lines = readFileSync(join(here, 'src', name), 'utf8').split('\n');
    const kept = [];
    for (const line of lines) {
        const needs = /^import \{[^}]*\} from '\.\/([a-z_]+\.js)';$/.exec(line);
        if (needs) {
            add(needs[1], name);
            continue;
        }
        if (/^\s*import\b/.test(line) || /^export (?!function |const |let |class |async )/.test(line))
            throw new Error(`${name}: not of the form that build.js bundles: ${line}`);
        const one = /^(?:export )?(?:async )?(?:function|const|let|class) ([A-Za-z0-9_]+)/.exec(line);
        if (one && declared.has(one[1]))
            throw new Error(`${name} and ${declared.get(one[1])} both declare ${one[1]}`);
        if (one)
            declared.set(one[1], name);
        kept.push(line.replace(/^export /, ''));
    }
    texts.delete(name); // behind what it needs
    texts.set(name, kept.join('\n'));
}

add('main.js', 'build.js');
const script = `'use strict';\n(() => {\n${[...texts.values()].join('\n')}\n})();`;
new vm.Script(script, {filename: 'report.js'}); // throws where it is no JavaScript
if (/<\/script|<!--/i.test(script))
    throw new Error('the script holds what would end it in HTML');
const style = readFileSync(join(here, 'src/style.css'), 'utf8');
const page = readFileSync(join(here, 'src/page.html'), 'utf8')
    .replace('/*STYLE*/', () => style)
    .replace('/*SCRIPT*/', () => script);
for (const outside of page.match(/\b(?:src|href)="(?!#|data:)[^"]*"|@import|url\((?!data:)/g) || [])
    throw new Error(`the page would load ${outside}`);

mkdirSync(folder, {recursive: true});
writeFileSync(join(folder, 'report.html'), page);
const bytes = Buffer.from(page);
const rows = [];
for (let i = 0; i < bytes.length; i += 32)
    rows.push([...bytes.subarray(i, i + 32)].join(','));
writeFileSync(join(folder, 'heddle_report_page.h'),
    `/* Made by report/build.js. */\nstatic const unsigned char report_page[] = {\n${rows.join(',\n')}};\n`);
console.log(`report.html: ${bytes.length} bytes of ${texts.size} modules`);
