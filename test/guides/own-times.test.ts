import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
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

test('the receivers of the guide leave these times to the guide', () => {
  for (const name of ['receiver.mjs', 'receiver.py'])
    expect(readFileSync(join(folder, name), 'utf8')).not.toMatch(/\d+ days/);
});
