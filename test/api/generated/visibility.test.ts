import { beforeAll, expect, test } from 'vitest';
import * as apiKeys from '../../../shared/domain/api-keys/api-keys.ts';
import { type Scope, scopes } from '../../../shared/schemas/scopes.ts';
import type { Schema } from '../../support/api/description.ts';
import { fieldsOf } from '../../support/api/fields.ts';
import {
  answerSchemaOf,
  ask,
  callOn,
  description,
  makerOf,
  operations,
  prefixOf,
  successesOf,
} from '../../support/api/operations.ts';
import { type Answer, type Client, startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { hidden, makers, type Own, settle } from '../../support/data/records.ts';
import { useDatabase } from '../../support/database/database.ts';

useDatabase();

let api: Client;
let own: Own;
const keys = new Map<string, string>();

const uncovering = ['recipients.read', 'content.read'] as const satisfies Scope[];
/** The values that each scope uncovers in the records of test/support/data/records.ts. */
const covered: Record<(typeof uncovering)[number], string[]> = {
  'recipients.read': [hidden.recipient, hidden.number],
  'content.read': [hidden.subject, hidden.text],
};

beforeAll(async () => {
  api = await startApi();
  own = await workspace();
  for (const scope of uncovering) {
    const held = scopes.filter((other) => other !== scope);
    keys.set(scope, (await apiKeys.issue(own.workspaceId, { scopes: held })).key);
  }
  // A record of every kind, so that every listing and the feed have something to hide.
  for (const prefix of Object.keys(makers) as (keyof typeof makers)[])
    await makerOf(prefix, prefix)(api, own, {});
});

/** The covered values in a record that an operation shows; the feed shows records of every kind. */
function coveredIn(path: string): string[] {
  const { recipient, number, subject, text } = hidden;
  if (/^\/v2\/(sms|simulator)/.test(path)) return [number, text];
  return path.startsWith('/v2/events') ? [recipient, number, subject, text] : [recipient, subject, text];
}

const { resolve } = description;

/** Fields that an operation may leave out or set to null for a caller who may not see them. */
const coverable = new Set(['recipient', 'subject', 'content', 'content.text']);
const covers = (schema: Schema) =>
  fieldsOf(resolve, schema).some(({ steps, schema: field, containers }) => {
    const isInPage = steps[0] === 'data' && steps[1] === 0;
    const name = (isInPage ? steps.slice(2) : steps).join('.');
    // A feed carries records of every kind.
    if (isInPage && name === 'id') return prefixOf(field) === 'event';
    const isRequired = containers.at(-1)!['required']?.includes(steps.at(-1));
    return coverable.has(name) && (!isRequired || isNullable(field));
  });
/** This operation shows only its own input, and a source that its own scope shows. */
const coversNothing = new Set(['renderEmailTemplate']);
/** The texts of a preview say who they are for, so a caller needs both scopes to see any of them. */
const coversAll = new Set(['previewSmsBatch']);
const isNullable = (schema: Schema) => JSON.stringify(resolve(schema)).includes('"null"');

async function call(endpoint: (typeof operations)[number]['endpoint'], key: string): Promise<Answer> {
  const made = await callOn(api, own, endpoint);
  await settle();
  return ask(api, endpoint, made, key);
}

// Shows A5
test.each(operations)(
  '$name shows recipients and content only to who has the scopes that uncover them',
  async ({ endpoint }) => {
    const full = await call(endpoint, own.key);
    expect(successesOf(endpoint), JSON.stringify(full.body)).toContain(full.status);
    const text = JSON.stringify(full.body);
    const schema = answerSchemaOf(endpoint);
    const isCovering = schema !== undefined && !coversNothing.has(endpoint.id) && covers(schema);
    // Otherwise there would be nothing to cover.
    if (isCovering) for (const part of coveredIn(endpoint.path)) expect(text).toContain(part);
    for (const scope of uncovering) {
      const blind = await call(endpoint, keys.get(scope)!);
      const isNeeded = endpoint.scopes.includes(scope);
      expect(isNeeded ? [403] : successesOf(endpoint), JSON.stringify(blind.body)).toContain(blind.status);
      if (isNeeded) continue;
      for (const part of covered[scope]) expect(JSON.stringify(blind.body)).not.toContain(part);
      const [visible] = uncovering.filter((other) => other !== scope);
      for (const part of covered[visible!])
        if (text.includes(part) && !coversAll.has(endpoint.id))
          expect(JSON.stringify(blind.body)).toContain(part);
    }
  },
);
