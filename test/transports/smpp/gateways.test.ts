import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { gatewayList } from '../../../shared/config/sms-gateways.ts';
import { closeQueues } from '../../../shared/queue/queue.ts';
import { commands, encodePdu } from '../../../shared/transports/sms/smpp/pdu.ts';
import { closeGateways, gatewayFor, openGateways, submit } from '../../../shared/transports/sms.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { atEnd } from '../../support/runner/at-end.ts';
import { type Smsc, startSmsc } from '../../support/servers/smsc.ts';
import { skippableTimers } from '../../support/time/skip-time.ts';
import { waitFor } from '../../support/time/wait-for.ts';

let first: Smsc;
let second: Smsc;
beforeEach(async () => {
  [first, second] = await Promise.all([startSmsc(), startSmsc()]);
});
afterEach(closeGateways);
atEnd(closeQueues);

/** Sets up two carriers, of which the first is preferred, with a time-out of `seconds` for a text. */
function useCarriers(seconds: number, changes: object = {}): void {
  const list = [first, second].map(({ port }, index) => ({
    name: `carrier-${index + 1}`,
    type: 'smpp',
    url: `smpp://acme:secret@127.0.0.1:${port}`,
    ...changes,
  }));
  changeSettings({
    SMS_TIMEOUT_SECONDS: seconds,
    SMS_GATEWAYS: gatewayList.parse(JSON.stringify(list)),
  });
}

let made = 0;
const newText = () => {
  made += 1;
  const recipient = `+4474070${String(made).padStart(5, '0')}`;
  return { id: `sms_${made}`, workspaceId: 'w', sender: 'Acme', recipient, content: 'Hi', parts: 1 };
};

test('a carrier that stops answering is left for the next, and gets its texts again once it answers', async () => {
  useCarriers(1);
  first.submit = () => 'silence';
  // Three texts without an answer are no accident, so the next text takes the other carrier.
  const unanswered = await Promise.all([1, 2, 3].map(() => submit(newText())));
  expect(unanswered.map(({ kind }) => kind)).toEqual(['unavailable', 'unavailable', 'unavailable']);
  expect(gatewayFor(newText())!.name).toBe('carrier-2');
  expect(await submit(newText())).toMatchObject({ kind: 'accepted' });
  expect([first.taken.length, second.taken.length]).toEqual([3, 1]);
  first.submit = (_, count) => ({ id: `back-${count}` });
  await waitFor('the first carrier takes one again', async () => {
    expect(await submit(newText())).toMatchObject({ kind: 'accepted' });
    return first.taken.length > 3;
  });
  expect(gatewayFor(newText())!.name).toBe('carrier-1');
});

test('while one text finds out whether a carrier is back, the others go to the next', async () => {
  useCarriers(2);
  let silent = 0;
  first.submit = () => 'silence';
  await Promise.all([1, 2, 3].map(() => submit(newText())));
  await waitFor('the pause is over', () => gatewayFor(newText())!.name === 'carrier-1');
  const probe = submit(newText());
  await waitFor('the carrier has the one', () => first.taken.length === 4);
  silent = first.taken.length;
  const others = await Promise.all([1, 2, 3, 4].map(() => submit(newText())));
  expect(others.map(({ kind }) => kind)).toEqual(['accepted', 'accepted', 'accepted', 'accepted']);
  expect([first.taken.length, second.taken.length]).toEqual([silent, 4]);
  expect(await probe).toMatchObject({ kind: 'unavailable' });
});

test('a text whose time is over while it waits for the bind is never sent behind the back of its next attempt', async () => {
  useCarriers(2);
  const bound = Promise.withResolvers<void>();
  first.beforeBind = bound.promise;
  const gateway = gatewayFor(newText())!;
  const text = newText();
  expect(await submit(text, gateway)).toMatchObject({
    kind: 'later',
    detail: expect.stringContaining('bind'),
  });
  bound.resolve();
  await waitFor('it is bound', () => gateway.state!().isBound);
  expect(first.taken).toEqual([]);
  expect(await submit(text, gateway)).toMatchObject({ kind: 'accepted' });
  expect(first.taken).toHaveLength(1);
});

test('bucket and window share one deadline: whatever is not written by then is left for later, and never written', async () => {
  // The rate is one a second, so the third text gets its turn after two seconds; the window has room for one.
  useCarriers(4, { window: 1, perSecond: 1 });
  const gateway = gatewayFor(newText())!;
  first.submit = () => 'silence';
  const ends = await Promise.all([1, 2, 3].map(() => submit(newText(), gateway)));
  expect(ends.map(({ kind }) => kind)).toEqual(['unavailable', 'later', 'later']);
  expect(first.taken).toHaveLength(1);
});

