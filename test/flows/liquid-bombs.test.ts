// @slow: it starts processes or servers of its own.
import type { Schema } from 'messaging-service/client';
import { expect, test } from 'vitest';
import { customerOf } from '../support/api/customer.ts';
import { workspace } from '../support/data/factory.ts';
import { letter } from '../support/data/new-email.ts';
import { useDatabase } from '../support/database/database.ts';
import { mainThreadCpuMs } from '../support/processes/cpu-time.ts';
import { startWeb } from '../support/processes/processes.ts';

useDatabase();

/** Templates that each stopped a process that rendered them itself. */
const bombs: Record<string, string> = {
  'a range of 100 million': '{% for i in (1..100000000) %}{{ i }}{% endfor %}',
  'three nested loops':
    '{% for a in (1..1000) %}{% for b in (1..1000) %}{% for c in (1..1000) %}x{% endfor %}{% endfor %}{% endfor %}',
  'a string doubled 40 times': `{% assign s = "xxxxxxxx" %}${'{% assign s = s | append: s %}'.repeat(40)}{{ s }}`,
  'a capture doubled 25 times': `{% capture s %}xxxxxxxxxx{% endcapture %}${'{% capture s %}{{ s }}{{ s }}{% endcapture %}'.repeat(25)}{{ s }}`,
  'a long value printed 2,000 times': '{% for i in (1..2000) %}{{ long }}{% endfor %}',
  'an expression filter': '{% assign a = (1..30000) %}{{ a | find_exp: "i", "a contains -1" }}',
  'a wide date': '{{ "now" | date: "%999999999d" }}',
  'a join of joins':
    '{% assign a = (1..900000) | join: "-----------------------------------------" %}{{ a }}',
  'a file': "{% include '.env' %}",
};

// Shows A24, F7
test('each hostile template ends in a clear error within a second while other requests stay quick', async () => {
  const [attacker, neighbour] = await Promise.all([workspace(), workspace()]);
  const { pid, url } = await startWeb();
  const send = (by: typeof attacker, changes: Partial<Schema<'NewEmail'>>, tries = 1) =>
    customerOf(url, by, { tries }).post('/v2/email', { body: letter(by, changes) });
  const template = { content: { html: '<p>Hello {{ name }}</p>' }, template: { data: { name: 'Ada' } } };
  for (let index = 0; index < 20; index += 1) await send(neighbour, template, 10);

  let isOver = false;
  /** CPU times of the thread that answers all requests, while one small request was open. */
  const computedMs: number[] = [];
  const others = (async () => {
    while (!isOver) {
      const before = mainThreadCpuMs(pid);
      expect((await send(neighbour, template)).status).toBe('queued');
      computedMs.push(mainThreadCpuMs(pid) - before);
    }
  })();

  for (const [name, html] of Object.entries(bombs)) {
    const sent = send(attacker, { content: { html }, template: { data: { long: 'y'.repeat(100_000) } } });
    await expect(sent, name).rejects.toMatchObject({
      status: 400,
      errors: { 'content.html': [expect.any(String)] },
    });
  }
  isOver = true;
  await others;
  const most = Math.max(...computedMs);
  console.info(`${computedMs.length} other requests, of which one met ${most} ms of computing`);
  // A thread that rendered one of the bombs itself would take seconds, or never end.
  expect(most).toBeLessThan(500);
});
