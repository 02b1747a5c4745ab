import { beforeAll, expect, test } from 'vitest';
import { attempt } from '../../../shared/domain/sms/delivery/delivery.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { sendSms, textingWorkspace } from '../../support/data/new-sms.ts';
import { useDatabase } from '../../support/database/database.ts';
import { changeSettings } from '../../support/processes/settings.ts';

useDatabase();

let api: Client;
beforeAll(async () => {
  changeSettings({ SHORT_LINK_MISSES_PER_MINUTE: 5, TRUST_PROXY: 1 });
  api = await startApi();
});

test('guessing links is slowed down by address, and following them is not', async () => {
  const own = await textingWorkspace();
  const sent = { recipient: '+447400123456', content: 'https://a.example', shortenLinks: true };
  const { id, content } = await sendSms(api, own, sent);
  await attempt(id);
  const path = content.slice(api.url.length);
  const from = (address: string, way: string) =>
    api.request('GET', way, { headers: { 'x-forwarded-for': address } });
  for (let click = 0; click < 20; click += 1) expect((await from('203.0.113.1', path)).status).toBe(302);
  const answers = [];
  for (let guess = 0; guess < 8; guess += 1) answers.push(await from('203.0.113.1', `/l/guess000${guess}`));
  expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404, 429, 429, 429]);
  const last = answers.at(-1)!;
  expect(Number(last.headers['retry-after'])).toBeGreaterThan(0);
  expect([last.headers['content-type'], last.body]).toEqual([
    expect.stringContaining('text/html'),
    expect.stringContaining('Too many unknown links were opened'),
  ]);
  // An existing link is refused too, because otherwise guessing could go on.
  expect((await from('203.0.113.1', path)).status).toBe(429);
  expect((await from('198.51.100.1', path)).status).toBe(302);
});
