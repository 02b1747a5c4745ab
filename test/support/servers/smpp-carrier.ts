import { onTestFinished } from 'vitest';
import { gatewayList } from '../../../shared/config/sms-gateways.ts';
import * as smsGateways from '../../../shared/domain/sms/gateways/gateways.ts';
import type { ShortMessage } from '../../../shared/transports/sms/smpp/pdu.ts';
import { changeSettings } from '../processes/settings.ts';
import { waitFor } from '../time/wait-for.ts';
import type { Smsc } from './smsc.ts';

/** Makes the played carrier the gateway of British numbers until the test ends, and binds this process to it. */
export async function useCarrier(smsc: Smsc, changes: object = {}): Promise<void> {
  const list = [
    {
      name: 'carrier',
      type: 'smpp',
      url: `smpp://acme:secret@127.0.0.1:${smsc.port}`,
      countries: ['GB'],
      ...changes,
    },
  ];
  changeSettings({ SMS_GATEWAYS: gatewayList.parse(JSON.stringify(list)) });
  onTestFinished(() => smsGateways.stop());
  smsGateways.start();
  await waitFor('the process is bound', () => smsc.binds.length > 0);
}

export const receipt = (id: string, stat = 'DELIVRD'): Partial<ShortMessage> => ({
  esmClass: 4,
  message: Buffer.from(
    `id:${id} sub:001 dlvrd:001 submit date:2611240900 done date:2611240901 stat:${stat} err:000`,
  ),
});

/** A text from a person to a number, both in E.164. */
export const textFrom = (
  person: string,
  number: string,
  message: Buffer,
  changes: Partial<ShortMessage> = {},
): Partial<ShortMessage> => ({
  source: { ton: 1, npi: 1, address: person.slice(1) },
  destination: { ton: 1, npi: 1, address: number.slice(1) },
  message,
  ...changes,
});
