import { now } from '../../../common/clock.ts';
import { closeAtEnd } from '../../../common/closing.ts';
import { logger } from '../../../common/logger.ts';
import { count } from '../../../common/metrics.ts';
import { outsideTransaction, transaction } from '../../../db/client.ts';
import * as db from '../../../db/sms/short-links/short-links.system.ts';

/** Counts clicks on short links in memory, and writes the counts about once a second. */

type ClickedLink = { smsId: string; place: number };
type LinkClicks = ClickedLink & db.Clicks;

const writeEveryMs = 1_000;
const linksAtOnce = 500;
// A database that is away for long must not fill the memory.
const mostLinks = 100_000;

let waiting = new Map<string, LinkClicks>();
let timer: NodeJS.Timeout | null = null;
let writing: Promise<void> = Promise.resolve();

/** Counts a click in memory, so that nobody waits for a write; it is written within about a second. */
export function countClick({ smsId, place }: ClickedLink): void {
  const at = now();
  add({ smsId, place, clicks: 1, firstAt: at, lastAt: at });
  if (timer) return;
  timer = setTimeout(write, writeEveryMs).unref();
  closeAtEnd(writeClicks);
}

function add(counted: LinkClicks): void {
  const key = `${counted.smsId} ${counted.place}`;
  const known = waiting.get(key);
  if (!known && waiting.size >= mostLinks) count('short_link_clicks_lost', {}, counted.clicks);
  else waiting.set(key, known ? sumOf(known, counted) : counted);
}

function sumOf<Of extends db.Clicks>(one: Of, other: db.Clicks): Of {
  return {
    ...one,
    clicks: one.clicks + other.clicks,
    firstAt: one.firstAt < other.firstAt ? one.firstAt : other.firstAt,
    lastAt: one.lastAt > other.lastAt ? one.lastAt : other.lastAt,
  };
}

/**
 * Writes the clicks that were counted until now; also called when the process ends. If the write fails, the counts wait
 * for the next time. If only the answer to COMMIT is lost, the counts are not written again.
 */
export function writeClicks(): Promise<void> {
  if (timer) clearTimeout(timer);
  timer = null;
  // Writes run one after the other, so a caller that waits for this one also waits for those that began before.
  writing = writing.then(() => outsideTransaction(writeAll));
  return writing;
}

function write(): void {
  void writeClicks();
}

async function writeAll(): Promise<void> {
  const taken = [...waiting.values()];
  waiting = new Map();
  for (let start = 0; start < taken.length; start += linksAtOnce) {
    const some = taken.slice(start, start + linksAtOnce);
    let left = start;
    try {
      await transaction(async () => {
        left = start;
        await writeSome(some);
        // If COMMIT fails from here on, nobody knows whether these clicks are stored, and no click counts twice.
        left = start + linksAtOnce;
      });
      count(
        'short_link_clicks',
        {},
        some.reduce((sum, { clicks }) => sum + clicks, 0),
      );
    } catch (error) {
      const lost = taken.slice(start, left).reduce((sum, { clicks }) => sum + clicks, 0);
      if (lost > 0) count('short_link_clicks_lost', {}, lost);
      logger.warn({ err: error, lost }, 'clicks of short links could not be written yet');
      for (const counted of taken.slice(left)) add(counted);
      timer ??= setTimeout(write, writeEveryMs).unref();
      return;
    }
  }
}

async function writeSome(counted: LinkClicks[]): Promise<void> {
  const clicksOf = new Map(counted.map((one) => [`${one.smsId} ${one.place}`, one]));
  // All links of these messages are read: a message that has a URL as two links counts as clicked once for that URL.
  const links = await db.listShortLinksForUpdate([...new Set(counted.map(({ smsId }) => smsId))]);
  const changes: LinkClicks[] = [];
  const totals = new Map<string, db.TotalClicks>();
  const clicked = new Set(links.filter(({ clicks }) => clicks > 0).map(messageKey));
  for (const link of links) {
    const change = clicksOf.get(`${link.smsId} ${link.place}`);
    if (!change) continue;
    changes.push(change);
    const { batchId, writtenHash: hash } = link;
    if (batchId === null || hash === null) continue;
    const key = `${batchId} ${hash.toString('hex')}`;
    const isFirst = !clicked.has(messageKey(link));
    clicked.add(messageKey(link));
    const { clicks, firstAt, lastAt } = change;
    const total = totals.get(key) ?? { batchId, hash, clickedMessages: 0, clicks: 0, firstAt, lastAt };
    totals.set(key, {
      ...sumOf(total, { clicks, firstAt, lastAt }),
      clickedMessages: total.clickedMessages + Number(isFirst),
    });
  }
  if (changes.length > 0) await db.updateShortLinkClicks(changes);
  if (totals.size > 0) await db.updateShortLinkTotals([...totals.values()]);
}

const messageKey = ({ smsId, writtenHash }: db.LinkToCount) => `${smsId} ${writtenHash?.toString('hex')}`;
