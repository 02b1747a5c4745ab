import { expect, test } from 'vitest';
import { describeApi, problemsOf } from '../../../../api/openapi.ts';
import { endpoints } from '../../../../api/routes/index.ts';

const description = describeApi(endpoints) as any;
const resolve = (part: any) =>
  part.$ref
    ? part.$ref
        .split('/')
        .slice(1)
        .reduce((at: any, name: string) => at[name], description)
    : part;
const codes = [
  'idempotency_key_invalid',
  'idempotency_key_required',
  'idempotency_in_progress',
  'idempotency_key_reused',
] as const;

test('every POST and PATCH is described with the header, what it does and how it is refused; nothing else is', () => {
  for (const endpoint of endpoints) {
    const takesKey = endpoint.method === 'post' || endpoint.method === 'patch';
    const { parameters, responses } = description.paths[endpoint.path][endpoint.method];
    const header = parameters.map(resolve).find(({ name }: { name: string }) => name === 'Idempotency-Key');
    expect(header !== undefined, endpoint.id).toBe(takesKey);
    const replayed = resolve(responses[endpoint.status]).headers['Idempotent-Replayed'];
    expect(replayed !== undefined, endpoint.id).toBe(takesKey);
    const own = problemsOf(endpoint).filter((code) => (codes as readonly string[]).includes(code));
    expect(own.toSorted()).toEqual(takesKey ? codes.toSorted() : []);
    if (!takesKey) continue;
    expect(header).toMatchObject({ in: 'header', schema: { minLength: 1, maxLength: 255 } });
    expect(header.required ?? false).toBe(false);
    const pattern = new RegExp(header.schema.pattern);
    expect(['!', '~', 'a-b'].every((key) => pattern.test(key))).toBe(true);
    expect(['', 'a b', 'é', 'a\n'].some((key) => pattern.test(key))).toBe(false);
    expect(Object.keys(resolve(responses[409]).headers)).toContain('Retry-After');
  }
});
