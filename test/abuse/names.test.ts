import { beforeAll, expect, test } from 'vitest';
import { ask, callOn, operations } from '../support/api/operations.ts';
import { type Client, startApi } from '../support/api/start-api.ts';
import { newEmail } from '../support/data/new-email.ts';
import { newSms, textingWorkspace } from '../support/data/new-sms.ts';
import type { Own } from '../support/data/records.ts';
import { useDatabase } from '../support/database/database.ts';

useDatabase();

let api: Client;
let [own, other]: Own[] = [];
beforeAll(async () => {
  api = await startApi();
  [own, other] = [await textingWorkspace(), await textingWorkspace()];
});

const making = operations.filter(
  ({ endpoint }) =>
    endpoint.status === 201 &&
    // Parts of a record in the path, and messages, take no name.
    !endpoint.path.includes('{') &&
    !['sendEmail', 'sendSms', 'createSmsBatch', 'importSmsBatch'].includes(endpoint.id),
);

test('every way to make a record by itself is tried', () => {
  expect(making.length).toBeGreaterThanOrEqual(10);
});

// Shows A6
test.each(making)(
  '$name takes a name or number that another workspace has, and answers as it did there',
  async ({ endpoint }) => {
    const call = await callOn(api, other!, endpoint);
    const there = await ask(api, endpoint, call, other!.key);
    const here = await ask(api, endpoint, call, own!.key);
    expect([there.status, here.status], JSON.stringify(here.body)).toEqual([201, 201]);
    expect(Object.keys(here.body)).toEqual(Object.keys(there.body));
  },
);

/** Returns the parts in which two refusals can differ, without the name that was asked for. */
const told = ({ status, body }: { status: number; body: object }, name: string) =>
  JSON.stringify({ status, body: { ...body, requestId: '' } }).replaceAll(name, '<the name>');

// Shows A1
test('templates and includes of another workspace are as unknown by name as those that nobody has', async () => {
  const make = (path: string, body: object) => api.request('POST', path, { key: other!.key, body });
  expect((await make('/v2/templates', { name: 'theirs', content: 'Text' })).status).toBe(201);
  expect((await make('/v2/email/templates', { name: 'theirs', html: '<p>Html</p>' })).status).toBe(201);
  const include = { key: other!.key, body: { content: '<mj-text>Text</mj-text>' } };
  expect((await api.request('PUT', '/v2/email/includes/theirs', include)).status).toBe(201);

  const mjml = (name: string) => `<mjml><mj-body><mj-include path="${name}" /></mj-body></mjml>`;
  const asks: Record<string, (name: string) => Promise<{ status: number; body: object }>> = {
    'a text': (name) =>
      api.request('POST', '/v2/sms', {
        key: own!.key,
        body: newSms({ content: undefined, template: { name } }),
      }),
    'an email': (name) =>
      api.request('POST', '/v2/email', {
        key: own!.key,
        body: newEmail(own!, { content: undefined, template: { name } }),
      }),
    'an email in MJML': (name) =>
      api.request('POST', '/v2/email', {
        key: own!.key,
        body: newEmail(own!, { format: 'mjml', content: { html: mjml(name) } }),
      }),
    'a template in MJML': (name) =>
      api.request('POST', '/v2/email/templates', {
        key: own!.key,
        body: { name: 'mine', format: 'mjml', html: mjml(name) },
      }),
    'an include': (name) => api.request('GET', `/v2/email/includes/${name}`, { key: own!.key }),
    'the removal of an include': (name) =>
      api.request('DELETE', `/v2/email/includes/${name}`, { key: own!.key }),
  };
  for (const [what, ask] of Object.entries(asks)) {
    const answer = await ask('theirs');
    expect([what, answer.status >= 400 && answer.status < 500]).toEqual([what, true]);
    expect([what, told(answer, 'theirs')]).toEqual([what, told(await ask('nobodys'), 'nobodys')]);
  }
});
