import { beforeAll, expect, test } from 'vitest';
import type { Endpoint } from '../../../api/endpoint.ts';
import { makeDemo } from '../../../scripts/setup/start/demo-workspace.ts';
import { importForm } from '../../support/api/form.ts';
import {
  bodySchemaOf,
  callOn,
  description,
  operations,
  type Params,
  undo,
} from '../../support/api/operations.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import type { Own } from '../../support/data/records.ts';
import { codeAwaited } from '../../support/data/sender-codes.ts';
import { useDatabase } from '../../support/database/database.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { promises } from './promises.ts';

useDatabase();

let api: Client;
let demo: Own;
beforeAll(async () => {
  api = await startApi();
  // The same as in scripts/start: test recipients get their link from this sender.
  changeSettings({ SYSTEM_SENDER: 'Messaging <alerts@demo.example>' });
  const { workspaceId, apiKey, sender } = await makeDemo();
  demo = { workspaceId, key: apiKey, keyId: '', domain: 'demo.example', sender };
});

const withBody = operations.filter(({ endpoint }) => bodySchemaOf(endpoint));

function examplesOf({ endpoint }: (typeof operations)[number]): [string, { summary: string; value: any }][] {
  const [content] = Object.values<any>(description.operation(endpoint)['requestBody'].content);
  return Object.entries(content.examples ?? {});
}

/** Bodies for examples that cannot work as they are, because the platform makes up a value (a code). */
const completed: Record<string, (own: Own) => Promise<object>> = {
  verifySender: async ({ workspaceId }) => ({ code: await codeAwaited(workspaceId) }),
};

/** Changes the record first, where the example would otherwise leave it as it is. */
const before: Record<string, (path: string) => Promise<unknown>> = {
  'updateWebhook resume': (path) => api.request('PATCH', path, { key: demo.key, body: { active: false } }),
};

test('each example beside the least that works is held to its name', () => {
  const named = withBody
    .filter(({ endpoint }) => endpoint.method !== 'patch')
    .map((operation) => [
      operation.endpoint.id,
      examplesOf(operation)
        .slice(1)
        .map(([name]) => name),
    ]);
  const held = Object.entries(promises).map(([id, examples]) => [id, Object.keys(examples)]);
  expect(Object.fromEntries(held)).toEqual(
    Object.fromEntries(named.filter(([, names]) => names!.length > 0)),
  );
});

test('each body has an example of the least that works, before any other', () => {
  for (const operation of withBody) {
    const [[first] = []] = examplesOf(operation);
    expect([operation.name, first]).toEqual([operation.name, 'minimal']);
  }
});

test('no header has an example: who tries an operation twice would send the same Idempotency-Key', () => {
  for (const { endpoint } of operations) {
    const parameters: any[] = description.operation(endpoint)['parameters'].map(description.resolve);
    for (const parameter of parameters.filter((one) => one.in === 'header'))
      expect([parameter.name, JSON.stringify(parameter)]).toEqual([
        parameter.name,
        expect.not.stringContaining('"example'),
      ]);
  }
});

/** Makes the record that the path names. */
async function pathOf(endpoint: Endpoint): Promise<string> {
  const { params }: { params: Params } = endpoint.params ? await callOn(api, demo, endpoint) : { params: {} };
  return endpoint.path.replaceAll(/\{(\w+)\}/g, (_all, parameter: string) => params[parameter]!);
}

test.each(withBody)(
  '$name is described to need a body where it is refused without one',
  async ({ endpoint }) => {
    const path = await pathOf(endpoint);
    const { required } = description.operation(endpoint)['requestBody'];
    const answer = await api.request(endpoint.method.toUpperCase(), path, { key: demo.key });
    expect([answer.status, answer.body]).toEqual([required ? 400 : endpoint.status, answer.body]);
    await undo(api, demo, answer);
  },
);

test.each(withBody)('$name does what its examples say', async (operation) => {
  const { endpoint } = operation;
  for (const [name, { value }] of examplesOf(operation)) {
    const path = await pathOf(endpoint);
    const body = await completed[endpoint.id]?.(demo);
    await before[`${endpoint.id} ${name}`]?.(path);
    const answer = await api.request(endpoint.method.toUpperCase(), path, {
      key: demo.key,
      ...(endpoint.takesFile ? importForm(value.settings, value.file) : { body: body ?? value }),
    });
    expect([name, answer.status, answer.body]).toEqual([name, endpoint.status, answer.body]);
    if (endpoint.method === 'patch') expect(answer.body).toMatchObject(value);
    await promises[endpoint.id]?.[name]?.({ api, own: demo, sent: value, answer: answer.body });
    await undo(api, demo, answer);
  }
});
