import { beforeAll, describe, expect, test } from 'vitest';
import * as businessProfiles from '../../../shared/domain/senders/business-profiles.ts';
import * as senders from '../../../shared/domain/senders/senders.ts';
import { codeOf } from '../../support/api/contract.ts';
import { type Answer, type Client, startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { codeSentTo, sampleContent, textsTo } from '../../support/data/sender-codes.ts';
import { useDatabase } from '../../support/database/database.ts';

useDatabase();

let api: Client;
beforeAll(async () => {
  api = await startApi();
});

type Own = Awaited<ReturnType<typeof workspace>>;
let made = 0;
const newMobile = () => `07401${(made += 1).toString().padStart(6, '0')}`;
const newName = () => `Acme ${(made += 1)}`;

const request = ({ key }: Own, name: string, more: object = {}): Promise<Answer> =>
  api.request('POST', '/v2/senders', { key, body: { name, sampleContent, ...more } });
const verify = ({ key }: Own, id: string, code: string) =>
  api.request('POST', `/v2/senders/${id}/verify`, { key, body: { code } });
const read = async ({ key }: Own, id: string) =>
  (await api.request('GET', `/v2/senders/${id}`, { key })).body;
const cancel = ({ key }: Own, id: string) => api.request('DELETE', `/v2/senders/${id}`, { key });
const unverifiedProfile = async ({ workspaceId }: Own) =>
  (await businessProfiles.create(workspaceId, 'Business')).id;
const statusesOf = (answers: Answer[]) =>
  answers.map(({ status }) => status).toSorted((one, other) => one - other);

describe('a first request', () => {
  test('for a name: 201, pending, for the country of the workspace', async () => {
    const own = await workspace();
    const { status, headers, body } = await request(own, '  Acme_1 Ltd ');
    expect(status).toBe(201);
    expect(headers['location']).toBe(`${api.url}/v2/senders/${body.id}`);
    expect(body).toEqual({
      id: expect.stringMatching(/^sender_/),
      kind: 'sender_name',
      name: 'Acme_1 Ltd',
      status: 'pending',
      countries: [{ country: 'GB', status: 'pending' }],
      default: false,
      sampleContent,
      businessProfileId: null,
      createdAt: expect.any(String),
    });
    expect(await read(own, body.id)).toEqual(body);
  });

  test('for a UK mobile number: 201, awaiting_verification, and six digits are texted to it', async () => {
    const own = await workspace();
    const businessProfileId = await unverifiedProfile(own);
    const { status, body } = await request(own, ' 07402 000 001 ', {
      businessProfileId,
      countries: ['IE', 'GB'],
    });
    expect(status).toBe(201);
    // The profile is not used for a mobile number.
    expect(body).toMatchObject({
      name: '07402000001',
      kind: 'sender_name',
      status: 'awaiting_verification',
      businessProfileId: null,
      countries: [
        { country: 'GB', status: 'pending' },
        { country: 'IE', status: 'pending' },
      ],
    });
    const texts = await textsTo(own.workspaceId, '07402000001');
    expect(texts).toEqual([
      { sender: 'Messaging', content: expect.stringMatching(/^\d{6} is the code that .* 10 minutes\./) },
    ]);
    // The text fits into one part.
    expect(texts[0]!.content).toMatch(/^[\w .,]{1,160}$/);
  });

  test('of a business that is not verified: awaiting_business_verification', async () => {
    const own = await workspace();
    const businessProfileId = await unverifiedProfile(own);
    const { status, body } = await request(own, newName(), { businessProfileId });
    expect([status, body.status, body.businessProfileId]).toEqual([
      201,
      'awaiting_business_verification',
      businessProfileId,
    ]);
  });

  test('of a business that is verified: pending', async () => {
    const own = await workspace();
    const businessProfileId = await unverifiedProfile(own);
    await businessProfiles.verify(businessProfileId);
    const { body } = await request(own, newName(), { businessProfileId });
    expect([body.status, body.businessProfileId]).toEqual(['pending', businessProfileId]);
  });

  test('of a business of another workspace, or of none: 400 on businessProfileId', async () => {
    const own = await workspace();
    const foreign = await unverifiedProfile(await workspace());
    for (const businessProfileId of [foreign, 'profile_01h455vb4pex5vsknk084sn02q', 'Acme', '']) {
      const { status, body } = await request(own, newName(), { businessProfileId });
      expect([status, Object.keys(body.errors)]).toEqual([400, ['businessProfileId']]);
    }
  });

  test.each(['profile_01h455vb4pex5vsknk084sn02q', 'Acme', ''])(
    'for a mobile number of the business %j, which is none: it is not used',
    async (businessProfileId) => {
      const { status, body } = await request(await workspace(), '07402000009', { businessProfileId });
      expect([status, body.status, body.businessProfileId]).toEqual([201, 'awaiting_verification', null]);
    },
  );

  test('while another mobile number awaits verification: 409, until that one is verified or cancelled', async () => {
    const own = await workspace();
    const [one, two, three] = [newMobile(), newMobile(), newMobile()];
    const first = (await request(own, one)).body;
    const refused = await request(own, two);
    expect([refused.status, codeOf(refused.body)]).toEqual([409, 'sender_awaiting_verification']);
    expect(refused.body.detail).toContain(one);
    expect(await textsTo(own.workspaceId, two)).toEqual([]);
    // The number that awaits verification does not hold up names.
    expect((await request(own, newName())).status).toBe(201);
    await cancel(own, first.id);
    const second = await request(own, two);
    expect(second.status).toBe(201);
    await verify(own, second.body.id, await codeSentTo(own.workspaceId, two));
    expect((await request(own, three)).status).toBe(201);
    // A number that is already verified still takes more countries.
    expect((await request(own, two, { countries: ['IE'] })).status).toBe(200);
  });

  test('for several countries at once of which some are repeated: each once', async () => {
    const own = await workspace();
    const { body } = await request(own, newName(), { countries: ['US', 'GB', 'US', 'XK'] });
    expect(body.countries.map(({ country }: any) => country)).toEqual(['GB', 'US', 'XK']);
  });
});

test('ten requests at once for one name make one sender, for one number one sender and no more codes than allowed', async () => {
  const own = await workspace();
  const names = await Promise.all(Array.from({ length: 10 }, () => request(own, 'Acme')));
  expect(statusesOf(names)).toEqual([...Array<number>(9).fill(200), 201]);
  expect(new Set(names.map(({ body }) => body.id)).size).toBe(1);
  const mobile = newMobile();
  const mobiles = await Promise.all(Array.from({ length: 10 }, () => request(own, mobile)));
  expect(statusesOf(mobiles)).toEqual([200, 200, 201, ...Array<number>(7).fill(429)]);
  expect(await textsTo(own.workspaceId, mobile)).toHaveLength(3);
});

test('two mobile numbers at once: one awaits its code, the other is refused', async () => {
  const own = await workspace();
  const answers = await Promise.all(
    [newMobile(), newMobile(), newMobile()].map((name) => request(own, name)),
  );
  expect(statusesOf(answers)).toEqual([201, 409, 409]);
});

test('names that differ in case or surrounding spaces only are one; the first spelling stays', async () => {
  const own = await workspace();
  const first = (await request(own, 'Acme Ltd')).body;
  const again = await request(own, ' ACME LTD ', { countries: ['FR'] });
  expect([again.status, again.body.id, again.body.name]).toEqual([200, first.id, 'Acme Ltd']);
  expect((await request(own, `${' '.repeat(60)}acme ltd${' '.repeat(60)}`)).body.id).toBe(first.id);
  expect((await request(own, 'Acme  Ltd')).status).toBe(201);
  expect((await request(await workspace(), 'Acme Ltd')).status).toBe(201);
});

test('a rejection holds beside a new sender of the name that asked for another country', async () => {
  const own = await workspace();
  const check = async () => (await api.request('GET', '/v2/senders/check?name=Acme', { key: own.key })).body;
  const { id } = (await request(own, 'Acme', { countries: ['GB', 'FR'] })).body;
  await senders.reject(id, ['GB'], 'Too like another');
  expect(await check()).toMatchObject({ acceptable: false, reasons: ['was rejected before for GB'] });
  await cancel(own, id);
  const other = (await request(own, 'Acme', { countries: ['FR'] })).body;
  const refused = await request(own, 'Acme', { countries: ['GB'] });
  expect([refused.status, codeOf(refused.body)]).toEqual([409, 'sender_rejected']);
  expect(refused.body.detail).toContain('Too like another');
  expect(await check()).toMatchObject({ acceptable: false, reasons: ['was rejected before for GB'] });
  const { body } = await api.request('GET', `/v2/senders/${other.id}`, { key: own.key });
  expect(body.countries).toEqual([{ country: 'FR', status: 'pending' }]);
  // When the request also names an allowed country, the rejection is shown in the sender.
  const both = await request(own, 'Acme', { countries: ['GB', 'IE'] });
  expect([both.status, both.body.countries.map(({ status }: any) => status)]).toEqual([
    200,
    ['pending', 'rejected', 'pending'],
  ]);
});

test('what was rejected stays rejected when the sender is cancelled and requested again', async () => {
  const own = await workspace();
  const { id } = (await request(own, 'Acme', { countries: ['GB', 'FR'] })).body;
  await senders.reject(id, ['GB'], 'Too like another');
  await cancel(own, id);
  const refused = await request(own, 'acme');
  expect([refused.status, codeOf(refused.body)]).toEqual([409, 'sender_rejected']);
  expect(refused.body.detail).toContain('Too like another');
  const other = await request(own, 'ACME', { countries: ['FR', 'GB'] });
  expect([other.status, other.body.status]).toEqual([201, 'pending']);
  expect(other.body.countries).toEqual([
    { country: 'FR', status: 'pending' },
    { country: 'GB', status: 'rejected', reason: 'Too like another' },
  ]);
  // A later approval by the reviewer replaces the rejection.
  await senders.approve(other.body.id, ['GB']);
  await cancel(own, other.body.id);
  expect((await request(own, 'Acme')).status).toBe(201);
});
