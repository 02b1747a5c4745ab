import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ask } from './ask.ts';
import type { World } from './types.ts';
import type { Customer } from './workspaces.ts';

/** The fields of an event of the feed that the checks need. */
export type Told = {
  eventId: string;
  type: string;
  workspaceId: string;
  occurredMs: number;
  recordId: string;
  status: string | null;
  reasonCode: string | null;
  updatedMs: number;
  sentMs: number | null;
  deliveredMs: number | null;
  openCount: number;
  /** Hash of the whole item. */
  hash: string;
};

export type Feed = {
  /** In the order of the feed. */
  events: Told[];
  /** Answers other than a page. */
  oddities: string[];
};

const pause = { idleMs: 400, failedMs: 500 };
const limit = 500;

type Page = { data: any[]; nextCursor: string };

/** Reads pages after the cursor until one is empty, as a customer does who wants every event. */
export async function readOn(
  world: Pick<World, 'webUrls'>,
  customer: Pick<Customer, 'key'>,
  from: { cursor: string | null; since: string },
  feed: Feed,
): Promise<string | null> {
  let { cursor } = from;
  for (;;) {
    const place = cursor === null ? `since=${encodeURIComponent(from.since)}` : `cursor=${cursor}`;
    const answer = await ask(world, {
      method: 'GET',
      path: `/v2/events?limit=${limit}&${place}`,
      key: customer.key,
    });
    if (!answer || answer.status >= 500 || answer.status === 429) {
      await sleep(pause.failedMs);
      return cursor;
    }
    if (answer.status !== 200) {
      if (feed.oddities.length < 20) feed.oddities.push(`${answer.status} ${answer.text.slice(0, 300)}`);
      await sleep(pause.failedMs);
      return cursor;
    }
    const page: Page = JSON.parse(answer.text);
    for (const event of page.data) feed.events.push(toldBy(event));
    cursor = page.nextCursor;
    if (page.data.length === 0) return cursor;
  }
}

/** Follows the feed until `close`, and then reads it to its end. */
export function followFeed(world: World, customer: Customer, feed: Feed, since: string) {
  let isClosed = false;
  let cursor: string | null = null;
  const following = (async () => {
    while (!isClosed) {
      cursor = await readOn(world, customer, { cursor, since }, feed);
      await sleep(pause.idleMs);
    }
    // Events may have come during the last pause. The feed is read three times, because a read may meet a fault.
    for (let time = 0; time < 3; time += 1) cursor = await readOn(world, customer, { cursor, since }, feed);
  })();
  return {
    close: () => {
      isClosed = true;
      return following;
    },
  };
}

function toldBy(event: any): Told {
  const { data } = event;
  const timeOf = (text: string | null | undefined) => (text ? Date.parse(text) : null);
  return {
    eventId: event.id,
    type: event.type,
    workspaceId: event.workspaceId,
    occurredMs: Date.parse(event.occurredAt),
    recordId: data.id,
    status: data.status ?? null,
    reasonCode: data.reason?.code ?? null,
    updatedMs: timeOf(data.updatedAt) ?? Date.parse(event.occurredAt),
    sentMs: timeOf(data.sentAt),
    deliveredMs: timeOf(data.deliveredAt),
    openCount: data.openCount ?? 0,
    hash: createHash('sha256').update(JSON.stringify(event)).digest('base64').slice(0, 12),
  };
}
