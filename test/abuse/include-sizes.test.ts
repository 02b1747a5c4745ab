import { beforeAll, expect, test } from 'vitest';
import { type Client, startApi } from '../support/api/start-api.ts';
import { workspace } from '../support/data/factory.ts';
import { postEmail } from '../support/data/new-email.ts';
import { useDatabase } from '../support/database/database.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof workspace>>;
beforeAll(async () => {
  api = await startApi();
  own = await workspace();
});

const save = (name: string, content: string) =>
  api.request('PUT', `/v2/email/includes/${name}`, { key: own.key, body: { content } });
const include = (name: string) => `<mj-include path="${name}" />`;

// Shows A36
test('what includes hold is refused by its size, however little of it is left in the email', async () => {
  await save('empty', '');
  // The text within the element of an include is read, and then left out.
  const hollow = `<mj-include path="empty">${'<a/>'.repeat(24_000)}</mj-include>`;
  for (let number = 0; number < 6; number += 1)
    expect((await save(`hollow${number}`, hollow)).status).toBe(201);
  const mail = (...names: string[]) =>
    postEmail(api, own, {
      format: 'mjml',
      content: { html: `<mjml><mj-body>${names.map(include).join('')}</mj-body></mjml>` },
    });
  const all = Array.from({ length: 6 }, (_, number) => `hollow${number}`);
  for (const names of [all, Array(6).fill('hollow0')]) {
    const { status, body } = await mail(...names);
    expect([status, body.errors]).toEqual([
      400,
      { 'content.html': [expect.stringContaining('larger than 256 kB with its includes')] },
    ]);
  }
  const { status, body } = await save('several', all.map(include).join(''));
  expect([status, Object.keys(body.errors)]).toEqual([400, ['content']]);
  expect((await mail('hollow0', 'hollow0')).status).toBe(201);
});
