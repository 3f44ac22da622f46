/* SPDX-License-Identifier: Apache-2.0 */
import {h, missing, table, tick} from './dom.js';

const shown = entry => entry === undefined ? '–' : typeof entry.value === 'boolean' ? (entry.value ? 'true' : 'false') : String(entry.value);

export function configurationPage(result, state, redraw) {
    const results = state.results, keys = [...new Set(results.flatMap(one => Object.keys(one.data.machine.parameters)))];
    const of = (one, key) => one.data.machine.parameters[key];
    const differs = key => results.some(one => shown(of(one, key)) !== shown(of(results[0], key)));
    const isSet = key => /^--|^what if/.test((of(result, key) || {}).origin || '');
    const words = (state.filter || '').toLowerCase(), only = !!state.only;
    const wanted = keys.filter(key => (!words || key.includes(words) || ((of(result, key) || {}).origin || '').toLowerCase().includes(words)) && (!only || (results.length > 1 ? differs(key) : isSet(key))));
    const several = results.length > 1;
    return [
        h('h1', {}, 'Configuration'),
        h('p', {}, h('b', {}, result.data.machine.name), result.data.machine.about ? `: ${result.data.machine.about}` : '', `. ${keys.length} keys, each with the origin of its value.`),
        h('p', {class: 'controls choices'}, h('label', {}, 'Find', h('input', {type: 'search', id: 'filter', value: state.filter || '', oninput: event => {
            state.filter = event.target.value;
            redraw('#filter');
        }})), tick(several ? 'only what differs' : 'only what the command line set', only, yes => {
            state.only = yes;
            redraw();
        })),
        wanted.length ? table([
            {title: 'key', left: true, mono: true, text: key => key, key: key => key},
            ...(several ? results.map(one => ({title: one.letter, left: true, text: key => h('span', {class: shown(of(one, key)) === shown(of(results[0], key)) ? null : 'up'}, shown(of(one, key))), key: key => shown(of(one, key))})) : [{title: 'value', left: true, text: key => shown(of(result, key)), key: key => shown(of(result, key))}]),
            {title: 'unit', left: true, text: key => (of(result, key) || {}).unit || ''},
            {title: several ? `origin (${result.letter})` : 'origin', left: true, wrap: true, class: 'origin', text: key => (of(result, key) || {}).origin || 'not a key of this machine', key: key => (of(result, key) || {}).origin || ''},
        ], wanted, {label: 'Keys of the machine', sort: 0, ascending: true, tall: true}) : missing(several ? 'No key differs, or none is called so.' : 'No key was set by the command line, or none is called so.'),
        h('h2', {}, 'The run'),
        table([{title: 'what', left: true, text: ([name]) => name}, {title: 'value', left: true, mono: true, text: ([, text]) => text}],
            [['Heddle', result.data.heddle], ['model', result.data.model], ['mode', result.data.mode], ['seed', String(result.data.seed)], ['module', result.data.module.name], ['hash of the module', result.data.module.hash], ['host threads', String(result.data.host.threads)]], {label: 'The run', narrow: true}),
        result.data.launch_file && [h('h2', {}, 'Launch file'), h('div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Launch file'}, h('pre', {style: 'margin:8px 12px'}, result.data.launch_file))],
    ];
}
