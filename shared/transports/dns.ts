import { promises as dns } from 'node:dns';
import { setTimeout as sleep } from 'node:timers/promises';
import { config } from '../config/config.ts';

/**
 * Looks up records in the DNS of others. Their name servers may be slow, silent or hostile, so the time and size of
 * every look-up are limited.
 */

export type Question = { name: string; type: 'TXT' | 'CNAME' };

/** `records` is empty when there is no such record. `trouble`: the lookup failed, so nothing may be concluded. */
export type DnsLookup = { records: string[] } | { trouble: string };

const setsAtOnce = 20;
/**
 * The most records of an answer: the strings of one TXT record can have 64 KiB, and no domain needs so many records.
 */
const mostRecords = 50;
const longestRecord = 4_096;

let inFlight = 0;
const waiting: (() => void)[] = [];

/**
 * Answers questions that belong together, in their order. Never rejects, and takes no longer than
 * DNS_TIMEOUT_SECONDS.
 */
export async function lookUp(questions: readonly Question[]): Promise<DnsLookup[]> {
  const nobodyKnows = questions.map(
    (): DnsLookup => ({ trouble: 'The name servers did not answer in time' }),
  );
  // The time starts here, so that waiting for a turn counts.
  const deadlineMs = config.DNS_TIMEOUT_SECONDS * 1000;
  const resolver = new dns.Resolver({ timeout: Math.ceil(deadlineMs / 4), tries: 2 });
  if (config.DNS_SERVERS.length > 0) resolver.setServers(config.DNS_SERVERS);
  const end = new AbortController();
  const late = sleep(deadlineMs, nobodyKnows, { signal: end.signal });
  const turn = takeTurn();
  const answers = turn.ready.then(() => Promise.all(questions.map((question) => ask(resolver, question))));
  try {
    return await Promise.race([answers, late]);
  } finally {
    end.abort();
    late.catch(() => {});
    resolver.cancel();
    turn.release();
  }
}

function takeTurn(): { ready: Promise<void>; release: () => void } {
  const { promise: ready, resolve: begin } = Promise.withResolvers<void>();
  let hasBegun = false;
  const start = () => {
    hasBegun = true;
    inFlight += 1;
    begin();
  };
  if (inFlight < setsAtOnce) start();
  else waiting.push(start);
  const release = () => {
    if (!hasBegun) return void waiting.splice(waiting.indexOf(start), 1);
    inFlight -= 1;
    waiting.shift()?.();
  };
  return { ready, release };
}

async function ask(resolver: dns.Resolver, { name, type }: Question): Promise<DnsLookup> {
  try {
    const found = type === 'TXT' ? await resolver.resolveTxt(name) : await resolver.resolveCname(name);
    const records = found.slice(0, mostRecords).map((record) => [record].flat().join(''));
    return { records: records.filter((record) => record.length <= longestRecord) };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (code === dns.NOTFOUND || code === dns.NODATA) return { records: [] };
    return { trouble: troubles[code] ?? 'The name could not be looked up' };
  }
}

const troubles: Record<string, string> = {
  [dns.TIMEOUT]: 'The name servers did not answer in time',
  [dns.CANCELLED]: 'The name servers did not answer in time',
  [dns.SERVFAIL]: 'The name servers failed to answer',
  [dns.REFUSED]: 'The name servers refused to answer',
  [dns.CONNREFUSED]: 'The name servers could not be reached',
  [dns.BADRESP]: 'The answer of the name servers could not be read',
};
