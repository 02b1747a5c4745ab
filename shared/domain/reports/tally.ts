import { type Channel, type Counts, type Dimension, measures, type Span } from '../../db/report-counts.ts';
import { addCounts, addLatencies, type CountsAt, type LatencyAt } from '../../db/system/report-counts.ts';
import { countsOf, type Facts, type Standing } from './facts.ts';
import type { NameOf } from './names.ts';
import { startOf } from './pieces.ts';

const spans: readonly Span[] = ['hour', 'day', 'month'];
const nothing = Buffer.alloc(0);
const none = Object.fromEntries(measures.map((measure) => [measure, 0])) as Counts;

type CountsOfHour = Omit<CountsAt, 'span'>;
type LatencyOfHour = Omit<LatencyAt, 'span'>;

/** Changes of counts, gathered by hour. */
export type Tally = {
  /** Counts a message once more, or takes it back with -1. */
  add(facts: Facts, standing: Standing, times: 1 | -1, nameOf: NameOf): void;
  /** Takes back what is stored. */
  subtract(counts: CountsAt[], latencies: LatencyAt[]): void;
  /** Adds all of it to the stored counts, of the hours and of the days and months that they are in. */
  store(): Promise<void>;
};

export function newTally(): Tally {
  const counted = new Map<string, CountsOfHour>();
  const timed = new Map<string, LatencyOfHour>();

  type At = { workspaceId: Buffer; start: number; channel: Channel };
  const keyOf = ({ workspaceId, start, channel }: At) =>
    `${workspaceId.toString('latin1')} ${start} ${channel}`;

  function change(
    at: At,
    key: string,
    dimension: Dimension,
    value: Buffer,
    counts: Partial<Counts>,
    times: 1 | -1,
  ) {
    const place = `${key} ${dimension} ${value.toString('latin1')}`;
    let entry = counted.get(place);
    if (!entry) {
      const { workspaceId, start, channel } = at;
      counted.set(place, (entry = { workspaceId, start, channel, dimension, value, counts: { ...none } }));
    }
    for (const measure in counts)
      entry.counts[measure as keyof Counts] += times * counts[measure as keyof Counts]!;
  }

  function time(at: At, key: string, latency: Pick<LatencyAt, 'kind' | 'step' | 'bucket' | 'messages'>) {
    const { kind, step, bucket, messages } = latency;
    const place = `${key} ${kind} ${step} ${bucket}`;
    const entry = timed.get(place);
    if (entry) entry.messages += messages;
    else {
      const { workspaceId, start, channel } = at;
      timed.set(place, { workspaceId, start, channel, kind, step, bucket, messages });
    }
  }

  return {
    add(facts, standing, times, nameOf) {
      const at = { workspaceId: facts.workspaceId, start: facts.hour, channel: facts.channel };
      const key = keyOf(at);
      const counts = countsOf(facts, standing);
      change(at, key, 'all', nothing, counts, times);
      change(at, key, 'tag', nameOf(facts, 'tag', facts.tag), counts, times);
      for (const [name, value] of Object.entries(facts.places)) {
        const dimension = name as Dimension;
        const named = dimension === 'recipient_domain' ? nameOf(facts, dimension, value.toString()) : value;
        change(at, key, dimension, named, counts, times);
      }
      if (facts.channel === 'sms') change(at, key, 'gateway', Buffer.from(standing.gateway), counts, times);
      for (const step of ['sent', 'delivered'] as const) {
        const bucket = standing[step];
        if (bucket !== null) time(at, key, { kind: facts.kind, step, bucket, messages: times });
      }
    },
    subtract(counts, latencies) {
      for (const entry of counts) change(entry, keyOf(entry), entry.dimension, entry.value, entry.counts, -1);
      for (const entry of latencies) time(entry, keyOf(entry), { ...entry, messages: -entry.messages });
    },
    async store() {
      await addCounts(
        atAllSpans(
          [...counted.values()].filter(({ counts }) => measures.some((measure) => counts[measure] !== 0)),
          ({ dimension, value }) => `${dimension} ${value.toString('latin1')}`,
          (sum, { counts }) => {
            for (const measure of measures) sum.counts[measure] += counts[measure];
          },
          (entry) => ({ ...entry, counts: { ...entry.counts } }),
        ),
      );
      await addLatencies(
        atAllSpans(
          [...timed.values()].filter(({ messages }) => messages !== 0),
          ({ kind, step, bucket }) => `${kind} ${step} ${bucket}`,
          (sum, { messages }) => {
            sum.messages += messages;
          },
          (entry) => ({ ...entry }),
        ),
      );
    },
  };
}

/** The changes of hours, with those of the days and months that they come to; in an order that is always the same. */
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
