import { expect, test } from 'vitest';
import { describeApi } from '../../../api/openapi.ts';
import { endpoints } from '../../../api/routes/index.ts';
import { descriptionOf } from '../../support/api/description.ts';

const { resolve } = descriptionOf(endpoints);
const whole = JSON.parse(JSON.stringify(describeApi(endpoints)));
const { schemas, parameters, headers, responses } = whole.components;

/**
 * Returns the places of a schema, at all depths, that have no description. The description of a named schema says what
 * it is, wherever it is used. A property with a `$ref` needs its own description of what it means in its place.
 */
function silentIn(schema: any, place: string): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const fields = Object.entries<any>(schema.properties ?? {});
  const inner = ['anyOf', 'oneOf', 'allOf'].flatMap((kind) => schema[kind] ?? []);
  return [
    ...fields.filter(([, field]) => !isDescribed(field)).map(([name]) => `${place}.${name}`),
    ...fields.flatMap(([name, field]) => silentIn(field, `${place}.${name}`)),
    ...inner.flatMap((one: any) => silentIn(one, place)),
    ...silentIn(schema.items, `${place}[]`),
  ];
}

const isDescribed = (part: any): boolean => /\S/.test(part.description ?? '');

test('every property is described', () => {
  const named = Object.entries<any>(schemas).flatMap(([name, schema]) => silentIn(schema, name));
  const inline = Object.values<any>(whole.paths).flatMap((methods) =>
    Object.values<any>(methods).flatMap(({ operationId, requestBody, responses: answers }) =>
      [requestBody, ...Object.values<any>(answers)]
        .flatMap((part) => Object.values<any>(part?.content ?? {}))
        .flatMap(({ schema }) => silentIn(schema, operationId)),
    ),
  );
  expect([...named, ...inline]).toEqual([]);
  // The check finds a description that is missing.
  const silent = {
    properties: {
      a: { type: 'string' },
      b: { items: { properties: { c: { $ref: '#/components/schemas/C' } } }, description: 'b' },
      d: { $ref: '#/components/schemas/D', description: 'd' },
    },
  };
  expect(silentIn(silent, 'x')).toEqual(['x.a', 'x.b[].c']);
});

test('every operation, parameter, header, answer, tag and webhook is described', () => {
  const operations = Object.values<any>(whole.paths).flatMap((methods) => Object.values<any>(methods));
  const undescribed: string[] = [];
  const look = (place: string, part: any) => {
    if (!isDescribed(part)) undescribed.push(place);
  };
  for (const { id, summary, description } of endpoints) {
    // Takes the endpoint's own text: the served description ends in the scopes of each operation, so it is never empty.
    if (!/^[A-Z].*\.$/s.test(description) || description === summary) undescribed.push(id);
    expect(summary).toMatch(/^[A-Z]/);
  }
  for (const operation of operations) {
    for (const one of operation.parameters) look(`${operation.operationId} ${one.name}`, resolve(one));
    for (const [status, answer] of Object.entries<any>(operation.responses))
      look(`${operation.operationId} ${status}`, resolve(answer));
  }
  for (const kind of [parameters, headers, responses])
    for (const [name, part] of Object.entries<any>(kind)) look(name, part);
  const deliveries = Object.values<any>(whole.webhooks).map(({ post }) => post);
  for (const one of deliveries) look(one.operationId, one);
  const used = new Set([...operations, ...deliveries].flatMap(({ tags }) => tags));
  const grouped = whole['x-tagGroups'].flatMap(({ tags }: any) => tags);
  expect(new Set(whole.tags.map(({ name }: any) => name))).toEqual(used);
  expect(grouped).toEqual(whole.tags.map(({ name }: any) => name));
  for (const one of whole.tags) look(one.name, one);
  expect(undescribed).toEqual([]);
});

test('every shape is described', () => {
  const silent = Object.entries<any>(schemas).filter(([, schema]) => !schema.description);
  expect(silent.map(([name]) => name)).toEqual([]);
});

/** Event type -> status of the record, where the status is not the last word of the type. */
const statusAfter: Record<string, string> = {
  'email.delayed': 'queued',
  'email.bounced': 'failed',
  'email.complained': 'delivered',
  'email.opened': 'delivered',
};

test('every answer has a whole example, as its schema has it', () => {
  const description = descriptionOf(endpoints);
  for (const endpoint of endpoints)
    for (const [status, answer] of Object.entries<any>(description.operation(endpoint)['responses'])) {
      const json = description.resolve(answer).content?.['application/json'];
      if (!json || !status.startsWith('2')) continue;
      const shown = [endpoint.id, Object.keys(json.example ?? {}).length > 0];
      expect(shown).toEqual([endpoint.id, true]);
      expect([endpoint.id, description.faultsOfReceived(json.schema, json.example)]).toEqual([
        endpoint.id,
        [],
      ]);
    }
});

test('every webhook has a whole example of what is posted, as its schema has it and its type says', () => {
  const description = descriptionOf(endpoints);
  for (const [type, { post }] of Object.entries<any>(description.document.webhooks)) {
    const { schema, example } = post.requestBody.content['application/json'];
    expect([type, description.faultsOfReceived(schema, example)]).toEqual([type, []]);
    expect(example.type).toBe(type);
    const { status } = example.data;
    const [, outcome] = type.split('.');
    expect([type, statusAfter[type] ?? outcome]).toEqual([type, status ?? outcome]);
    const ofTime = { sent: 'sentAt', delivered: 'deliveredAt', opened: 'openedAt', received: 'createdAt' };
    const time = ofTime[outcome as keyof typeof ofTime];
    if (time) expect([type, example.data[time]]).toEqual([type, example.occurredAt]);
  }
});

test('email comes first and texts second', () => {
  expect(whole['x-tagGroups'].slice(0, 2).map(({ name }: any) => name)).toEqual(['Email', 'SMS']);
});

test('the introduction says what each request needs to know, with nothing left to fill in', () => {
  const { description } = whole.info;
  for (const chapter of ['Authentication', 'Errors', 'Pages', 'Idempotency', 'Versions', 'Limits'])
    expect(description).toContain(`\n## ${chapter}\n`);
  expect(description).not.toMatch(/\{\{|undefined/);
});
