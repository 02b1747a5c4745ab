import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { describeApi, problemsOf } from '../../../api/openapi.ts';
import { endpoints } from '../../../api/routes/index.ts';
import { catalogue } from '../../../shared/common/errors.ts';
import { descriptionOf } from '../../support/api/description.ts';
import { startSmallApi } from './small-api.ts';

const api = await startSmallApi();
const whole = describeApi(endpoints) as any;
const { document: description, resolve, faultsOfReceived } = descriptionOf(api.endpoints);

test('the description of the whole API passes the recommended rules of a linter', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'openapi-'));
  try {
    const file = join(folder, 'openapi.json');
    await writeFile(file, JSON.stringify(whole));
    const redocly = join(import.meta.dirname, '../../../node_modules/.bin/redocly');
    const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
    const args = ['lint', file, '--extends', 'recommended', '--format', 'json', '--max-problems', '50'];
    const { stdout } = await promisify(execFile)(redocly, args, { env, cwd: folder });
    const problems: { ruleId: string; message: string }[] = JSON.parse(stdout).problems;
    const faults = problems.filter(
      ({ ruleId, message }) => ruleId !== 'no-ambiguous-paths' || !areToldApartByAnId(message),
    );
    expect(faults).toEqual([]);
  } finally {
    await rm(folder, { recursive: true });
  }
});

/**
 * Returns whether the pattern of an id tells two paths apart; the linter does not look at patterns. Without the pattern
 * `/v2/email/domains/{id}` and `/v2/email/{id}/events` could both match `/v2/email/domains/events`.
 */
function areToldApartByAnId(message: string): boolean {
  const [one, other] = [...message.matchAll(/`([^`]+)`/g)].map(([, path]) => path!);
  const refuses = (path: string, name: string, literal: string) =>
    Object.values<any>(whole.paths[path]).every(({ parameters }) => {
      const { pattern } = parameters.find((one: any) => one.in === 'path' && one.name === name).schema;
      return pattern !== undefined && !new RegExp(pattern).test(literal);
    });
  const isApart = (path: string, from: string) =>
    path.split('/').some((part, index) => {
      const [, name] = /^\{(.+)\}$/.exec(part) ?? [];
      const literal = from.split('/')[index]!;
      return name !== undefined && !literal.startsWith('{') && refuses(path, name, literal);
    });
  return isApart(one!, other!) || isApart(other!, one!);
}

test('the description is served as it is made, with the address that clients call', async () => {
  const { status, body, headers } = await api.call('GET', '/openapi.json', { key: null });
  expect(status).toBe(200);
  expect(headers['content-type']).toMatch(/^application\/json/);
  expect(body).toEqual(JSON.parse(JSON.stringify(describeApi(api.endpoints))));
  expect(body.servers).toEqual([{ url: api.url }]);
});

test('every operation is described once, under its own id, with its scope', () => {
  const operations = Object.entries<any>(whole.paths).flatMap(([path, methods]) =>
    Object.entries<any>(methods).map(([method, operation]) => ({ path, method, ...operation })),
  );
  expect(operations.map(({ path, method }) => `${method} ${path}`)).toEqual(
    [...Map.groupBy(endpoints, ({ path }) => path)].flatMap(([path, some]) =>
      some.map(({ method }) => `${method} ${path}`),
    ),
  );
  expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(endpoints.length);
  for (const endpoint of endpoints) {
    const { description: text, security } = whole.paths[endpoint.path][endpoint.method];
    for (const scope of endpoint.scopes) expect(text).toContain(`\`${scope}\``);
    expect(security ?? whole.security).toEqual([{ bearer: [] }]);
  }
});

test('every refusal of an operation is described, with an example that fits', () => {
  const post = api.endpoints.find(({ id }) => id === 'createParcel')!;
  expect(problemsOf(post)).toContain('validation_failed');
  for (const endpoint of api.endpoints) {
    const { responses } = description.paths[endpoint.path][endpoint.method];
    for (const code of problemsOf(endpoint)) {
      const response = resolve(responses[catalogue[code].status]);
      const { schema, examples } = response['content']['application/problem+json'];
      expect(faultsOfReceived(schema, examples[code].value)).toEqual([]);
    }
  }
});

/** Returns the values under `schema` at any depth, which are not among the named schemas. */
function inlineSchemas(part: unknown): object[] {
  if (typeof part !== 'object' || part === null) return [];
  return Object.entries(part).flatMap(([name, value]) => [
    ...(name === 'schema' ? [value] : []),
    ...inlineSchemas(value),
  ]);
}

test('every schema of the description is a JSON Schema', () => {
  const ajv = new Ajv2020();
  const named = Object.values<object>(whole.components.schemas);
  const all = [...named, ...inlineSchemas(whole)];
  expect(named.length).toBeGreaterThan(20);
  expect(all.length).toBeGreaterThan(named.length + 100);
  for (const schema of all)
    expect([schema, ajv.validateSchema(schema), ajv.errorsText()]).toEqual([schema, true, 'No errors']);
  expect(ajv.validateSchema({ type: 'text' })).toBe(false);
});

test('what a body can be refused for is described for every operation, since every request may carry one', () => {
  const codes = ['malformed_json', 'unsupported_media_type', 'payload_too_large', 'request_timeout'];
  for (const endpoint of endpoints) expect(problemsOf(endpoint)).toEqual(expect.arrayContaining(codes));
});

test('headers are described where they occur', () => {
  const { post, get } = description.paths['/v2/parcels'];
  const names = (operation: any) => operation.parameters.map((parameter: any) => resolve(parameter).name);
  for (const operation of [post, get])
    expect(names(operation)).toEqual(expect.arrayContaining(['Service-Version', 'Request-Id']));
  expect(Object.keys(post.responses[201].headers)).toEqual(
    expect.arrayContaining(['Location', 'Request-Id', 'Service-Version', 'RateLimit', 'RateLimit-Policy']),
  );
  expect(Object.keys(resolve(post.responses[429]).headers)).toContain('Retry-After');
});

test('query parameters are described as what they stand for', () => {
  const schemas = Object.fromEntries(
    description.paths['/v2/parcels'].get.parameters
      .map(resolve)
      .map(({ name, schema }: any) => [name, schema]),
  );
  expect(schemas.limit).toMatchObject({
    type: 'integer',
    format: 'int32',
    minimum: 1,
    maximum: 200,
    default: 50,
  });
  for (const name of ['limit', 'since']) expect(schemas[name]).not.toHaveProperty('pattern');
  expect(schemas.types).toMatchObject({ type: 'array', maxItems: 5 });
  expect(schemas.since).toMatchObject({ type: 'string', format: 'date-time' });
});
