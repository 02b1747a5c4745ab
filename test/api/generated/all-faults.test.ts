import { beforeAll, expect, test } from 'vitest';
import type { Endpoint } from '../../../api/endpoint.ts';
import { type Field, fieldsOf, typesOf } from '../../support/api/fields.ts';
import {
  ask,
  bodySchemaOf,
  callOn,
  description,
  operations,
  type Params,
} from '../../support/api/operations.ts';
import { type RuleFault, ruleFaults, withoutRules } from '../../support/api/rule-faults.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import type { Own } from '../../support/data/records.ts';
import { useDatabase } from '../../support/database/database.ts';

useDatabase();

let api: Client;
let own: Own;
beforeAll(async () => {
  api = await startApi();
  own = await workspace();
});

const { resolve } = description;
const ruled = operations.filter(({ endpoint }) => ruleFaults[endpoint.id]);

async function errorsOf(
  endpoint: Endpoint,
  params: Params,
  changes: object,
): Promise<Record<string, unknown>> {
  const { body } = await callOn(api, own, endpoint, params);
  const answer = await ask(api, endpoint, { params, body: { ...body, ...changes } }, own.key);
  return { status: answer.status, ...answer.body.errors };
}

/** Returns the top-level fields of the body, each with a value that the field does not take. */
function misshapen(endpoint: Endpoint): { name: string; value: unknown }[] {
  const fields = fieldsOf(resolve, bodySchemaOf(endpoint)!).filter(({ steps }) => steps.length === 1);
  return fields.map(({ name, schema }: Field) => ({
    name,
    value: typesOf(resolve, schema).has('integer') ? 'seven' : 7,
  }));
}

test.each(ruled)('$name tells all that its rules refuse at once', async ({ endpoint }) => {
  const { params } = await callOn(api, own, endpoint);
  const faults = ruleFaults[endpoint.id]!;
  const errors = await errorsOf(endpoint, params, Object.assign({}, ...faults.map(({ change }) => change)));
  expect(Object.keys(errors)).toEqual(expect.arrayContaining(faults.map(({ field }) => field)));
});

test.each(ruled)(
  '$name tells what its rules refuse beside each field of the wrong shape',
  async ({ endpoint }) => {
    const { params } = await callOn(api, own, endpoint);
    const untold: unknown[] = [];
    const tryFault = async ({ field, change }: RuleFault) => {
      const others = misshapen(endpoint).filter(({ name }) => !(name in change));
      for (const { name, value } of others) {
        const errors = await errorsOf(endpoint, params, { ...change, [name]: value });
        if (!(name in errors) || !(field in errors)) untold.push([field, name, errors]);
      }
      return others.length;
    };
    const tried = await Promise.all(ruleFaults[endpoint.id]!.map(tryFault));
    expect(untold).toEqual([]);
    expect(Math.max(...tried)).toBeGreaterThan(0);
  },
);

test.each(ruled)(
  '$name finds nothing else wrong with a body of which one field has the wrong shape',
  async ({ endpoint }) => {
    const { params } = await callOn(api, own, endpoint);
    const wrong: unknown[] = [];
    for (const { name, value } of misshapen(endpoint)) {
      const { status, ...errors } = await errorsOf(endpoint, params, { [name]: value });
      if (status !== 400 || Object.keys(errors).join() !== name) wrong.push([name, status, errors]);
    }
    expect(wrong).toEqual([]);
  },
);

test('every operation whose body has several fields is tried', () => {
  const several = operations.filter(
    ({ endpoint }) => bodySchemaOf(endpoint) && !endpoint.takesFile && misshapen(endpoint).length > 1,
  );
  expect(
    several.map(({ endpoint }) => endpoint.id).filter((id) => !ruleFaults[id] && !withoutRules.has(id)),
  ).toEqual([]);
  const withRules = operations.filter(
    ({ endpoint }) => endpoint.faults && endpoint.body && misshapen(endpoint).length > 1,
  );
  expect(withRules.map(({ endpoint }) => endpoint.id)).toEqual(ruled.map(({ endpoint }) => endpoint.id));
});

test('seven faults of one webhook, of shape and of rules, are told at once', async () => {
  const body = {
    url: 'http://user@10.0.0.1/',
    description: 'x'.repeat(501),
    events: ['email.sent', 'email.snet'],
    apiVersion: '1999-01-01',
    inboundNumber: '+447700900123',
    autoDisableAfterMinutes: 4,
    atRiskAlertPercent: 100,
    autoDisableExemt: true,
  };
  const { status, body: answer } = await api.request('POST', '/v2/webhooks', { key: own.key, body });
  expect([status, answer.detail]).toEqual([400, 'description must be at most 500 characters.']);
  expect(Object.keys(answer.errors).toSorted()).toEqual(
    [...Object.keys(body).filter((name) => name !== 'events'), 'events[1]'].toSorted(),
  );
  expect(answer.errors['events[1]'][0]).toMatch(/^must be one of email\.sent, /);
  expect(answer.errors.autoDisableExemt).toEqual(['is not a field; did you mean autoDisableExempt?']);
});

test.each([
  ['/v2/events?since=2999-01-01T00:00:00Z&limit=0&kind=x', ['since', 'limit', 'kind']],
  ['/v2/suppressions?number=0123&email=nobody&limit=0&sorce=x', ['number', 'email', 'limit', 'sorce']],
  ['/v2/reports/sends?from=1969-01-01&channel=post', ['from', 'channel']],
  ['/v2/reports/sends?from=2026-01-01&to=2026-06-01&interval=hour&channel=post', ['interval', 'channel']],
  ['/v2/reports/latency?from=2026-02-01&to=2026-01-01&channel=post', ['from', 'channel']],
  ['/v2/workspace/spend?from=2026-07-02&to=2026-07-01&colour=red', ['from', 'colour']],
  ['/v2/workspace/spend?month=2026-07&from=2026-07-02&to=2026-07-01&colour=red', ['month', 'from', 'colour']],
  ['/v2/workspace/spend?month=2026-07&from=2026-02-30&colour=red', ['month', 'from', 'colour']],
])('GET %s tells faults of shape and of rules at once', async (path, fields) => {
  const { status, body } = await api.request('GET', path, { key: own.key });
  expect([status, Object.keys(body.errors).toSorted()]).toEqual([400, fields.toSorted()]);
});

test('a name that no include may have is told with what is wrong with its content', async () => {
  const { status, body } = await api.request('PUT', '/v2/email/includes/a.b', {
    key: own.key,
    body: { content: 7 },
  });
  expect([status, body.errors]).toEqual([
    400,
    {
      content: ['must be a string'],
      name: ['must be 1 to 64 letters, digits, hyphens or underscores'],
    },
  ]);
});
