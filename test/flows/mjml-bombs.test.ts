// @slow: each process that compiles MJML loads it anew.
import { setTimeout as sleep } from 'node:timers/promises';
import { Refusal, type Schema } from 'messaging-service/client';
import { expect, test } from 'vitest';
import { mjmlBombs } from '../sandbox/mjml-bombs.ts';
import { customerOf } from '../support/api/customer.ts';
import { workspace } from '../support/data/factory.ts';
import { mjmlText } from '../support/data/mjml.ts';
import { letter } from '../support/data/new-email.ts';
import { useDatabase } from '../support/database/database.ts';
import { cpuSlowdown, mainThreadCpuMs } from '../support/processes/cpu-time.ts';
import { startWeb } from '../support/processes/processes.ts';

useDatabase();

// Shows A26, F7
test('each hostile MJML ends in a clear error while other requests, of known MJML too, stay quick', async () => {
  const [attacker, neighbour] = await Promise.all([workspace(), workspace()]);
  const { pid, url } = await startWeb();
  const send = (by: typeof attacker, changes: Partial<Schema<'NewEmail'>>, tries = 1) =>
    customerOf(url, by, { tries }).post('/v2/email', { body: letter(by, changes) });
  const letters: Partial<Schema<'NewEmail'>>[] = [
    { content: { html: '<p>Hello {{ name }}</p>' }, template: { data: { name: 'Ada' } } },
    { format: 'mjml', content: { html: mjmlText('Hello {{ name }}') }, template: { data: { name: 'Ada' } } },
  ];
  for (const changes of letters)
    for (let index = 0; index < 10; index += 1) await send(neighbour, changes, 10);

  let isOver = false;
  /** CPU times of the thread that answers all requests, while one small request was open. */
  const computedMs: number[] = [];
  const others = (async () => {
    for (let index = 0; !isOver; index += 1) {
      const before = mainThreadCpuMs(pid);
      expect((await send(neighbour, letters[index % 2]!)).status).toBe('queued');
      computedMs.push(mainThreadCpuMs(pid) - before);
      // The small requests only measure, so they must not be the load.
      await sleep(25);
    }
  })();

  for (const { name, source, says } of mjmlBombs) {
    const refusal = await send(attacker, { format: 'mjml', content: { html: source } }).catch(
      (error: unknown) => error,
    );
    if (!(refusal instanceof Refusal)) throw new Error(`${name} was not refused`, { cause: refusal });
    expect([name, refusal.status, refusal.errors['content.html']?.join('; ')]).toEqual([
      name,
      400,
      expect.stringMatching(says),
    ]);
  }
  isOver = true;
  await others;
  const most = Math.max(...computedMs) / cpuSlowdown();
  console.info(`${computedMs.length} other requests, of which one met ${most.toFixed(0)} ms of computing`);
  // Without a limit, each of the bombs takes seconds.
  expect(most).toBeLessThan(500);
});