test('a carrier that puts off three texts in a row is left for the next, and gets its texts again once it takes them', async () => {
  useCarriers(20);
  first.submit = () => ({ status: 0x64 });
  for (const _ of [1, 2, 3]) {
    expect(gatewayFor(newText())!.name).toBe('carrier-1');
    expect((await submit(newText())).kind).toBe('later');
  }
  expect(gatewayFor(newText())!.name).toBe('carrier-2');
  expect(await submit(newText())).toMatchObject({ kind: 'accepted' });
  expect([first.taken.length, second.taken.length]).toEqual([3, 1]);
  first.submit = (_, count) => ({ id: `back-${count}` });
  await waitFor('the first carrier takes one again', async () => {
    expect(await submit(newText())).toMatchObject({ kind: 'accepted' });
    return first.taken.length > 3;
  });
  expect(gatewayFor(newText())!.name).toBe('carrier-1');
});

test.each([
  ['ESME_RSYSERR', 0x08],
  ['ESME_RUNKNOWNERR', 0xff],
])('a carrier that answers three texts in a row with %s is left for the next', async (_name, status) => {
  useCarriers(20);
  first.submit = () => ({ status });
  for (const _ of [1, 2, 3]) {
    expect(gatewayFor(newText())!.name).toBe('carrier-1');
    expect((await submit(newText())).kind).toBe('unavailable');
  }
  expect(gatewayFor(newText())!.name).toBe('carrier-2');
  expect(await submit(newText())).toMatchObject({ kind: 'accepted' });
  expect([first.taken.length, second.taken.length]).toEqual([3, 1]);
});

test.each([
  ['ESME_RTHROTTLED', 0x58],
  ['ESME_RMSGQFUL', 0x14],
])(
  'each further %s doubles the pause of all texts, up to 30 seconds; a text that is taken makes it short again',
  async (_name, status) => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    useCarriers(20);
    const gateway = gatewayFor(newText())!;
    const pauseSeconds = async () => {
      const before = first.taken.length;
      first.submit = () => ({ status });
      // The second text comes in the pause, so the carrier does not get it.
      const waits = [await submit(newText(), gateway), await submit(newText(), gateway)];
      expect(first.taken.length - before).toBe(1);
      let seconds = 0;
      for (; !gateway.isUp!(); seconds += 1) vi.advanceTimersByTime(1_000);
      for (const wait of waits)
        expect(wait.kind === 'later' && wait.afterMs).toBeGreaterThanOrEqual(1_000 * seconds);
      return seconds;
    };
    const pauses: number[] = [];
    while (pauses.length < 7) pauses.push(await pauseSeconds());
    expect(pauses).toEqual([1, 2, 4, 8, 16, 30, 30]);
    first.submit = (_, count) => ({ id: `m${count}` });
    expect(await submit(newText(), gateway)).toMatchObject({ kind: 'accepted' });
    expect(await pauseSeconds()).toBe(1);
  },
);

test('the parts of one text say no more than one, and texts that are refused between them say that the carrier works', async () => {
  useCarriers(20);
  const long = () => ({ ...newText(), content: 'x'.repeat(400), parts: 3 });
  first.submit = () => ({ status: 0x64 });
  expect([(await submit(long())).kind, (await submit(newText())).kind]).toEqual(['later', 'later']);
  first.submit = () => ({ status: 0x0b });
  expect((await submit(newText())).kind).toBe('refused');
  first.submit = () => ({ status: 0x64 });
  expect([(await submit(newText())).kind, (await submit(newText())).kind]).toEqual(['later', 'later']);
  expect(gatewayFor(newText())!.name).toBe('carrier-1');
});

test('two parts of one text that have no answer are one failure', async () => {
  useCarriers(1);
  first.submit = () => 'silence';
  const long = { ...newText(), content: 'x'.repeat(300), parts: 2 };
  expect((await submit(long)).kind).toBe('unavailable');
  first.submit = () => ({ status: 0x08 });
  expect((await submit(newText())).kind).toBe('unavailable');
  expect(gatewayFor(newText())!.name).toBe('carrier-1');
  expect((await submit(newText())).kind).toBe('unavailable');
  expect(gatewayFor(newText())!.name).toBe('carrier-2');
});

test('after an unbind texts take the other carrier at once, also where the line stays open', async () => {
  first.close();
  first = await startSmsc({ keepsHalf: true });
  useCarriers(20);
  expect(await submit(newText())).toMatchObject({ kind: 'accepted' });
  first.write(encodePdu({ id: commands.unbind, status: 0, sequence: 900 }));
  await waitFor('it is answered', () => first.answers.has(900));
  expect(gatewayFor(newText())!.name).toBe('carrier-2');
  expect(await submit(newText())).toMatchObject({ kind: 'accepted' });
  expect([first.taken.length, second.taken.length]).toEqual([1, 1]);
  await waitFor('the line is given up', () => {
    if (first.connections() === 0) return true;
    // The closed line shows only when something is written to it.
    first.write(encodePdu({ id: commands.enquire_link, status: 0, sequence: 901 }));
    return false;
  });
});

