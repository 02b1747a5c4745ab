import { expect, test } from 'vitest';
import { z } from 'zod';
import { resource } from '../../../api/endpoint.ts';

const endpoint = resource('Parcels', { id: z.string() });
const Parcel = z.object({ id: z.string(), weightGrams: z.int32() });

test('a declaration types its handler from its schemas', () => {
  const declared = endpoint({
    route: 'POST /v2/parcels/{id}',
    id: 'weighParcel',
    summary: 'Weigh a parcel',
    description: 'Only for tests',
    scope: 'email.send',
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
  expect([declared.method, declared.path]).toEqual(['post', '/v2/parcels/{id}']);
  expect(declared.scopes).toEqual(['email.send']);
  expect(declared.bodyLimitBytes).toBe(1_048_576);
});

test('what does not fit the declaration is refused by the compiler', () => {
  const shared = {
    route: 'GET /v2/parcels',
    id: 'listParcels',
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
  // @ts-expect-error no such method
  endpoint({ ...nothing, route: 'FETCH /v2/parcels', handle: () => {} });
  // @ts-expect-error the resource has no such field
  expect(() => endpoint({ ...nothing, route: 'GET /v2/parcels/{code}', handle: () => {} })).toThrow('code');
  const places = resource('Places');
  // @ts-expect-error the resource has no fields
  expect(() => places({ ...nothing, route: 'GET /v2/places/{id}', handle: () => {} })).toThrow('id');
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
