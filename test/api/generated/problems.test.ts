import { expect, test } from 'vitest';
import { problemsOf } from '../../../api/openapi.ts';
import { endpoints } from '../../../api/routes/index.ts';
import { catalogue, type ErrorCode } from '../../../shared/common/errors.ts';
import { description, operations } from '../../support/api/operations.ts';
import { startApi } from '../../support/api/start-api.ts';

const api = await startApi();

/** Codes that no operation gives, and where they come from. */
const elsewhere: Partial<Record<ErrorCode, string>> = {
  method_not_allowed: 'a path, for the methods that no operation has',
  header_fields_too_large: 'the server, before there is a request',
};

test('every code of the catalogue is documented by an operation, or comes from elsewhere', () => {
  const documented = new Set(endpoints.flatMap(problemsOf));
  const codes = Object.keys(catalogue) as ErrorCode[];
  expect(codes.filter((code) => !documented.has(code) && !elsewhere[code])).toEqual([]);
  // A code that an operation documents must not stay in this list.
  expect(codes.filter((code) => documented.has(code) && elsewhere[code])).toEqual([]);
});

const problemsIn = ({ endpoint }: (typeof operations)[number]) =>
  Object.entries<any>(description.operation(endpoint)['responses'])
    .filter(([status]) => Number(status) >= 400)
    .flatMap(([status, response]) => {
      const { examples } = description.resolve(response)['content']['application/problem+json'];
      return Object.entries<any>(examples).map(([code, { value }]) => ({
        status: Number(status),
        code,
        value,
      }));
    });

// Shows A49
test.each(operations)(
  '$name names in the description each problem that it can give, by its status',
  (operation) => {
    const named = problemsIn(operation);
    expect(named.map(({ code }) => code).toSorted()).toEqual(problemsOf(operation.endpoint).toSorted());
    for (const { status, code } of named) expect(status).toBe(catalogue[code as ErrorCode].status);
  },
);

const signs: Record<string, string> = { lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' };
const plain = (html: string) =>
  html.replaceAll(/<[^>]+>/g, '').replaceAll(/&([#\w]+);/g, (_all, name: string) => signs[name] ?? '?');

test('the type of each problem in the description leads to a page that says what it means and what to do', async () => {
  const types = new Map(
    operations.flatMap(problemsIn).map(({ code, value }) => [code as ErrorCode, value.type]),
  );
  for (const code of Object.keys(elsewhere) as ErrorCode[]) types.set(code, `/problems/${code}`);
  expect([...types.keys()].toSorted()).toEqual(Object.keys(catalogue).toSorted());
  for (const [code, type] of types) {
    const { pathname } = new URL(type, api.url);
    const { status, headers, body } = await api.request('GET', pathname);
    expect([code, status, headers['content-type']]).toEqual([code, 200, 'text/html; charset=utf-8']);
    const { title, help, status: given } = catalogue[code];
    for (const part of [title, help.replaceAll('`', ''), String(given)]) expect(plain(body)).toContain(part);
  }
});

test('an unknown code has a page that says so, with 404', async () => {
  for (const code of ['no_such_code', 'not-found', 'NOT_FOUND', 'hasOwnProperty', '%00']) {
    const { status } = await api.request('GET', `/problems/${code}`);
    expect([code, status]).toEqual([code, 404]);
  }
});
