/* SPDX-License-Identifier: Apache-2.0 */
// One command of the program, as WebAssembly: a process begins with the files it is given, and leaves what it printed and wrote. The page and the
// tests run it alike.
//   make    the function that heddle.js has
//   binary  the bytes of heddle.wasm
//   files   {name: text or bytes}, put into the folder that the command runs in
async function heddleRun(make, binary, files, words) {
    const printed = {out: [], error: []};
    const module = await make({wasmBinary: binary, thisProgram: 'heddle', noInitialRun: true,
        print: line => printed.out.push(line), printErr: line => printed.error.push(line),
        quit: (status, thrown) => { throw thrown; }});
    const folder = '/home/web_user';
    for (const [name, content] of Object.entries(files))
        module.FS.writeFile(`${folder}/${name}`, content);
    module.FS.chdir(folder);
    let status = 0;
    try {
        status = module.callMain(words) || 0;
    } catch (thrown) {
        if (typeof thrown.status !== 'number')
            throw thrown;
        status = thrown.status;
    }
    return {
        status, out: printed.out.join('\n'), error: printed.error.join('\n'),
        // The bytes of a file that the command wrote; null: it wrote none of that name.
        file(name) {
            try {
                return module.FS.readFile(`${folder}/${name}`);
            } catch {
                return null;
            }
        },
    };
}
if (typeof module !== 'undefined')
    module.exports = {heddleRun};
