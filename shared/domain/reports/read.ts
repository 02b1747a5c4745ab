import * as db from '../../db/reports/counts.ts';
import { listLatencies } from '../../db/reports/latencies.ts';
import { type Histogram, quantilesOf } from '../../formats/latency-buckets.ts';
import { moneyText } from '../../formats/money.ts';
import type {
  ClientTagsReport,
  CountriesReport,
  DeliverabilityReport,
  LatencyReport,
  ReportedError,
  ReportFilter,
  SendsFilter,
  SendsReport,
} from '../../schemas/reports.ts';
import { partsOfValue, routeValue } from './facts.ts';
import { limited } from './limiter.ts';
import { piecesWithin, selectionOf, timeOf } from './pieces.ts';
import { intervalsOf, type ReportRange, rangeOf } from './range.ts';

/** The reports of a workspace, for callers and for the operator. */

/** The workspace that is reported on: the caller's, or one that the operator chose. */
type Owner = { workspaceId: string };

async function reporting<Row>(
  { workspaceId }: Owner,
  { from, to, timeZone, timeZoneRounded }: ReportRange,
  look: () => Promise<Row[]>,
) {
  const data = await limited(workspaceId, look);
  return {
    from: timeOf(from).toISOString(),
    to: timeOf(to).toISOString(),
    timeZone,
    timeZoneRounded,
    data,
    nextCursor: null,
  };
}

const channelsOf = ({ channel }: Pick<ReportFilter, 'channel'>): readonly db.Channel[] =>
  channel ? [channel] : db.channels;
const only = (channel: db.Channel, filter: ReportFilter): readonly db.Channel[] =>
  channelsOf(filter).filter((one) => one === channel);

const counted = [...db.statusMeasures, 'parts', 'cost_gbp', 'cost_eur'] as const;
const ofDomains = [
  'accepted',
  'delivered',
  'hard_bounces',
  'soft_bounces',
  'rejected',
  'suppressed',
  'complaints',
  'opened',
] as const;

/** A row for each interval and channel, also where nothing was accepted. */
export async function sends(owner: Owner, filter: SendsFilter): Promise<SendsReport> {
  const { starts, bounds, range } = intervalsOf(filter);
  const channels = channelsOf(filter);
  return reporting(owner, range, async () => {
    const found = await db.listReportStretches(owner.workspaceId, channels, {
      bounds,
      pieces: piecesWithin(bounds),
      wanted: counted,
    });
    const counts = new Map(found.map((row) => [`${row.stretch} ${row.channel}`, row.counts]));
    return starts.flatMap((start, stretch) =>
      channels.map((channel) => ({
        start: new Date(start).toISOString(),
        channel,
        ...shown(counts.get(`${stretch} ${channel}`)),
      })),
    );
  });
}

const mostTags = 1_000;
const mostDomains = 200;
/** The most pairs of a country and a gateway. */
const mostCountries = 1_000;
const mostErrors = 5_000;
const mostErrorsShown = 20;

/** A row for each tag and channel, most accepted first. */
export async function clientTags(owner: Owner, filter: ReportFilter): Promise<ClientTagsReport> {
  const range = rangeOf(filter);
  return reporting(owner, range, async () => {
    const rows = await list(owner, 'tag', channelsOf(filter), range, { wanted: counted, limit: mostTags });
    return rows.map(({ value, channel, counts }) => ({
      clientTag: value.toString() || null,
      channel,
      ...shown(counts),
      deliveredRate: rate(counts.delivered, counts.accepted),
    }));
  });
}

/** A row for each country and gateway, of text messages only: the country of an email cannot be known. */
export async function countries(owner: Owner, filter: ReportFilter): Promise<CountriesReport> {
  const range = rangeOf(filter);
  const channels = only('sms', filter);
  return reporting(owner, range, async () => {
    const [rows, failures] = await Promise.all([
      list(owner, 'route', channels, range, { wanted: counted, limit: mostCountries }),
      list(owner, 'error', channels, range, { wanted: ['accepted'], limit: mostErrors }),
    ]);
    const errors = errorsByRoute(failures);
    return rows.map(({ value, channel, counts }) => {
      const { country, gateway } = partsOfValue(value);
      return {
        country: country || null,
        gateway: gateway || null,
        channel,
        ...shown(counts),
        deliveredRate: rate(counts.delivered, counts.accepted),
        errors: (errors.get(value.toString()) ?? []).slice(0, mostErrorsShown),
      };
    });
  });
}

