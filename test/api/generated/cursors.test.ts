import { beforeAll, expect, test } from 'vitest';
import { codeOf } from '../../support/api/contract.ts';
import { exampleOf, variantsOf } from '../../support/api/fields.ts';
import {
  answerSchemaOf,
  ask,
  type Call,
  callOn,
  description,
  makerOf,
  operations,
  parametersOf,
  prefixOf,
} from '../../support/api/operations.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { listed, type Own, settle, type Within } from '../../support/data/records.ts';
import { useDatabase } from '../../support/database/database.ts';

useDatabase();

let api: Client;
let own: Own;
let other: Own;
beforeAll(async () => {
  api = await startApi();
  [own, other] = [await workspace(), await workspace()];
});

const { resolve } = description;
const listings = operations
  .filter(({ endpoint }) => parametersOf(endpoint, 'query').some(({ name }) => name === 'cursor'))
  .map(({ name, endpoint }) => {
    const { data, nextCursor } = resolve(answerSchemaOf(endpoint)!)['properties'];
    const { id } = variantsOf(resolve, data.items)[0]!['properties'];
    const prefix = id ? prefixOf(id) : null;
    // A feed has no end, so it always has a cursor. A client may continue with the cursor and other types.
    return { name, endpoint, prefix, isFeed: nextCursor.type === 'string' };
  });
type Listing = (typeof listings)[number];

type Page = { call: Call; cursor: string };

const pages = new Map<string, Promise<Page>>();

/** Returns a call of the listing that has a second page, and the cursor of that page. */
function pageOf(listing: Listing, from: Own): Promise<Page> {
  const name = `${listing.name} of ${from.workspaceId}`;
  const page = pages.get(name) ?? makePage(listing, from);
  pages.set(name, page);
  return page;
}

async function makePage({ name, endpoint, prefix }: Listing, from: Own): Promise<Page> {
  const call = await callOn(api, from, endpoint);
  const within: Within = {};
  for (const parameter of parametersOf(endpoint, 'path'))
    if (parameter.prefix) within[parameter.prefix] = call.params[parameter.name]!;
  const maker = listed[endpoint.id] ?? makerOf(prefix, `what ${name} lists`);
  for (let count = 0; count < 2; count += 1) await maker(api, from, within);
  await settle();
  const { body } = await ask(api, endpoint, { ...call, query: 'limit=1' }, from.key);
  expect(body).toMatchObject({ data: [{}], nextCursor: expect.any(String) });
  return { call, cursor: body.nextCursor };
}

const tampered = (cursor: string) => [
  'x',
  '0',
  '-1',
  'null',
  'MQ',
  btoa('{"id":"x"}'),
  btoa(JSON.stringify({ after: 0, since: null, at: new Date().toISOString() })),
  cursor.slice(0, -1),
  cursor.slice(1),
  `${cursor}A`,
  `${cursor}=`,
  `${cursor} `,
  cursor.replace(/./, (first) => (first === 'A' ? 'B' : 'A')),
  cursor.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')),
  cursor.toUpperCase(),
  cursor.repeat(20),
];

test('there are listings with a cursor', () => expect(listings.length).toBeGreaterThan(1));

// Shows A3
test.each(listings)(
  '$name takes its own cursors only: none of another workspace, listing or filter, and none that was changed',
  async (listing) => {
    const { endpoint, isFeed } = listing;
    const { call, cursor } = await pageOf(listing, own);
    const turn = (given: string, more = '') => {
      const query = `limit=1&cursor=${encodeURIComponent(given)}${more}`;
      return ask(api, endpoint, { ...call, query }, own.key);
    };
    expect((await turn(cursor)).status).toBe(200);
    const unfit = [(await pageOf(listing, other)).cursor, ...tampered(cursor)];
    for (const another of listings.filter(({ name }) => name !== listing.name))
      unfit.push((await pageOf(another, own)).cursor);
    // The same listing, of another record of the same workspace.
    if (endpoint.params) unfit.push((await makePage(listing, own)).cursor);
    const refusals = new Map<string, string>();
    for (const given of unfit) {
      const { status, body } = await turn(given);
      expect([given, status, codeOf(body), Object.keys(body.errors ?? {})]).toEqual([
        given,
        400,
        'validation_failed',
        ['cursor'],
      ]);
      if (given.length <= 2_000) refusals.set(JSON.stringify({ ...body, requestId: '' }), given);
    }
    expect([...refusals]).toHaveLength(1);
    for (const { name, schema } of parametersOf(endpoint, 'query')) {
      if (name === 'cursor' || name === 'limit') continue;
      const { status } = await turn(
        cursor,
        `&${name}=${encodeURIComponent([exampleOf(resolve, schema)].flat().join())}`,
      );
      if (!isFeed) expect([name, status]).toEqual([name, 400]);
    }
  },
);
