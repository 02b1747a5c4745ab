import { messagesNotTaken } from '../../../shared/transports/sms/smpp/not-taken.ts';
import type { ShortMessage } from '../../../shared/transports/sms/smpp/pdu.ts';
import { openSession, type SessionOptions } from '../../../shared/transports/sms/smpp/session.ts';
import { atEnd } from '../../support/runner/at-end.ts';
import type { Smsc } from '../../support/servers/smsc.ts';

export const message: ShortMessage = {
  source: { ton: 5, npi: 0, address: 'Acme' },
  destination: { ton: 1, npi: 1, address: '447400000001' },
  esmClass: 0,
  validityPeriod: '',
  registeredDelivery: 1,
  dataCoding: 0,
  message: Buffer.from('Hi'),
  tlvs: new Map(),
};

/** Opens a session with the played carrier, which ends with the test file. */
export async function bound(smsc: Smsc, changes: Partial<SessionOptions> = {}) {
  const reasons: string[] = [];
  const delivered: ShortMessage[] = [];
  const session = await openSession({
    host: '127.0.0.1',
    port: smsc.port,
    isTls: false,
    systemId: 'acme',
    password: 'secret',
    systemType: '',
    bind: 'transceiver',
    window: 2,
    responseMs: 20_000,
    enquireMs: 60_000,
    onDeliver: async (one) => {
      delivered.push(one);
      return { status: 0 };
    },
    notTaken: messagesNotTaken('carrier'),
    onClosed: (reason) => void reasons.push(reason),
    ...changes,
  });
  atEnd(() => session.close(0));
  return { session, reasons, delivered };
}
