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

/** Brings a new sender of a new workspace to each state, by the actions that lead there. */
const ways = {
  'pending name': async (own: Own) => (await request(own, newName())).body,
  'approved name': async (own: Own) => {
    const { id } = (await request(own, newName())).body;
    await senders.approve(id, ['GB']);
    return read(own, id);
  },
  'rejected name': async (own: Own) => {
    const { id } = (await request(own, newName())).body;
    await senders.reject(id, ['GB'], 'Too like another');
    return read(own, id);
  },
  'held name': async (own: Own) => {
    const businessProfileId = await unverifiedProfile(own);
    return (await request(own, newName(), { businessProfileId })).body;
  },
  'unverified mobile': async (own: Own) => (await request(own, newMobile())).body,
  'verified mobile': async (own: Own) => {
    const { id, name } = (await request(own, newMobile())).body;
    return (await verify(own, id, await codeSentTo(own.workspaceId, name))).body;
  },
  'rejected mobile': async (own: Own) => {
    const { id } = (await request(own, newMobile())).body;
    await senders.reject(id, ['GB'], 'Not theirs');
    return read(own, id);
  },
  'virtual number': async (own: Own) => {
    const { id } = await senders.addNumber(own.workspaceId);
    return read(own, id);
  },
};
type From = keyof typeof ways;

/** Actions on the sender; an action that is a request returns its answer. */
const triggers = {
  'request it again': (own: Own, { name }: any) => request(own, name),
  'request it for FR': (own: Own, { name }: any) => request(own, name, { countries: ['FR'] }),
  'give back the code': async (own: Own, { id, name }: any) =>
    verify(own, id, await codeSentTo(own.workspaceId, name)),
  'give back a wrong code': async (own: Own, { id, name }: any) => {
    const right = await codeSentTo(own.workspaceId, name);
    return verify(own, id, right === '000000' ? '000001' : '000000');
  },
  'give back some code': (own: Own, { id }: any) => verify(own, id, '123456'),
  'approve it for GB': (_own: Own, { id }: any) => senders.approve(id, ['GB']),
  'reject it for GB': (_own: Own, { id }: any) => senders.reject(id, ['GB'], 'Because'),
  'verify its profile': (_own: Own, { businessProfileId }: any) => businessProfiles.verify(businessProfileId),
  'cancel it': (own: Own, { id }: any) => cancel(own, id),
};

type Row = {
  from: From;
  trigger: keyof typeof triggers;
  /** The status of a success, or the code of a refusal; absent when the operator acts and succeeds. */
  answer?: number | string;
  to: string;
  countries?: string[];
};

