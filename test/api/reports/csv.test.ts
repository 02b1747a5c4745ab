import { beforeAll, expect, test } from 'vitest';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import {
  advanceEmail,
  advanceText,
  countAll,
  emailAt,
  textAt,
} from '../../support/data/reported-messages.ts';
import { useDatabase } from '../../support/database/database.ts';
import { changeSettings } from '../../support/processes/settings.ts';

useDatabase();

let api: Client;
beforeAll(async () => {
  api = await startApi();
});

type Own = Awaited<ReturnType<typeof workspace>>;
const day = '2026-07-01';
const time = new Date(`${day}T10:00:00Z`);
const ask = (own: Own, report: string, accept = 'text/csv') =>
  api.request('GET', `/v2/reports/${report}?from=${day}&to=2026-07-02`, {
    key: own.key,
    headers: { Accept: accept },
  });

async function ownWorkspace(): Promise<Own> {
  // The date that is fixed here must not be too old to be counted.
  changeSettings({ EMAIL_RETENTION_DAYS: 9_000, SMS_RETENTION_DAYS: 9_000 });
  return workspace();
}

test('CSV is given to whatever form of its type, and only where the caller prefers it', async () => {
  const own = await ownWorkspace();
  for (const accept of [
    'text/csv; charset=utf-8',
    'text/csv; header=present',
    'text/csv;q=0.9;charset=utf-8',
    'TEXT/CSV; Header=absent; Q=0.5',
    'application/json;q=0.1, text/csv;charset=utf-8;q=0.5',
    'text/*; charset=utf-8',
  ]) {
    const { headers } = await ask(own, 'sends', accept);
    expect([accept, headers['content-type']]).toEqual([accept, 'text/csv; charset=utf-8']);
  }
  for (const accept of [
    'text/csv; charset=utf-8; q=0.2, */*',
    'text/csv;charset=utf-8;q=0.5, application/json;charset=utf-8',
    'text/csv;charset=utf-8;q=0',
    ';, ,=',
  ])
    expect([accept, (await ask(own, 'sends', accept)).body.nextCursor]).toEqual([accept, null]);
});

test('a cell is quoted where it has to be, and none begins like a formula', async () => {
  const own = await ownWorkspace();
  const cells = [
    ['plain', 'plain'],
    ['two words', 'two words'],
    ['a"b', '"a""b"'],
    ['a,b', '"a,b"'],
    ['a\rb', '"a\rb"'],
    ['a\nb', '"a\nb"'],
    ['=1+1', "'=1+1"],
    ['+1', "'+1"],
    ['-1', "'-1"],
    ['@sum(a,b)', '"\'@sum(a,b)"'],
    ['\tx', "'\tx"],
    ['\rx', '"\'\rx"'],
    ['1=1', '1=1'],
  ] as const;
  for (const [clientTag] of cells) await textAt(own, time, { clientTag });
  await countAll();
  const { body } = await ask(own, 'client-tags');
  const [, ...rows] = (body as string).split('\r\n').slice(0, -1);
  const rest = ',sms,1,1,0,0,0,0,0,1,0.0400,0.0460,0.0000';
  expect(rows.toSorted()).toEqual(cells.map(([, cell]) => cell + rest).toSorted());
});

test('members within members are columns of their own', async () => {
  const own = await ownWorkspace();
  await advanceText(await textAt(own, time, {}), 'sent', {
    at: new Date(time.getTime() + 1),
    gateway: 'acme',
  });
  await advanceEmail(await emailAt(own, time, { recipient: 'ada@one.example' }), 'sent', { at: time });
  await countAll();
  const latency = (await ask(own, 'latency')).body.split('\r\n');
  expect(latency[0]).toBe(
    'channel,kind,gateway,sent.count,sent.p50,sent.p90,sent.p95,sent.p99,sent.max,delivered.count,delivered.p50,delivered.p90,delivered.p95,delivered.p99,delivered.max',
  );
  expect(latency[1]).toMatch(/^email,transactional,,1(?:,[\d.]+){5},0,,,,,$/);
  expect(latency[2]).toMatch(/^sms,single,acme,1(?:,[\d.]+){5},0,,,,,$/);
  expect((await ask(own, 'email-deliverability')).body).toBe(
    [
      'by,domain,accepted,delivered,hardBounces,softBounces,rejected,suppressed,complaints,opened,deliveredRate,bounceRate,complaintRate',
      'recipientDomain,one.example,1,0,0,0,0,0,0,0,0.0000,0.0000,',
      `sendingDomain,${own.domain},1,0,0,0,0,0,0,0,0.0000,0.0000,`,
      '',
    ].join('\r\n'),
  );
});
