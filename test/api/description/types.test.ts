import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { describeApi } from '../../../api/openapi.ts';
import { endpoints } from '../../../api/routes/index.ts';
import { catalogue } from '../../../shared/errors.ts';
import { eventTypes } from '../../../shared/schemas/events.ts';
import { typesOf } from '../../support/api-types.ts';

const root = join(import.meta.dirname, '../../..');
const whole = JSON.parse(JSON.stringify(describeApi(endpoints)));

/** What a customer writes with the types that a generator makes of the description. */
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

test('types generated from the description compile under strict, and an event is narrowed by its type', async () => {
  const types = await typesOf(whole);
  const folder = await mkdtemp(join(root, '.local/types-'));
  try {
    await writeFile(join(folder, 'api.ts'), types);
    await writeFile(join(folder, 'customer.ts'), customer);
    const settings = {
      compilerOptions: {
        strict: true,
        noEmit: true,
        allowImportingTsExtensions: true,
        module: 'nodenext',
        types: [],
      },
      files: ['api.ts', 'customer.ts'],
    };
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(settings));
    const compile = promisify(execFile)(join(root, 'node_modules/.bin/tsc'), ['-p', folder]);
    await expect(compile.catch(({ stdout }) => Promise.reject(new Error(stdout)))).resolves.toBeDefined();
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
