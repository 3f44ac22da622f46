/* SPDX-License-Identifier: Apache-2.0 */
import {h, missing, whole} from './dom.js';
import {CLASSES, CLASS_COLOURS, STALLS, STALL_WORDS, className} from './model.js';
import {timeChart} from './charts.js';

// Where intervals end, and the cycles of each.
export function intervals(launch) {
    const {interval, intervals: count} = launch.series;
    const ends = Array.from({length: count}, (_, k) => Math.min((k + 1) * interval, launch.cycles));
    return {ends, lengths: ends.map((end, k) => Math.max(1, end - k * interval))};
}

// A list of the series by name or path, divided by what each interval has of something.
export function seriesOf(result, name, words, tone, lengths) {
    const raw = `launches/${result.launch}/series/${name}`, values = name.split('/').reduce((at, key) => at && at[key], result.data.launches[result.launch].series);
    return values && {name: words, colour: tone, raw, rawValues: values, result: result.index, values: lengths ? values.map((one, k) => one / lengths[k]) : values};
}

export const noSeries = launch => !launch || !launch.series || !launch.series.intervals;

export function timePage(result) {
    const launch = result.data.launches[result.launch];
    if (!result.timed)
        return [h('h1', {}, 'Over time'), missing('The run was functional and has no time.')];
    if (noSeries(launch))
        return [h('h1', {}, 'Over time'), missing('Nothing was sampled over the cycles of this launch: series.interval was 0, or it is beyond the first 64 launches of a program run by heddle exec.')];
    const {ends, lengths} = intervals(launch), wanted = list => list.filter(Boolean);
    const states = wanted(STALLS.map(name => seriesOf(result, `warps_${name}`, `${name}: wait for ${STALL_WORDS[name]}`, `--s-${name}`)));
    return [
        h('h1', {}, 'Over time'),
        h('p', {}, `Launch ${result.launch + 1}: ${launch.kernel}, ${whole(launch.cycles)} cycles in ${ends.length} intervals of ${whole(launch.series.interval)} cycles.`),
        timeChart({title: 'Instructions per cycle', label: 'Warp instructions and active lanes issued per cycle, over the cycles of the launch.', x: 'cycle', ends, height: 200,
            series: wanted([seriesOf(result, 'active_lanes', 'lanes per cycle (IPC before guards)', '--c1', lengths), seriesOf(result, 'warp_instructions', 'warp instructions per cycle', '--c2', lengths)])}),
        timeChart({title: 'Group sizes: slots of the schedulers by what was issued', label: 'Slots per cycle by the number of active lanes that were issued, or why nothing was, over the cycles of the launch.', x: 'cycle', ends, stacked: true, height: 260,
            series: wanted(CLASSES.map((name, i) => seriesOf(result, name, className(name, result.warpSize), CLASS_COLOURS[i], lengths)))}),
        states.length ? timeChart({title: 'Warps by state', label: 'Warps in issue slots by what they wait for, at the end of each interval.', x: 'cycle', ends, stacked: true, height: 240, series: states})
            : missing('This result does not say what warps wait for over time; results of this version do.'),
        timeChart({title: 'Blocks resident', label: 'Blocks resident, at the end of each interval.', x: 'cycle', ends, height: 160, series: wanted([seriesOf(result, 'blocks_resident', 'blocks resident', '--c3')])}),
        timeChart({title: 'Threads not yet at their end', label: 'Unfinished threads of the blocks given to SMs, at the end of each interval.', x: 'cycle', ends, height: 160, series: wanted([seriesOf(result, 'threads_unfinished', 'threads unfinished', '--c4')])}),
    ];
}
