import { afterEach, expect, onTestFinished, test } from 'vitest';
import { gatewayList } from '../../shared/config/sms-gateways.ts';
import { closeGateways, gatewayFor, gatewayNamed, submit } from '../../shared/transports/sms.ts';
import { changeSettings } from '../support/processes/settings.ts';
import { type Smsc, startSmsc } from '../support/servers/smsc.ts';
import {
  type Answer,
  startWebhookReceiver,
  type WebhookReceiver,
} from '../support/servers/webhook-receiver.ts';
import { skippableTimers } from '../support/time/skip-time.ts';
import { waitFor } from '../support/time/wait-for.ts';

afterEach(closeGateways);

/** Sets up the gateways, of which the first is preferred, with a time-out of `seconds` for a text. */
function useGateways(seconds: number, ...gateways: object[]): void {
  const list = gateways.map((own, index) => ({ ...own, name: `carrier-${index + 1}` }));
  changeSettings({ SMS_TIMEOUT_SECONDS: seconds, SMS_GATEWAYS: gatewayList.parse(JSON.stringify(list)) });
}
const at = ({ port }: Smsc) => ({ type: 'smpp', url: `smpp://acme:secret@127.0.0.1:${port}` });
const secret = 'hunter2-hunter2-hunter2';
const posting = ({ url }: WebhookReceiver) => ({ type: 'http', url, secret });

let made = 0;
/** A text of the workspace. The carriers of these tests fail at texts that say `bad`. */
const textOf = (workspaceId: string, content = 'good') => {
  made += 1;
  const recipient = `+4474070${String(made).padStart(5, '0')}`;
  return { id: `sms_${made}`, workspaceId, sender: 'Acme', recipient, content, parts: 1 };
};
const chosenFor = (workspaceId: string) => gatewayFor(textOf(workspaceId))!.name;
const hand = (text: ReturnType<typeof textOf>) => submit(text, gatewayNamed('carrier-1'));

/** Starts two carriers, of which the first answers bad texts with `status`. */
async function startCarriers(status: number): Promise<Smsc> {
  const [first, second] = [await startSmsc(), await startSmsc()];
  first.submit = ({ message }, count) => (message.toString() === 'bad' ? { status } : { id: `m${count}` });
  useGateways(20, at(first), at(second));
  return first;
}

test.each([
  ['defers', 0x64, 'later'],
  ['cannot vouch for', 0x08, 'unavailable'],
])(
  'a workspace whose texts the carrier %s takes the next; the texts of others go on',
  async (_fault, status, kind) => {
    const first = await startCarriers(status);
    for (const _ of [1, 2, 3]) {
      expect(chosenFor('a')).toBe('carrier-1');
      expect((await hand(textOf('a', 'bad'))).kind).toBe(kind);
    }
    expect([chosenFor('a'), chosenFor('b')]).toEqual(['carrier-2', 'carrier-1']);
    expect((await hand(textOf('b'))).kind).toBe('accepted');
    // The texts that only this carrier may take wait, and are not said to wait for the carrier.
    const flood = await Promise.all(Array.from({ length: 30 }, () => hand(textOf('a', 'bad'))));
    expect(flood.filter((one) => one.kind !== 'later' || one.isPutOff)).toEqual([]);
    expect(first.taken).toHaveLength(4);
    expect((await hand(textOf('b'))).kind).toBe('accepted');
  },
);

test('texts of one workspace that have no answer by SMPP stop no text of another, nor its session', async () => {
  const skip = skippableTimers();
  const [first, second] = [await startSmsc(), await startSmsc()];
  first.submit = ({ message }, count) => (message.toString() === 'bad' ? 'silence' : { id: `m${count}` });
  useGateways(20, at(first), at(second));
  const bad = [1, 2, 3].map(() => hand(textOf('a', 'bad')));
  await waitFor('the carrier has them', () => first.taken.length === 3);
  skip(12_000);
  expect((await Promise.all(bad)).map(({ kind }) => kind)).toEqual(Array(3).fill('unavailable'));
  expect([chosenFor('a'), chosenFor('b')]).toEqual(['carrier-2', 'carrier-1']);
  await waitFor('the carrier is asked whether it is there', () => first.enquiries === 1);
  expect((await hand(textOf('b'))).kind).toBe('accepted');
  expect([first.binds.length, first.connections()]).toEqual([1, 1]);
});

