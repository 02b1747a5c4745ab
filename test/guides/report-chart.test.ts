import { beforeAll, beforeEach, expect, test } from 'vitest';
import { type Client, startApi } from '../support/api/start-api.ts';
import { workspace } from '../support/data/factory.ts';
import { advanceText, countAll, textAt } from '../support/data/reported-messages.ts';
import { useDatabase } from '../support/database/database.ts';
import { changeSettings } from '../support/processes/settings.ts';
import { run } from './run-program.ts';

// The program of the guide "Reports" draws the guide's picture from these messages. `vitest -u` draws it again.
useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof workspace>>;
beforeAll(async () => {
  api = await startApi();
});
beforeEach(async () => {
  // The dates are fixed, and must not be too old to be counted.
  changeSettings({ SMS_RETENTION_DAYS: 9_000 });
  own = await workspace();
});

const program = { language: 'Node', command: process.execPath, program: 'report-chart.mjs' };
const draw = (query: string, key = own.key) => run(program, [query], { API_URL: api.url, API_KEY: key });
const reason = { category: 'rejected', code: 'no', description: null, retryable: false } as const;

/** Sends texts of two weeks, fewer at weekends; one in nine fails, and those of the last evening are on their way. */
async function sendForTwoWeeks(): Promise<void> {
  let count = 0;
  for (let day = 0; day < 14; day += 1) {
    const at = new Date(Date.UTC(2026, 10, 2 + day, 10));
    for (let index = 0; index < (day % 7 > 4 ? 3 : 7 + ((day * 5) % 6)); index += 1) {
      count += 1;
      const text = await textAt(own, at, {});
      if (day === 13 && index > 0) continue;
      if (count % 9 === 0) await advanceText(text, 'failed', { at, reason });
      else await advanceText(await advanceText(text, 'sent', { at }), 'delivered', { at });
    }
  }
  await countAll();
}

test('the picture in the guide is what the program draws of real rows', async () => {
  await sendForTwoWeeks();
  const query = 'from=2026-11-02&to=2026-11-16&channel=sms';
  const { code, output } = await draw(query);
  expect([code, output]).toEqual([0, expect.stringMatching(/^<svg [^]*<\/svg>\n$/)]);
  await expect(output).toMatchFileSnapshot('../../api/public/guides/sends.svg');
  const page = (await api.request('GET', '/docs/guides/reports')).body;
  expect(page.includes(output.trimEnd()), 'the guide shows the picture').toBe(true);

  // The numbers on the bars add up to the report.
  const { data } = (await api.request('GET', `/v2/reports/sends?${query}`, { key: own.key })).body;
  for (const status of ['delivered', 'failed']) {
    const said = [...output.matchAll(new RegExp(`: (\\d+) ${status}<`, 'g'))];
    expect(said.reduce((sum, [, count]) => sum + Number(count), 0)).toBe(
      data.reduce((sum: number, row: any) => sum + row[status], 0),
    );
  }
});

test('it draws hours and months, and nothing where nothing was sent', async () => {
  await textAt(own, new Date('2026-07-01T10:00:00Z'), {});
  await countAll();
  const hours = await draw('from=2026-07-01&to=2026-07-02&interval=hour&timeZone=Europe/London');
  expect(hours.output).toContain('<title>11:00: 1 others</title>');
  const months = await draw('from=2026-01-01&to=2027-01-01&interval=month');
  expect(months.output).toContain('<title>2026-07: 1 others</title>');
  expect((await draw('from=2026-01-01&to=2026-01-02')).output).toContain('<title>0 messages accepted');
});

test('a refusal is told, and no picture is drawn', async () => {
  const { code, output } = await draw('from=yesterday');
  expect([code, output]).toEqual([1, expect.stringContaining('must be a date')]);
  expect(output).not.toContain('<svg');
});