test('a process that only sends gives its bind back when it is idle: no line is lost by that, and none is left over', async () => {
  useCarriers(20);
  const goodbye = Promise.withResolvers<void>();
  first.beforeUnbind = goodbye.promise;
  const skip = skippableTimers();
  expect(await submit(newText())).toMatchObject({ kind: 'accepted' });
  skip(30_000);
  await waitFor('it says goodbye', () => first.unbinds === 1);
  // A new text comes before the carrier has answered the unbind.
  expect(await submit(newText())).toMatchObject({ kind: 'accepted' });
  expect(first.binds).toHaveLength(2);
  goodbye.resolve();
  await waitFor('the first line is gone', () => first.connections() === 1);
  const state = gatewayFor(newText())!.state!();
  expect(await submit(newText())).toMatchObject({ kind: 'accepted' });
  expect([first.binds.length, first.connections()]).toEqual([2, 1]);
  for (const one of [state, gatewayFor(newText())!.state!()])
    expect(one).toMatchObject({ isBound: true, downSince: null, lastError: null });
});

test('a process that receives waits once for each lost line, and binds no more when it has stopped', async () => {
  useCarriers(20);
  const nothing = () => undefined;
  const acknowledgement = { written: nothing, read: nothing, unread: nothing };
  const handlers = { receipt: async () => undefined, text: async () => acknowledgement };
  const skip = skippableTimers();
  first.bindStatus = 0x0d;
  // The second bind is refused while the wait after the first one lasts.
  for (const _ of [1, 2]) await openGateways(handlers);
  await closeGateways();
  skip(30_000);
  // A wait that was left over would have begun a bind now, before this one.
  await openGateways(handlers);
  expect(first.binds.map(({ id }) => id)).toEqual(Array(3).fill(commands.bind_transceiver));
});

test('a carrier that puts texts off but has taken one within the hour makes them wait for their turn; 0x64 is about one text', async () => {
  const skip = skippableTimers({ clock: true });
  useCarriers(20);
  const gateway = gatewayFor(newText())!;
  const putOff = async (status: number) => {
    first.submit = () => ({ status });
    const { kind, ...outcome } = await submit(newText(), gateway);
    expect(kind).toBe('later');
    return 'waitsForTurn' in outcome ? outcome.waitsForTurn : undefined;
  };
  expect(await submit(newText(), gateway)).toMatchObject({ kind: 'accepted' });
  skip(30 * 60_000);
  expect([await putOff(0x64), await putOff(0x58)]).toEqual([undefined, true]);
  skip(31 * 60_000);
  expect(await putOff(0x58)).toBe(false);
  // This text is not sent: the answer before it has paused the gateway.
  expect(await putOff(0x58)).toBe(false);
});

// The codes of the specification (§5.1.3), and one that a carrier defines itself.
const refusals = [
  [
    0x01, 0x02, 0x03, 0x06, 0x07, 0x0a, 0x0b, 0x0c, 0x15, 0x33, 0x34, 0x40, 0x42, 0x43, 0x44, 0x45, 0x48,
    0x49,
  ],
  [0x50, 0x51, 0x54, 0x55, 0x61, 0x62, 0x63, 0x65, 0x66, 0x67, 0xc0, 0xc1, 0xc2, 0xc3, 0xc4, 0xfe, 0x411],
].flat();
// Codes about the session, the account or the load of the carrier; the text is not at fault.
const delays = [0x04, 0x05, 0x0d, 0x0e, 0x0f, 0x14, 0x53, 0x58, 0x64];
const unsure = [0x08, 0xff];
const inHex = (status: number) => `0x${status.toString(16)}`;

test('every command_status that a carrier may answer a text with has its outcome', async () => {
  const kinds: Record<string, string[]> = {};
  const answers: Record<string, string> = {};
  for (const status of [...refusals, ...delays, ...unsure]) {
    useCarriers(20);
    first.submit = () => ({ status, id: 'in-vain' });
    const before = first.taken.length;
    const { kind, ...outcome } = await submit(newText(), gatewayFor(newText()));
    expect([inHex(status), first.taken.length - before]).toEqual([inHex(status), 1]);
    kinds[kind] = [...(kinds[kind] ?? []), inHex(status)];
    if ('detail' in outcome) answers[inHex(status)] = outcome.detail;
    // Each code begins with a carrier that has refused nothing yet.
    await closeGateways();
  }
  expect(kinds).toEqual({
    refused: refusals.map(inHex),
    later: delays.map(inHex),
    unavailable: unsure.map(inHex),
  });
  expect(answers).toMatchObject({
    '0x58': 'The gateway answered ESME_RTHROTTLED (0x58): more came than the carrier allows',
    '0x411': 'The gateway answered status 0x411',
  });
});
