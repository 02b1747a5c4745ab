import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { mjmlBombs } from '../sandbox/mjml-bombs.ts';
import { clientOf } from '../support/api/api-client.ts';
import { workspace } from '../support/data/factory.ts';
import { mjmlText } from '../support/data/mjml.ts';
import { postEmail } from '../support/data/new-email.ts';
import { useDatabase } from '../support/database/database.ts';
import { cpuSlowdown, mainThreadCpuMs } from '../support/processes/cpu-time.ts';
import { startWeb } from '../support/processes/processes.ts';

useDatabase();

// Shows A26, F7
test('each hostile MJML ends in a clear error while other requests, of known MJML too, stay quick', async () => {
  const [attacker, neighbour] = await Promise.all([workspace(), workspace()]);
  const { pid, url } = await startWeb();
  const api = clientOf(url);
  const letters = [
    { content: { html: '<p>Hello {{ name }}</p>' }, template: { data: { name: 'Ada' } } },
    { format: 'mjml', content: { html: mjmlText('Hello {{ name }}') }, template: { data: { name: 'Ada' } } },
  ];
  for (const letter of letters)
    for (let index = 0; index < 10; index += 1) await postEmail(api, neighbour, letter);

  let isOver = false;
  /** The CPU time of the thread that answers all requests while one of them is in hand. */
  const computedMs: number[] = [];
  const others = (async () => {
    for (let index = 0; !isOver; index += 1) {
      const before = mainThreadCpuMs(pid);
      expect((await postEmail(api, neighbour, letters[index % 2])).status).toBe(201);
      computedMs.push(mainThreadCpuMs(pid) - before);
      // They are to look on, and not to be the load.
      await sleep(25);
    }
  })();

  for (const { name, source, says } of mjmlBombs) {
    const { status, body } = await postEmail(api, attacker, { format: 'mjml', content: { html: source } });
    expect([name, status, body.errors?.['content.html']?.join('; ')]).toEqual([
      name,
      400,
      expect.stringMatching(says),
    ]);
  }
  isOver = true;
  await others;
  const most = Math.max(...computedMs) / cpuSlowdown();
  console.info(`${computedMs.length} other requests, of which one met ${most.toFixed(0)} ms of computing`);
  // Each of the bombs takes seconds where nothing ends it.
  expect(most).toBeLessThan(500);
});
