import { castOf } from '../cast.ts';
import { apiAt } from '../customer.ts';
import { type Bench, checkEqual, type Line, type Opened, type Run } from '../line.ts';
import type { Counted, Year } from '../loaders/reports.ts';
import type { Reading } from '../players/page-reader.ts';
import { openWindow } from '../usage.ts';

const reports = ['sends', 'client-tags', 'countries', 'latency', 'email-deliverability'] as const;
const otherWorkspaces = 99;
const measureMs = 2_500;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const yearDays = 365;
const mostHoursDays = 31;
/**
 * The number of days on which the requested years begin. They are in the middle of a month, which takes the most
 * rows.
 */
const firstDays = 3;
const zones = ['UTC', 'America/New_York', 'Asia/Kolkata', 'Pacific/Auckland'];
type Report = (typeof reports)[number];
const p95 = (report: Report) => `${report} p95 ms`;

type Read = { pages: number; ms: number; p50Ms: number; p95Ms: number };

async function open(bench: Bench): Promise<Opened> {
  const { world, scale } = bench;
  const cast = castOf(bench, 'report-query');
  const loader = await cast.servant('loaders/reports');
  const reader = await cast.servant('players/page-reader');
  await world.clear();
  const today = new Date();
  const first = Date.UTC(today.getUTCFullYear() - 1, today.getUTCMonth(), 16);
  // A day of a zone begins up to a day earlier than that of UTC.
  const edgeDays = Array.from({ length: firstDays + 2 }, (_, index) => first + (index - 1) * dayMs);
  const edges = [...edgeDays, ...edgeDays.map((day) => day + yearDays * dayMs)];
  const { key } = await loader.ask<Counted>('year', {
    from: Math.min(...edges) / hourMs,
    to: (Math.max(...edges) + dayMs) / hourMs,
    edges: edges.map((day) => day / hourMs),
    others: Math.round(otherWorkspaces * scale),
  } satisfies Year);
  const { web, port } = await cast.web({ REPORT_SECONDS: '60' });
  const headers = { Authorization: `Bearer ${key}` };
  const api = apiAt(port, key);
  const dateOf = (time: number) => new Date(time).toISOString().slice(0, 10);
  const daysFrom = (day: number, days: number) => ({
    from: dateOf(first + day * dayMs),
    to: dateOf(first + (day + days) * dayMs),
  });
  const queriesOf = (report: Report) =>
    zones.flatMap((timeZone) =>
      Array.from({ length: firstDays }, (_, day) => {
        if (report !== 'sends') return { ...daysFrom(day, yearDays), timeZone };
        const interval = (['day', 'month', 'hour'] as const)[day]!;
        const days = interval === 'hour' ? mostHoursDays : yearDays;
        return { ...daysFrom(day, days), timeZone, interval };
      }),
    );
  const urlsOf = (report: Report) =>
    queriesOf(report).map(
      (query) => `http://127.0.0.1:${port}/v2/reports/${report}?${new URLSearchParams(query).toString()}`,
    );

  /** Checks a report: each name had one message an hour. */
  async function check(report: Report): Promise<void> {
    for (const query of queriesOf(report)) {
      const { from, to, data } = await api.get(`/v2/reports/${report}`, { query });
      const hours = (Date.parse(to) - Date.parse(from)) / hourMs;
      const counts = data.map((row) => ('accepted' in row ? row.accepted : row.sent.count));
      const isSends = report === 'sends';
      checkEqual(
        `${report} of ${JSON.stringify(query)}`,
        isSends ? counts.reduce((sum, count) => sum + count, 0) : [...new Set(counts)],
        isSends ? 2 * hours : [report === 'latency' ? 60 * hours : hours],
      );
    }
  }

  async function run(): Promise<Run> {
    const figures: Record<string, number> = {};
    for (const report of reports) await check(report);
    const close = openWindow({ web: web.pid, reader: reader.pid, ...world.servers });
    let count = 0;
    for (const report of reports) {
      const reading: Reading = { urls: urlsOf(report), connections: 1, ms: measureMs, headers };
      const { pages, p50Ms, p95Ms } = await reader.ask<Read>('read', reading);
      count += pages;
      figures[`${report} p50 ms`] = p50Ms;
      figures[p95(report)] = p95Ms;
    }
    return { count, window: close(), figures, content: '' };
  }

  return {
    sides: [{ name: 'platform', title: 'the five reports of a year, one after the other', run }],
    close: cast.stopAll,
  };
}

export const reportQuery: Line = {
  name: 'report-query',
  title: 'GET /v2/reports/..., a year of a workspace with as many counts as there can be',
  unit: 'reports',
  targets: {},
  atMost: Object.fromEntries(reports.map((report) => [p95(report), 150])),
  notes: [
    `1,000 tags of both channels, 240 countries and 500 domains, each in every hour, among ${otherWorkspaces} workspaces with fewer;`,
    'years that begin in the middle of a month, in time zones with and without an offset. Filling the tables takes minutes.',
  ],
  open,
};