const table: Row[] = [
  // The name.
  { from: 'pending name', trigger: 'request it again', answer: 200, to: 'pending' },
  {
    from: 'pending name',
    trigger: 'request it for FR',
    answer: 200,
    to: 'pending',
    countries: ['FR pending', 'GB pending'],
  },
  { from: 'pending name', trigger: 'approve it for GB', to: 'approved', countries: ['GB approved'] },
  { from: 'pending name', trigger: 'reject it for GB', to: 'rejected', countries: ['GB rejected'] },
  { from: 'pending name', trigger: 'give back some code', answer: 'validation_failed', to: 'pending' },
  { from: 'pending name', trigger: 'cancel it', answer: 204, to: 'gone' },
  {
    from: 'approved name',
    trigger: 'request it for FR',
    answer: 200,
    to: 'approved',
    countries: ['FR pending', 'GB approved'],
  },
  { from: 'approved name', trigger: 'reject it for GB', to: 'rejected', countries: ['GB rejected'] },
  { from: 'approved name', trigger: 'cancel it', answer: 204, to: 'gone' },
  { from: 'rejected name', trigger: 'request it again', answer: 'sender_rejected', to: 'rejected' },
  {
    from: 'rejected name',
    trigger: 'request it for FR',
    answer: 'sender_rejected',
    to: 'rejected',
    countries: ['GB rejected'],
  },
  { from: 'rejected name', trigger: 'approve it for GB', to: 'approved', countries: ['GB approved'] },
  { from: 'rejected name', trigger: 'cancel it', answer: 204, to: 'gone' },
  // The name of a business that is not verified yet.
  {
    from: 'held name',
    trigger: 'request it for FR',
    answer: 200,
    to: 'awaiting_business_verification',
    countries: ['FR pending', 'GB pending'],
  },
  { from: 'held name', trigger: 'verify its profile', to: 'pending', countries: ['GB pending'] },
  { from: 'held name', trigger: 'approve it for GB', answer: 'in_use', to: 'awaiting_business_verification' },
  { from: 'held name', trigger: 'reject it for GB', to: 'rejected', countries: ['GB rejected'] },
  { from: 'held name', trigger: 'cancel it', answer: 204, to: 'gone' },
  // The mobile number.
  { from: 'unverified mobile', trigger: 'request it again', answer: 200, to: 'awaiting_verification' },
  {
    from: 'unverified mobile',
    trigger: 'request it for FR',
    answer: 200,
    to: 'awaiting_verification',
    countries: ['FR pending', 'GB pending'],
  },
  {
    from: 'unverified mobile',
    trigger: 'give back the code',
    answer: 200,
    to: 'approved',
    countries: ['GB approved'],
  },
  {
    from: 'unverified mobile',
    trigger: 'give back a wrong code',
    answer: 'validation_failed',
    to: 'awaiting_verification',
  },
  { from: 'unverified mobile', trigger: 'approve it for GB', answer: 'in_use', to: 'awaiting_verification' },
  { from: 'unverified mobile', trigger: 'reject it for GB', to: 'rejected', countries: ['GB rejected'] },
  { from: 'unverified mobile', trigger: 'cancel it', answer: 204, to: 'gone' },
  { from: 'verified mobile', trigger: 'request it again', answer: 200, to: 'approved' },
  {
    from: 'verified mobile',
    trigger: 'request it for FR',
    answer: 200,
    to: 'approved',
    countries: ['FR approved', 'GB approved'],
  },
  {
    from: 'verified mobile',
    trigger: 'give back the code',
    answer: 'validation_failed',
    to: 'approved',
    countries: ['GB approved'],
  },
  { from: 'verified mobile', trigger: 'reject it for GB', to: 'rejected', countries: ['GB rejected'] },
  { from: 'rejected mobile', trigger: 'request it again', answer: 'sender_rejected', to: 'rejected' },
  { from: 'rejected mobile', trigger: 'give back the code', answer: 'validation_failed', to: 'rejected' },
  // The virtual number.
  { from: 'virtual number', trigger: 'cancel it', answer: 'not_cancellable', to: 'pending' },
  { from: 'virtual number', trigger: 'approve it for GB', answer: 'in_use', to: 'pending' },
  { from: 'virtual number', trigger: 'give back some code', answer: 'validation_failed', to: 'pending' },
];

async function answerTo(
  trigger: Row['trigger'],
  own: Own,
  sender: any,
): Promise<number | string | undefined> {
  const outcome: any = await Promise.resolve(triggers[trigger](own, sender)).catch((refusal) => refusal);
  // An action of the operator throws its refusal.
  if (outcome instanceof Error) return (outcome as any).code ?? String(outcome);
  if (!('headers' in outcome)) return undefined;
  return outcome.status < 300 ? outcome.status : codeOf(outcome.body);
}

describe('each way from a state', () => {
  test.each(table)('$from, $trigger: $to ($answer)', async ({ from, trigger, answer, to, countries }) => {
    const own = await workspace();
    const before = await ways[from](own);
    const texts = before.name.startsWith('07') ? await textsTo(own.workspaceId, before.name) : [];
    expect(await answerTo(trigger, own, before)).toBe(answer);
    const after = await read(own, before.id);
    if (to === 'gone') {
      expect(after.status).toBe(404);
      return;
    }
    expect(after.status).toBe(to);
    const wanted = countries ?? before.countries.map(({ country, status }: any) => `${country} ${status}`);
    expect(after.countries.map(({ country, status }: any) => `${country} ${status}`)).toEqual(wanted);
    // Each request for a number that still awaits its code sends a code, and nothing else does.
    if (before.name.startsWith('07')) {
      const isTexted = from === 'unverified mobile' && answer === 200 && trigger.startsWith('request');
      expect(await textsTo(own.workspaceId, before.name)).toHaveLength(texts.length + (isTexted ? 1 : 0));
    }
  });
});