/** Groups the errors by route. The order of the rows stays: most messages first. */
function errorsByRoute(rows: db.ReportRow<'accepted'>[]): Map<string, ReportedError[]> {
  const byRoute = new Map<string, ReportedError[]>();
  for (const { value, counts } of rows) {
    const { country, errorCode, ...route } = partsOfValue(value);
    const key = routeValue(country, route);
    const error = { errorCode, messages: counts.accepted };
    byRoute.set(key, [...(byRoute.get(key) ?? []), error]);
  }
  return byRoute;
}

/** Returns rows by the recipients' domains, then rows by the sending domains; most accepted first. */
export async function emailDeliverability(owner: Owner, filter: ReportFilter): Promise<DeliverabilityReport> {
  const range = rangeOf(filter);
  const channels = only('email', filter);
  const most = { wanted: ofDomains, limit: mostDomains };
  return reporting(owner, range, async () => {
    const [recipients, senders] = await Promise.all([
      list(owner, 'recipient_domain', channels, range, most),
      list(owner, 'sending_domain', channels, range, most),
    ]);
    return [
      ...recipients.map(deliverability('recipientDomain')),
      ...senders.map(deliverability('sendingDomain')),
    ];
  });
}

function deliverability(by: DeliverabilityReport['data'][number]['by']) {
  return ({
    value,
    counts,
  }: db.ReportRow<(typeof ofDomains)[number]>): DeliverabilityReport['data'][number] => ({
    by,
    domain: value.toString(),
    accepted: counts.accepted,
    delivered: counts.delivered,
    hardBounces: counts.hard_bounces,
    softBounces: counts.soft_bounces,
    rejected: counts.rejected,
    suppressed: counts.suppressed,
    complaints: counts.complaints,
    opened: counts.opened,
    deliveredRate: rate(counts.delivered, counts.accepted),
    bounceRate: rate(counts.hard_bounces + counts.soft_bounces, counts.accepted),
    complaintRate: rate(counts.complaints, counts.delivered),
  });
}

/** How long messages took, by channel, kind and gateway. */
export async function latency(owner: Owner, filter: ReportFilter): Promise<LatencyReport> {
  const range = rangeOf(filter);
  return reporting(owner, range, async () => {
    const found = await listLatencies(
      owner.workspaceId,
      channelsOf(filter),
      selectionOf(range.from, range.to),
    );
    const groups = [
      ...Map.groupBy(found, ({ channel, kind, gateway }) => `${channel} ${kind} ${gateway}`).values(),
    ];
    return groups.map((rows) => {
      const { channel, kind, gateway } = rows[0]!;
      const of = (step: 'sent' | 'delivered') => times(rows.filter((row) => row.step === step));
      return {
        channel,
        kind: kind as LatencyReport['data'][number]['kind'],
        gateway: gateway || null,
        sent: of('sent'),
        delivered: of('delivered'),
      };
    });
  });
}

function times(histogram: Histogram) {
  const [p50, p90, p95, p99, max] = quantilesOf(histogram, [0.5, 0.9, 0.95, 0.99, 1]).map(
    (ms) => ms && Math.round(ms) / 1000,
  );
  const count = histogram.reduce((sum, bucket) => sum + bucket.count, 0);
  return { count, p50: p50!, p90: p90!, p95: p95!, p99: p99!, max: max! };
}

function list<Wanted extends db.Measure>(
  { workspaceId }: Owner,
  dimension: db.Dimension,
  channels: readonly db.Channel[],
  { from, to }: ReportRange,
  { wanted, limit }: { wanted: readonly (Wanted | 'accepted')[]; limit: number },
): Promise<db.ReportRow<Wanted | 'accepted'>[]> {
  return db.listReportRows<Wanted | 'accepted'>(workspaceId, dimension, {
    channels,
    rows: selectionOf(from, to),
    wanted,
    most: 'accepted',
    limit,
  });
}

function shown(counts: Record<(typeof counted)[number], number> | undefined) {
  const of = (measure: (typeof counted)[number]) => counts?.[measure] ?? 0;
  return {
    accepted: of('accepted'),
    queued: of('queued'),
    held: of('held'),
    sent: of('sent'),
    delivered: of('delivered'),
    failed: of('failed'),
    cancelled: of('cancelled'),
    parts: of('parts'),
    cost: { gbp: moneyText(of('cost_gbp')), eur: moneyText(of('cost_eur')) },
  };
}

function rate(part: number, whole: number): string | null {
  return whole === 0 ? null : (part / whole).toFixed(4);
}
