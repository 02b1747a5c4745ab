import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { gatewayList } from '../../../shared/config/sms-gateways.ts';
import { query } from '../../../shared/db/client.ts';
import * as senders from '../../../shared/domain/senders/senders.ts';
import { attempt } from '../../../shared/domain/sms/delivery/delivery.ts';
import * as smsGateways from '../../../shared/domain/sms/gateways/gateways.ts';
import { longForms } from '../../../shared/transports/sms/smpp/text.ts';
import { type Client, startApi } from '../../support/api/start-api.ts';
import { sendSms, smsOf, textingWorkspace } from '../../support/data/new-sms.ts';
import { useDatabase } from '../../support/database/database.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { lookForNetSmpp, startNetSmpp } from '../../support/servers/net-smpp/smsc.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

const found = await lookForNetSmpp();
const number = '+447407000099';

/** An emoji is two units of UCS-2, and a part has 67 units; ^ and € are two septets, and a part has 153 septets. */
const texts = {
  'GSM, 1 part': 'Hello @£$¥ {Δ}',
  'GSM, 2 parts': `${'à'.repeat(152)}€^${'b'.repeat(20)}`,
  'GSM, 10 parts': '0123456789[~|'.repeat(95),
  'UCS-2, 1 part': 'Привет 😀',
  'UCS-2, 2 parts': `${'я'.repeat(66)}😀${'я'.repeat(20)}`,
  'UCS-2, 10 parts': `${'ő'.repeat(133)}😀`.repeat(4) + '漢😀'.repeat(40),
};

test.for('reason' in found ? [found.reason] : [])('an SMSC on Net::SMPP', (reason, { skip }) => skip(reason));

describe.each('reason' in found ? [] : [found])('an SMSC on Net::SMPP', (library) => {
  let api: Client;
  let own: Awaited<ReturnType<typeof textingWorkspace>>;
  let smsc: Awaited<ReturnType<typeof startNetSmpp>>;
  beforeAll(async () => {
    api = await startApi();
    own = await textingWorkspace();
    const { id } = await senders.addNumber(own.workspaceId, ['GB']);
    await senders.assignNumber(id, number);
  });

  /** Sets up one gateway for each form of long texts; the digits before the last two of a number choose it. */
  beforeEach(async () => {
    smsc = await startNetSmpp(library);
    const list = longForms.map((longMessages, index) => ({
      name: longMessages,
      type: 'smpp',
      url: `smpp://${longMessages}:secret@127.0.0.1:${smsc.port}`,
      prefixes: [`+44740700${index}`],
      longMessages,
      systemType: 'acme',
      window: 50,
      validityHours: 24,
    }));
    changeSettings({ SMS_GATEWAYS: gatewayList.parse(JSON.stringify(list)) });
    onTestFinished(() => smsGateways.stop());
    smsGateways.start();
    await waitFor('all gateways are bound', () => smsc.binds().length === longForms.length);
  });

  test('texts in each form arrive whole, and its receipts are applied', async () => {
    expect(smsc.binds()[0]).toMatchObject({
      password: 'secret',
      system_type: 'acme',
      interface_version: 0x34,
    });
    const sent = await Promise.all(
      longForms.flatMap((form, index) =>
        Object.entries(texts).map(async ([title, content], row) => {
          const recipient = `+44740700${index}0${String(row + 20)}`;
          const { id, parts } = await sendSms(api, own, { recipient, content });
          expect(parts, title).toBe(Number(/\d+(?= part)/.exec(title)));
          await attempt(id);
          return { id, form, recipient, content, parts, title };
        }),
      ),
    );
    for (const { id, form, recipient, content, parts, title } of sent) {
      await waitFor(
        `${form}, ${title}, is delivered`,
        async () => (await smsOf(own, id)).status === 'delivered',
      );
      const shown = smsc.shown().filter((one) => one['destination_addr'] === recipient.slice(1));
      expect(shown, `${form}, ${title}`).toMatchObject([
        {
          via: form,
          text: content,
          parts: form === 'payload' ? 1 : parts,
          source_addr: 'Acme',
          source_addr_ton: 5,
          source_addr_npi: 0,
          dest_addr_ton: 1,
          dest_addr_npi: 1,
          registered_delivery: 1,
          validity_period: '000001000000000R',
          data_coding: title.startsWith('GSM') ? 0 : 8,
        },
      ]);
    }
    const failed = await sendSms(api, own, { recipient: '+447407000013' });
    await attempt(failed.id);
    await waitFor('its failure is applied', async () => (await smsOf(own, failed.id)).status === 'failed');
    expect((await smsOf(own, failed.id)).reason).toMatchObject({ code: 'undeliverable' });
    expect(new Set(smsc.answers())).toEqual(new Set([0]));
    await smsGateways.stop();
    await waitFor('each has said goodbye', () => smsc.unbinds() === longForms.length);
  });

  test('texts of persons are received as they were typed, in each form', async () => {
    await query('DELETE FROM sms_messages');
    // Phones fill each part completely, so a character of two units may be split between two parts.
    const long = `${'я'.repeat(66)}😀${'я'.repeat(65)}😀${'ő'.repeat(66)}😀`;
    const typed = [
      { form: 'one', alphabet: 'gsm', text: texts['GSM, 1 part'] },
      { form: 'one', alphabet: 'ucs2', text: texts['UCS-2, 1 part'] },
      { form: 'payload', alphabet: 'ucs2', text: long },
      ...(['udh', 'udh16', 'sar'] as const).flatMap((form) => [
        { form, alphabet: 'gsm', text: texts['GSM, 10 parts'], isReversed: true } as const,
        { form, alphabet: 'ucs2', text: long } as const,
      ]),
    ] as const;
    const from = (index: number) => `+4474070001${String(index).padStart(2, '0')}`;
    typed.forEach((text, index) =>
      smsc.type({
        ...text,
        via: 'udh',
        from: from(index).slice(1),
        to: number.slice(1),
        reference: index + 7,
      }),
    );
    const kept = await waitFor('all are kept', async () => {
      const rows = await query<{ sender: Buffer; content: string }[]>(
        "SELECT sender, content FROM sms_messages WHERE direction = 'inbound'",
      );
      return (
        rows.length === typed.length &&
        rows.map((row): [string, string] => [row.sender.toString(), row.content])
      );
    });
    expect(new Map(kept)).toEqual(new Map(typed.map(({ text }, index) => [from(index), text])));
    await waitFor('all parts are answered', () => smsc.answers().length === 3 + 3 * (10 + 4));
    expect(new Set(smsc.answers())).toEqual(new Set([0]));
  });
});
