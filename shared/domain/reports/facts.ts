import type { Channel, Counts, Dimension } from '../../db/reports/counts.ts';
import { bucketOf } from '../../formats/latency-buckets.ts';

/** The facts of a message that reports count, and their stored forms. */

/** The facts of a message that never change. */
type Lasting = {
  id: Buffer;
  workspaceId: Buffer;
  /** The id of the workspace as latin1, for use as a key. */
  workspace: string;
  channel: Channel;
  /** The hour in which it was accepted. */
  hour: number;
  kind: string;
  /** Empty where it has none. */
  tag: string;
  /** Its other dimensions, as `bytesOfValue` reads them. */
  places: readonly (readonly [dimension: Dimension, value: string])[];
  parts: number;
  gbp: number;
  eur: number;
};

/** The part of a message that its counts depend on; a change here changes the counts. */
export type Standing = {
  status: 'queued' | 'held' | 'sent' | 'delivered' | 'failed' | 'cancelled';
  reason: 'hard_bounces' | 'soft_bounces' | 'rejected' | 'suppressed' | 'complaints' | null;
  isOpened: boolean;
  /** Its cost was refunded, or was never charged. */
  isFree: boolean;
  charged: number;
  /** The gateway that took the message or refused it; empty where no gateway had it. */
  gateway: string;
  /** The error code of a text that failed; empty for other messages. */
  errorCode: string;
  /** Buckets of two times: `sent` until the message was sent, `delivered` from then until it was delivered. */
  sent: number | null;
  delivered: number | null;
};

export type Facts = Lasting & { standing: Standing };

const statuses: Record<Standing['status'], string> = {
  queued: 'q',
  held: 'h',
  sent: 's',
  delivered: 'd',
  failed: 'f',
  cancelled: 'c',
};
const reasons: Record<NonNullable<Standing['reason']>, string> = {
  hard_bounces: 'h',
  soft_bounces: 's',
  rejected: 'r',
  suppressed: 'u',
  complaints: 'c',
};
const inverse = <Name extends string>(codes: Record<Name, string>) =>
  Object.fromEntries(Object.entries(codes).map(([name, code]) => [code, name])) as Record<string, Name>;
const statusOf = inverse(statuses);
const reasonOf = inverse(reasons);

/** Returns the standing as it is stored; there is one for each message that is kept. */
export function encode(channel: Channel, standing: Standing): string {
  const { status, reason, isOpened, isFree, charged, gateway, errorCode, sent, delivered } = standing;
  const flags = `${reason ? reasons[reason] : '-'}${isOpened ? 'o' : '-'}${isFree ? 'f' : '-'}`;
  return `${channel[0]}${statuses[status]}${flags}${[sent ?? '', delivered ?? '', charged, `${gateway} ${errorCode}`].join(',')}`;
}

export function decode(text: string): Standing {
  const [sent, delivered, charged, ...rest] = text.slice(5).split(',');
  const route = rest.join(',');
  // Before the error code was stored, texts were counted without their gateway.
  const space = route.indexOf(' ');
  return {
    status: statusOf[text[1]!]!,
    reason: reasonOf[text[2]!] ?? null,
    isOpened: text[3] === 'o',
    isFree: text[4] === 'f',
    charged: Number(charged),
    gateway: space === -1 ? '' : route.slice(0, space),
    errorCode: space === -1 ? '' : route.slice(space + 1),
    sent: sent ? Number(sent) : null,
    delivered: delivered ? Number(delivered) : null,
  };
}

/** The name under which all other names count together. No tag, domain or known error code has brackets. */
export const other = '(other)';

/**
 * The columns of values and names have this many bytes. A longer text counts as `other`, so that it cannot stop the
 * counting.
 */
const mostBytes = 256;
export const isStorable = (name: string): boolean => Buffer.byteLength(name) <= mostBytes;

/** A value of a dimension as it is stored: keys are bytes, all else is text. */
export function bytesOfValue(dimension: Dimension, value: string): Buffer {
  const bytes = Buffer.from(value, dimension === 'key' ? 'latin1' : 'utf8');
  return bytes.length > mostBytes ? Buffer.from(other) : bytes;
}
export function valueOfBytes(dimension: Dimension, value: Buffer): string {
  return value.toString(dimension === 'key' ? 'latin1' : 'utf8');
}

/** The country and the gateway of a text, as one value: neither has a space. */
export const routeValue = (country: string, { gateway }: Pick<Standing, 'gateway'>) =>
  `${country} ${gateway}`;
/** The same with the error code of a text that failed. */
export const errorValue = (country: string, standing: Pick<Standing, 'gateway' | 'errorCode'>) =>
  `${routeValue(country, standing)} ${standing.errorCode}`;

/** Returns the parts of a value of `routeValue` or `errorValue`. */
export function partsOfValue(value: Buffer): { country: string; gateway: string; errorCode: string } {
  const [country = '', gateway = '', ...errorCode] = value.toString().split(' ');
  return { country, gateway, errorCode: errorCode.join(' ') };
}

/** Adds a message to these sums (`times` is 1), or subtracts it (-1). */
export function addTo(counts: Counts, { parts, gbp, eur }: Lasting, standing: Standing, times: 1 | -1): void {
  const { status, reason, isOpened, isFree, charged } = standing;
  counts.accepted += times;
  counts[status] += times;
  if (reason) counts[reason] += times;
  if (isOpened) counts.opened += times;
  if (parts === 0) return;
  counts.parts += times * parts;
  counts.cost_gbp += times * gbp;
  counts.cost_eur += times * eur;
  if (isFree) return;
  counts.spent += times;
  counts.spent_parts += times * parts;
  counts.spent_gbp += times * gbp;
  counts.spent_eur += times * eur;
  counts.charged += times * charged;
}

/** How long each step of a message took, in milliseconds; null for a step that it has not reached. */
type Times = { sent_ms: number | null; delivered_ms: number | null };

/** Returns the buckets of these times. For a scheduled message they run from its scheduled time, not its acceptance. */
export function bucketsOf({ sent_ms, delivered_ms }: Times): Pick<Standing, 'sent' | 'delivered'> {
  return {
    sent: sent_ms === null ? null : bucketOf(sent_ms),
    delivered: delivered_ms === null ? null : bucketOf(delivered_ms),
  };
}
