// @slow: it starts a MySQL of its own, and stores the largest batch.
import { beforeAll, expect, test } from 'vitest';
import { startApi } from '../../../support/api/start-api.ts';
import { newBatch, statusesOf, workOff } from '../../../support/data/new-batch.ts';
import { textingWorkspace } from '../../../support/data/new-sms.ts';
import { useDatabase } from '../../../support/database/database.ts';
import { changeSettings } from '../../../support/processes/settings.ts';
import { startOwnMysql } from '../../../support/servers/own-servers.ts';

beforeAll(async () => {
  const { url } = await startOwnMysql({ options: ['--max-allowed-packet=16M'] });
  changeSettings({ MYSQL_URL: url });
});
useDatabase();

test('the greatest links of a batch are stored by a server that takes 16 MiB in a statement', async () => {
  const [api, own] = [await startApi(), await textingWorkspace()];
  const count = 215;
  // Each of the ten links of each message has 8 kB: all together more than 16 MiB.
  const urls = Array.from({ length: 10 }, (_, place) => `http://a.example/${place}${'😀'.repeat(2_020)}`);
  const { id } = await newBatch(api, own, {
    content: '{% for url in urls %}{{ url }}{{ id }} {% endfor %}',
    data: { urls },
    messages: Array.from({ length: count }, (_, index) => ({
      recipient: `+447400124${`${index}`.padStart(3, '0')}`,
      data: { id: `${index}`.padStart(3, '0') },
    })),
    shortenLinks: true,
  });
  await workOff(id);
  expect(await statusesOf(id)).toEqual({ queued: count });
  const { body } = await api.request('GET', `/v2/sms/batches/${id}/links`, { key: own.key });
  expect(body.data).toHaveLength(1_000);
});