test('a carrier is paused by the faults of two workspaces, and then tried with a text of the one that failed less', async () => {
  const skip = skippableTimers({ clock: true });
  const first = await startCarriers(0x64);
  for (const workspaceId of ['a', 'a', 'a', 'b']) await hand(textOf(workspaceId, 'bad'));
  expect([chosenFor('a'), chosenFor('b'), chosenFor('c')]).toEqual(Array(3).fill('carrier-2'));
  skip(1_000);
  const flood = await Promise.all(Array.from({ length: 30 }, () => hand(textOf('a', 'bad'))));
  expect(new Set(flood.map((one) => one.kind))).toEqual(new Set(['later']));
  expect(first.taken).toHaveLength(4);
  expect((await hand(textOf('b'))).kind).toBe('accepted');
  expect([chosenFor('a'), chosenFor('b')]).toEqual(['carrier-1', 'carrier-1']);
  // The workspace has its probe too: after this fault it waits again, and a good text ends its pause.
  await hand(textOf('a', 'bad'));
  expect([chosenFor('a'), chosenFor('b')]).toEqual(['carrier-2', 'carrier-1']);
  skip(2_000);
  expect((await hand(textOf('a'))).kind).toBe('accepted');
  expect(chosenFor('a')).toBe('carrier-1');
});

test('a carrier that fails at all texts is paused after three, and after each pause only one text tries it', async () => {
  const skip = skippableTimers({ clock: true });
  const first = await startCarriers(0x08);
  const workspaces = ['a', 'b', 'c', 'd', 'e'];
  for (const workspaceId of workspaces.slice(0, 3)) await hand(textOf(workspaceId, 'bad'));
  expect(chosenFor('d')).toBe('carrier-2');
  for (const tries of [1, 2, 3, 4, 5, 6, 7, 8]) {
    // Where the breakers of all workspaces are open, it is tried no more often.
    skip(tries < 5 ? 30_000 : 42_000);
    const flood = workspaces.flatMap((workspaceId) => [1, 2].map(() => hand(textOf(workspaceId, 'bad'))));
    const kinds = (await Promise.all(flood)).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === 'unavailable')).toHaveLength(1);
    expect(first.taken).toHaveLength(3 + tries);
  }
});

const failures: [string, Answer][] = [
  ['500', { status: 500 }],
  ['no answer', { fault: 'hang' }],
];
test.each(failures)(
  'texts of one workspace that get %s over HTTP stop no text of another',
  async (_name, failure) => {
    const [first, second] = await Promise.all(
      [1, 2].map(() =>
        startWebhookReceiver({
          respond: ({ body }) =>
            JSON.parse(body.toString()).content === 'bad'
              ? failure
              : { body: JSON.stringify({ reference: 'r' }) },
        }),
      ),
    );
    onTestFinished(() => Promise.all([first!.close(), second!.close()]).then(() => undefined));
    useGateways(1, posting(first!), posting(second!));
    const bad = await Promise.all([1, 2, 3].map(() => hand(textOf('a', 'bad'))));
    expect(bad.map(({ kind }) => kind)).toEqual(Array(3).fill('unavailable'));
    expect([chosenFor('a'), chosenFor('b')]).toEqual(['carrier-2', 'carrier-1']);
    expect((await hand(textOf('b'))).kind).toBe('accepted');
  },
);

test('a gateway that cannot be reached is left by all workspaces', async () => {
  const [first, second] = [await startWebhookReceiver(), await startWebhookReceiver()];
  onTestFinished(() => second.close());
  await first.close();
  useGateways(10, posting(first), posting(second));
  for (const _ of [1, 2, 3]) expect((await hand(textOf('a'))).kind).toBe('later');
  expect([chosenFor('a'), chosenFor('b')]).toEqual(['carrier-2', 'carrier-2']);
});
