import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { describeApi } from '../../../api/openapi.ts';
import { endpoints } from '../../../api/routes/index.ts';
import { typesOf } from '../../../scripts/setup/client/openapi-types.ts';
import { packClient } from '../../../scripts/setup/client/pack.ts';
import { clientTypes, clientTypesFile } from '../../../scripts/setup/client/types.ts';
import { catalogue } from '../../../shared/common/errors.ts';
import { eventTypes } from '../../../shared/schemas/events.ts';

const root = join(import.meta.dirname, '../../..');
const whole = JSON.parse(JSON.stringify(describeApi(endpoints)));

/** Code of a customer that uses types generated from the description. */
const customer = `
import type { components, webhooks } from './api.ts';

type Event = components['schemas']['Event'];
type Code = components['schemas']['ProblemCode'];

export function told(event: Event): string {
  switch (event.type) {
    case 'email.bounced':
      return event.data.reason?.category ?? event.data.subject ?? 'covered';
    case 'sms.received':
      return event.data.content ?? 'covered';
    case 'batch.paused':
      return event.data.pausedReason ?? 'not paused any more';
    case 'suppression.created':
      return event.data.source;
    case 'webhook.test':
      return event.data.message;
    default:
      return event.type;
  }
}

export const delivered = (event: webhooks['sms.delivered']['post']['requestBody']['content']['application/json']) =>
  event.data.parts;
export const isLate = (code: Code) => code === 'rate_limited';

// @ts-expect-error -- an email has no parts
export const wrongField = (event: Extract<Event, { type: 'email.sent' }>) => event.data.parts;
// @ts-expect-error -- there is no such type of event
export const wrongType = (event: Event) => event.type === 'email.sending';
// @ts-expect-error -- there is no such code
export const wrongCode = (code: Code) => code === 'rate_limit';
`;

/** A program that uses the client from its installed package. */
const program = `
import { createClient, Refusal, verifyWebhook, type Event, type Input, type Schema } from 'messaging-service/client';

const api = createClient({ baseUrl: 'http://127.0.0.1:1', apiKey: 'msg_1', tries: 1 });

export async function send(body: Schema<'NewEmail'>): Promise<string> {
  const email = await api.post('/v2/email', { body, idempotencyKey: 'order-1' });
  const same: Schema<'Email'> = await api.get('/v2/email/{id}', { path: { id: email.id } });
  const gone: undefined = await api.delete('/v2/contacts/{id}', { path: { id: 'contact_1' } });
  for await (const contact of api.list('/v2/contacts', { query: { tag: 'vip' } })) contact.firstName?.trim();
  for await (const sender of api.list('/v2/senders')) sender.name.trim();
  for await (const { data, nextCursor } of api.follow({ types: ['email.*'] })) data[0]?.type === nextCursor;
  return same.status + String(gone);
}

export function hear(url: string, headers: Headers, body: string): number | null {
  const { event } = verifyWebhook({ url, headers, body, secrets: 'whsec_1' });
  return event.type === 'sms.delivered' ? event.data.parts : null;
}

export const isLimited = (error: unknown) => error instanceof Refusal && error.code === 'rate_limited';
export const least: Input<'/v2/email', 'post'>['body'] = { sender: 'a@b.example', recipient: 'c@d.example', subject: 'Hi' };

// @ts-expect-error -- an email has no parts
export const wrongField = (event: Extract<Event, { type: 'email.sent' }>) => event.data.parts;
// @ts-expect-error -- there is no such path
export const wrongPath = () => api.get('/v2/emails');
// @ts-expect-error -- it cannot be deleted
export const wrongMethod = () => api.delete('/v2/workspace');
// @ts-expect-error -- the id is missing
export const noId = () => api.get('/v2/email/{id}');
// @ts-expect-error -- the body is missing
export const noBody = () => api.post('/v2/email', {});
// @ts-expect-error -- there is no such kind
export const wrongBody = () => api.post('/v2/email', { body: { ...least, kind: 'spam' } });
// @ts-expect-error -- the feed has no end
export const endless = () => api.list('/v2/events');
// @ts-expect-error -- one record is no listing
export const noListing = () => api.list('/v2/workspace');
`;

test('the types of the client are those of the description; if not, `npm run client` makes them anew', async () => {
  expect((await readFile(clientTypesFile, 'utf8')) === (await clientTypes())).toBe(true);
});

test('types generated from the description compile under strict, and an event is narrowed by its type', async () => {
  const types = await typesOf(whole);
  const folder = await mkdtemp(join(root, '.local/types-'));
  try {
    await writeFile(join(folder, 'api.ts'), types);
    await writeFile(join(folder, 'customer.ts'), customer);
    const installed = join(folder, 'node_modules/messaging-service');
    packClient(installed);
    await writeFile(join(folder, 'program.ts'), program);
    const settings = {
      compilerOptions: {
        strict: true,
        noEmit: true,
        allowImportingTsExtensions: true,
        module: 'nodenext',
        exactOptionalPropertyTypes: true,
        noUncheckedIndexedAccess: true,
        types: ['node'],
      },
      files: ['api.ts', 'customer.ts', 'program.ts'],
    };
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(settings));
    const compile = promisify(execFile)(join(root, 'node_modules/.bin/tsc'), ['-p', folder]);
    await expect(compile.catch(({ stdout }) => Promise.reject(new Error(stdout)))).resolves.toBeDefined();
    // Node does not strip types from installed packages, so the package must not contain any.
    const script =
      "import { createClient, verifyWebhook } from 'messaging-service/client'; console.log(typeof createClient, typeof verifyWebhook)";
    await writeFile(join(folder, 'run.mjs'), script);
    const { stdout } = await promisify(execFile)(process.execPath, [join(folder, 'run.mjs')]);
    expect(stdout).toBe('function function\n');
    expect(JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'))).not.toHaveProperty(
      'dependencies',
    );
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('every type of event is in the union, and delivered under its name', () => {
  const types = [...eventTypes, 'webhook.test'].toSorted();
  const { oneOf, discriminator } = whole.components.schemas.Event;
  expect(Object.keys(discriminator.mapping).toSorted()).toEqual(types);
  expect(oneOf).toHaveLength(new Set(Object.values(discriminator.mapping)).size);
  expect(Object.keys(whole.webhooks).toSorted()).toEqual(types);
  for (const [type, { post }] of Object.entries<any>(whole.webhooks))
    expect(post.requestBody.content['application/json'].schema.$ref).toBe(discriminator.mapping[type]);
});

test('every problem code is in an enum', () => {
  expect(whole.components.schemas.ProblemCode.enum).toEqual(Object.keys(catalogue));
});

test('components have names that can be read: no two shapes of one thing, no list of codes', () => {
  const { schemas, responses } = whole.components;
  for (const name of Object.keys({ ...schemas, ...responses }))
    expect(name).toMatch(/^[A-Z][A-Za-z0-9]*(?<!Output|Input)$/);
});
