import { expect, test } from 'vitest';
import { z } from 'zod';
import { endpoint } from '../../../api/endpoint.ts';

const Parcel = z.object({ id: z.string(), weightGrams: z.int32() });

test('a declaration types its handler from its schemas', () => {
  const declared = endpoint({
    method: 'post',
    path: '/v2/parcels/{id}',
    id: 'weighParcel',
    tag: 'Parcels',
    summary: 'Weigh a parcel',
    description: 'Only for tests',
    scope: 'email.send',
    params: z.object({ id: z.string() }),
    query: z.object({ unit: z.string().optional() }),
    body: z.object({ grams: z.int32() }),
    status: 201,
    response: Parcel,
    location: (parcel) => `/v2/parcels/${parcel.id}`,
    problems: ['sending_blocked'],
    prepare: async ({ body }) => body.grams * 2,
    handle: ({ params, body, query, prepared }) => {
      const grams: number = body.grams;
      const unit: string | undefined = query.unit;
      return { id: params.id + (unit ?? ''), weightGrams: grams + prepared };
    },
  });
  expect(declared.scopes).toEqual(['email.send']);
  expect(declared.bodyLimitBytes).toBe(1_048_576);
});

test('what does not fit the declaration is refused by the compiler', () => {
  const shared = {
    method: 'get',
    path: '/v2/parcels',
    id: 'listParcels',
    tag: 'Parcels',
    summary: 'List parcels',
    description: 'Only for tests',
    scope: 'email.read',
    problems: [],
  } as const;
  const parcels = { ...shared, status: 200, response: Parcel } as const;
  const nothing = { ...shared, status: 204 } as const;

  // @ts-expect-error weightGrams must be a number
  endpoint({ ...parcels, handle: () => ({ id: 'a', weightGrams: '1' }) });
  // @ts-expect-error weightGrams is missing
  endpoint({ ...parcels, handle: async () => ({ id: 'a' }) });
  // @ts-expect-error its users are told nothing
  endpoint({ ...nothing, description: undefined, handle: () => {} });
  // @ts-expect-error no such problem code
  endpoint({ ...nothing, problems: ['not_a_code'], handle: () => {} });
  // @ts-expect-error no such scope
  endpoint({ ...nothing, scope: 'parcels.read', handle: () => {} });
  // @ts-expect-error a 204 has no body
  endpoint({ ...parcels, status: 204, handle: () => ({ id: 'a', weightGrams: 1 }) });
  // @ts-expect-error without a body schema there is no body to read
  endpoint({ ...nothing, handle: ({ body }) => void body.anything });
  // @ts-expect-error without prepare nothing is prepared
  endpoint({ ...nothing, handle: ({ prepared }) => void prepared.anything });

  expect(endpoint({ ...nothing, handle: async () => {} }).status).toBe(204);
});
