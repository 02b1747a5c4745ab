import {
  addCounts,
  addLatencies,
  type CountsOfHour,
  type LatencyOfHour,
} from '../../db/reports/counts.system.ts';
import { type Channel, type Counts, type Dimension, measures, type Span } from '../../db/reports/counts.ts';
import {
  addTo,
  bytesOfValue,
  errorValue,
  type Facts,
  routeValue,
  type Standing,
  valueOfBytes,
} from './facts.ts';
import type { NameOf } from './names.ts';
import { startOf } from './pieces.ts';

const spans: readonly Span[] = ['hour', 'day', 'month'];
const none = Object.fromEntries(measures.map((measure) => [measure, 0])) as Counts;

/** Changes of counts, gathered by hour. */
type Tally = {
  /** Counts a message in its present standing, and subtracts the standing before. */
  add(facts: Facts, before: Standing | null, nameOf: NameOf): void;
  /** Subtracts counts that are stored of an hour. */
  subtract(at: At, counts: CountsOfHour[], latencies: LatencyOfHour[]): void;
  /** Adds all changes to the stored counts: to the hours, and to the days and months that contain them. */
  store(): Promise<void>;
};

type At = Pick<Facts, 'workspaceId' | 'workspace' | 'hour' | 'channel'>;
type Timed = Omit<LatencyOfHour, 'messages'>;
type HourTally = {
  at: { workspaceId: Buffer; start: number; channel: Channel };
  counts: Map<Dimension, Map<string, Counts>>;
  times: Map<string, LatencyOfHour>;
};

export function newTally(): Tally {
  const hours = new Map<string, HourTally>();

  function hourOf({ workspaceId, workspace, hour: start, channel }: At): HourTally {
    const key = `${channel} ${start} ${workspace}`;
    let hour = hours.get(key);
    if (!hour) {
      hour = { at: { workspaceId, start, channel }, counts: new Map(), times: new Map() };
      hours.set(key, hour);
    }
    return hour;
  }

  function countsOf({ counts }: HourTally, dimension: Dimension, value: string): Counts {
    let values = counts.get(dimension);
    if (!values) counts.set(dimension, (values = new Map()));
    let sums = values.get(value);
    if (!sums) values.set(value, (sums = { ...none }));
    return sums;
  }

  function time({ times }: HourTally, { kind, gateway, step, bucket }: Timed, messages: number): void {
    const key = `${kind} ${gateway} ${step} ${bucket}`;
    const entry = times.get(key);
    if (entry) entry.messages += messages;
    else times.set(key, { kind, gateway, step, bucket, messages });
  }

  /** Counts by the dimensions that change with the standing: the gateway of the text, and the error of a failure. */
  function route(hour: HourTally, facts: Facts, standing: Standing, nameOf: NameOf, times: 1 | -1): void {
    const country = facts.places.find(([dimension]) => dimension === 'country')![1];
    addTo(countsOf(hour, 'route', routeValue(country, standing)), facts, standing, times);
    if (standing.errorCode === '') return;
    const errorCode = nameOf(facts, 'error_code', standing.errorCode);
    const error = errorValue(country, { gateway: standing.gateway, errorCode });
    addTo(countsOf(hour, 'error', error), facts, standing, times);
  }

  function timeBoth(hour: HourTally, kind: string, standing: Standing, messages: number): void {
    const { gateway, sent, delivered } = standing;
    if (sent !== null) time(hour, { kind, gateway, step: 'sent', bucket: sent }, messages);
    if (delivered !== null) time(hour, { kind, gateway, step: 'delivered', bucket: delivered }, messages);
  }

  return {
    add(facts, before, nameOf) {
      const { tag, places, kind, standing } = facts;
      const hour = hourOf(facts);
      const change = (dimension: Dimension, value: string) => {
        const counts = countsOf(hour, dimension, value);
        addTo(counts, facts, standing, 1);
        if (before) addTo(counts, facts, before, -1);
      };
      change('all', '');
      change('tag', nameOf(facts, 'tag', tag));
      for (const [dimension, value] of places)
        change(dimension, dimension === 'recipient_domain' ? nameOf(facts, dimension, value) : value);
      if (facts.channel === 'sms') {
        route(hour, facts, standing, nameOf, 1);
        if (before) route(hour, facts, before, nameOf, -1);
      }
      timeBoth(hour, kind, standing, 1);
      if (before) timeBoth(hour, kind, before, -1);
    },
    subtract(at, counts, latencies) {
      const hour = hourOf(at);
      for (const { dimension, value, counts: stored } of counts) {
        const sums = countsOf(hour, dimension, valueOfBytes(dimension, value));
        for (const measure of measures) sums[measure] -= stored[measure];
      }
      for (const entry of latencies) time(hour, entry, -entry.messages);
    },
    async store() {
      const all = [...hours.values()];
      const counted = all.flatMap(({ at, counts }) =>
        [...counts].flatMap(([dimension, values]) =>
          [...values].map(([value, sums]) => ({
            ...at,
            dimension,
            value: bytesOfValue(dimension, value),
            counts: sums,
          })),
        ),
      );
      const timed = all.flatMap(({ at, times }) => [...times.values()].map((entry) => ({ ...at, ...entry })));
      await addCounts(
        atAllSpans(
          counted.filter(({ counts }) => measures.some((measure) => counts[measure] !== 0)),
          ({ dimension, value }) => `${dimension} ${value.toString('latin1')}`,
          (sum, { counts }) => {
            for (const measure of measures) sum.counts[measure] += counts[measure];
          },
          (entry) => ({ ...entry, counts: { ...entry.counts } }),
        ),
      );
      await addLatencies(
        atAllSpans(
          timed.filter(({ messages }) => messages !== 0),
          ({ kind, gateway, step, bucket }) => `${kind} ${gateway} ${step} ${bucket}`,
          (sum, { messages }) => {
            sum.messages += messages;
          },
          (entry) => ({ ...entry }),
        ),
      );
    },
  };
}

/** Returns the changes of hours, and their sums by day and month; the order is always the same. */
function atAllSpans<Entry extends { workspaceId: Buffer; start: number; channel: Channel }>(
  entries: Entry[],
  nameOf: (entry: Entry) => string,
  add: (sum: Entry, entry: Entry) => void,
  copy: (entry: Entry) => Entry,
): (Entry & { span: Span })[] {
  return spans.flatMap((span) => {
    const sums = new Map<string, Entry & { span: Span }>();
    for (const entry of entries) {
      const start = startOf(span, entry.start);
      const key = `${entry.workspaceId.toString('latin1')} ${start} ${entry.channel} ${nameOf(entry)}`;
      const sum = sums.get(key);
      if (sum) add(sum, entry);
      else sums.set(key, { ...copy(entry), start, span });
    }
    return [...sums.values()];
  });
}
