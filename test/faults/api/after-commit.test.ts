import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { afterCommit } from '../../../shared/db/client.ts';
import { ask } from '../../api/middleware/idempotency/ask.ts';
import { startEffectsApi } from '../../api/middleware/idempotency/effects-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';

useDatabase();

test('what has committed is answered as done, though something that comes after the commit fails', async () => {
  const [effectsApi, own] = [await startEffectsApi(), await workspace()];
  effectsApi.behave({
    handle: () =>
      afterCommit(() => {
        throw new Error('a fault of ours');
      }),
  });
  for (const idempotencyKey of [randomUUID(), undefined]) {
    const name = `effect-${idempotencyKey}`;
    const question = {
      key: own.key,
      path: '/v2/effects',
      body: { name },
      ...(idempotencyKey && { idempotencyKey }),
    };
    expect((await ask(effectsApi.url, question)).status).toBe(201);
    expect(await effectsApi.effects(name)).toBe(1);
  }
});
