// @apart: a process makes the description of the API once, with the settings of that time.
// @slow: it makes the description of the API anew for other settings.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ownTimes } from '../../api/openapi/own-times.ts';
import { startApi } from '../support/api/start-api.ts';
import { useDatabase } from '../support/database/database.ts';
import { changeSettings } from '../support/processes/settings.ts';
import { folder } from './run-program.ts';

useDatabase();

test.each([
  [7, 15, 8],
  [30, 38, 31],
  [1.5, 4, 2],
])(
  'where events are kept %d days, ids of deliveries are to be kept accordingly',
  async (days, first, last) => {
    changeSettings({ EVENT_RETENTION_DAYS: days });
    const { request } = await startApi();
    const { body } = await request('GET', '/docs/guides/receive-webhooks');
    expect(body.replaceAll('\n', ' ')).toContain(
      `no sooner than ${first} days after it first came and ${last} days after it last came`,
    );
  },
);

test('the reference, the guides and the problems say how long events are kept here', async () => {
  changeSettings({ EVENT_RETENTION_DAYS: 30 });
  const { request } = await startApi();
  const { paths } = (await request('GET', '/openapi.json')).body;
  const [feed, deliveries] = ['/v2/events', '/v2/webhooks/{id}/deliveries'].map((path) => paths[path].get);
  for (const operation of [feed, deliveries]) {
    expect(operation.description).toContain('kept 30 days');
    expect(JSON.stringify(operation)).not.toMatch(/7 days|{{/);
  }
  for (const path of ['/docs/guides/events-feed', '/problems/cursor_expired']) {
    const { body } = await request('GET', path);
    expect(body).toMatch(/Events are kept (for )?30 days/);
    expect(body).not.toMatch(/7 days|{{/);
  }
  const guides = ['api-decisions', 'operations', 'receive-webhooks'];
  for (const guide of guides)
    expect((await request('GET', `/docs/guides/${guide}`)).body).not.toMatch(/{{\w|<!--|&lt;!--/);
});

test('the files of the guides have the numbers of a platform with the defaults', () => {
  changeSettings({ EVENT_RETENTION_DAYS: 7 });
  const texts = readdirSync(folder)
    .filter((name) => name.endsWith('.md'))
    .map((name) => readFileSync(join(folder, name), 'utf8'));
  const noted = texts.flatMap((text) => [...text.matchAll(/(\d*)<!-- (\w+) -->/g)]);
  expect(noted.length).toBeGreaterThan(4);
  for (const [, number, name] of noted) expect(ownTimes()).toHaveProperty(name!, number);
  for (const text of texts) expect(text).not.toMatch(/{{\w+}}/);
});

test('the receivers of the guide leave these times to the guide', () => {
  for (const name of ['receiver.mjs', 'receiver.py'])
    expect(readFileSync(join(folder, name), 'utf8')).not.toMatch(/\d+ days/);
});
