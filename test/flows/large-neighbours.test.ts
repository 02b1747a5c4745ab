// @slow: large emails go through processes of the platform.
import { randomBytes } from 'node:crypto';
import { Refusal, type Schema } from 'messaging-service/client';
import { expect, test } from 'vitest';
import { fileBudget } from '../../api/middleware/large-body.ts';
import { mjmlBombs } from '../sandbox/mjml-bombs.ts';
import { customerOf } from '../support/api/customer.ts';
import { startApi } from '../support/api/start-api.ts';
import { workspace } from '../support/data/factory.ts';
import { mjmlText } from '../support/data/mjml.ts';
import { letter } from '../support/data/new-email.ts';
import { useDatabase } from '../support/database/database.ts';
import { waitFor } from '../support/time/wait-for.ts';

useDatabase();

type Changes = Partial<Schema<'NewEmail'>>;

/** Far more than may overtake. */
const bodies = 20;
const largeBytes = 1_200_000;
const slow = mjmlBombs.find(({ name }) => name === 'siblings of siblings')!.source;
const attached = (bytes: number) => [
  { filename: 'a.bin', contentType: 'a/b', content: randomBytes(bytes).toString('base64') },
];

// Shows A26
test('a large email is accepted while another workspace has twenty large ones with slow MJML in progress', async () => {
  const [greedy, own] = [await workspace(), await workspace()];
  const api = await startApi();
  const post = (by: typeof own, changes: Changes) =>
    customerOf(api.url, by).post('/v2/email', { body: letter(by, changes) });
  const plain = { attachments: attached(1_500_000) };
  const mjml = (text: string): Changes => ({
    ...plain,
    format: 'mjml',
    content: { html: mjmlText(text) },
  });
  const timed = async (changes: Changes): Promise<number> => {
    const from = performance.now();
    expect((await post(own, changes)).status).toBe('queued');
    return performance.now() - from;
  };
  for (const text of ['a', 'b', 'c']) await timed(mjml(text));
  const alone = { plain: await timed(plain), mjml: await timed(mjml('alone')) };

  let answered = 0;
  const attachments = attached(largeBytes);
  const flood: Promise<unknown>[] = [];
  for (let count = 0; count < bodies; count += 1) {
    // Each email has a source of its own, so that every source has to be compiled.
    const html = `${slow}<!-- ${count} -->`;
    flood.push(
      post(greedy, { attachments, format: 'mjml', content: { html } })
        .catch((error: unknown) => {
          // A slow template may be refused, which counts as an answer too.
          if (!(error instanceof Refusal)) throw error;
        })
        .then(() => (answered += 1)),
    );
    const length = Math.ceil(largeBytes / 3) * 4;
    await waitFor('it is in progress', () => fileBudget.takenBytes() >= (flood.length - answered) * length);
  }

  const before = answered;
  const beside = { plain: await timed(plain), mjml: await timed(mjml('beside')) };
  const overtaken = answered - before;
  console.log(
    `alone ${alone.plain.toFixed(0)} ms, with MJML ${alone.mjml.toFixed(0)} ms; ` +
      `beside ${bodies - before} others ${beside.plain.toFixed(0)} ms and ${beside.mjml.toFixed(0)} ms, of which ${overtaken} were answered meanwhile`,
  );
  // One large email may be in rendering when the other's turn comes, and a few end by themselves on a busy machine.
  expect(overtaken).toBeLessThan(8);
  expect(before + overtaken).toBeLessThan(bodies);
  await api.close();
  await Promise.allSettled(flood);
});
