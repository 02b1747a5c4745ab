import { expect } from 'vitest';
import { now } from '../../../../shared/common/clock.ts';
import { config } from '../../../../shared/config/config.ts';
import { query } from '../../../../shared/db/client.ts';
import { startApi } from '../../api/start-api.ts';
import { workspace } from '../../data/factory.ts';
import { changeSettings } from '../../processes/settings.ts';
import { advanceClock } from '../../time/advance-clock.ts';

/** Changes everything that a file may leave to the support to restore. */
export async function changeMuch(): Promise<void> {
  changeSettings({ SWEEP_SECONDS: 5 });
  const [api, { key }] = [await startApi(), await workspace()];
  expect((await api.request('GET', '/v2/webhooks', { key })).status).toBe(200);
  await advanceClock(86_400_000);
  expect(now().getTime()).toBeGreaterThan(Date.now() + 80_000_000);
  expect(await query('SELECT COUNT(*) AS count FROM workspaces')).toEqual([{ count: 1 }]);
  expect(config.SWEEP_SECONDS).toBe(5);
}
