/* SPDX-License-Identifier: Apache-2.0 */
// Chromium by its DevTools protocol over a pipe: no package is needed to drive it, and no port is opened.
import {spawn} from 'node:child_process';
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';

// more: flags besides those that every test needs.
export async function openBrowser(program, more = []) {
    const profile = mkdtempSync(join(tmpdir(), 'heddle-report-'));
    const child = spawn(program, ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run',
        '--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-extensions', '--force-color-profile=srgb',
        '--remote-debugging-pipe', `--user-data-dir=${profile}`, ...more, 'about:blank'], {stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe']});
    const [to, from] = [child.stdio[3], child.stdio[4]];
    const waiting = new Map(), listeners = [];
    let number = 0, buffer = '';
    from.setEncoding('utf8');
    from.on('data', text => {
        buffer += text;
        const messages = buffer.split('\0');
        buffer = messages.pop();
        for (const message of messages.map(one => JSON.parse(one))) {
            if (message.id) {
                const {resolve, reject, method} = waiting.get(message.id);
                waiting.delete(message.id);
                if (message.error)
                    reject(new Error(`${method}: ${message.error.message}`));
                else
                    resolve(message.result);
            } else {
                listeners.forEach(listener => listener(message.method, message.params));
            }
        }
    });
    const send = (method, params, sessionId) => new Promise((resolve, reject) => {
        waiting.set(++number, {resolve, reject, method});
        to.write(`${JSON.stringify({id: number, method, params: params || {}, sessionId})}\0`);
    });
    child.on('exit', () => waiting.forEach(({reject, method}) => reject(new Error(`${method}: the browser ended`))));
    const {targetId} = await send('Target.createTarget', {url: 'about:blank'});
    const {sessionId} = await send('Target.attachToTarget', {targetId, flatten: true});
    const page = (method, params) => send(method, params, sessionId);
    for (const domain of ['Page', 'Runtime', 'Network', 'Log', 'Accessibility'])
        await page(`${domain}.enable`);
    return {
        page,
        listen: listener => listeners.push(listener),
        // The value of an expression in the page; promises are waited for.
        async evaluate(expression) {
            const done = await page('Runtime.evaluate', {expression, returnByValue: true, awaitPromise: true, userGesture: true});
            if (done.exceptionDetails)
                throw new Error(`${expression.slice(0, 100)}: ${done.exceptionDetails.exception?.description || done.exceptionDetails.text}`);
            return done.result.value;
        },
        async close() {
            await send('Browser.close').catch(() => {});
            await new Promise(resolve => child.exitCode !== null ? resolve() : child.once('exit', resolve));
            rmSync(profile, {recursive: true, force: true, maxRetries: 5});
        },
    };
}
