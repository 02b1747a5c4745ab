import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { gatewayList } from '../../../shared/config/sms-gateways.ts';
import { closeGateways } from '../../../shared/transports/sms.ts';
import { codeOf } from '../../support/api/contract.ts';
import { startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { sampleContent } from '../../support/data/sender-codes.ts';
import { useDatabase } from '../../support/database/database.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { type Smsc, startSmsc } from '../../support/servers/smsc.ts';

// A slow machine must not make a hand-over end too soon.
changeSettings({ SMS_TIMEOUT_SECONDS: 60 });
useDatabase();

let carriers: Smsc[];
beforeEach(async () => {
  carriers = await Promise.all([1, 2, 3].map(() => startSmsc()));
  const list = carriers.map(({ port }, index) => ({
    name: `carrier-${index + 1}`,
    type: 'smpp',
    url: `smpp://acme:secret@127.0.0.1:${port}`,
  }));
  changeSettings({ SMS_GATEWAYS: gatewayList.parse(JSON.stringify(list)) });
  onTestFinished(async () => {
    await closeGateways();
    for (const carrier of carriers) carrier.close();
  });
});

let made = 0;

/** Asks for a code for a new number, and returns the answer and how many texts each carrier was given. */
async function ask() {
  const [api, { key }] = await Promise.all([startApi(), workspace()]);
  made += 1;
  const body = { name: `07404${String(made).padStart(6, '0')}`, sampleContent };
  const answer = await api.request('POST', '/v2/senders', { key, body });
  return { answer, given: carriers.map(({ taken }) => taken.length) };
}

// The first status stops all texts for a moment, the second is about this text alone.
test.each([0x58, 0x04])(
  'a code that its gateway does not take now (status %i) goes by the next',
  async (status) => {
    carriers[0]!.submit = () => ({ status });
    const { answer, given } = await ask();
    expect([answer.status, answer.body.status, given]).toEqual([201, 'awaiting_verification', [1, 1, 0]]);
  },
);

test('a code that two gateways do not take now is not sent', async () => {
  for (const carrier of carriers) carrier.submit = () => ({ status: 0x58 });
  const { answer, given } = await ask();
  expect([answer.status, codeOf(answer.body), given]).toEqual([503, 'verification_not_sent', [1, 1, 0]]);
});

test('a code of which nobody knows whether it went out goes by no other gateway', async () => {
  carriers[0]!.submit = () => 'cut';
  const { answer, given } = await ask();
  expect([answer.status, given]).toEqual([503, [1, 0, 0]]);
});
