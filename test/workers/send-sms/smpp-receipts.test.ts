import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { logger } from '../../../shared/common/logger.ts';
import type { ShortMessage } from '../../../shared/transports/sms/smpp/pdu.ts';
import { countOf } from '../../support/database/counts.ts';
import { useDatabase } from '../../support/database/database.ts';
import { useCarrier } from '../../support/servers/smpp-carrier.ts';
import { type Smsc, startSmsc } from '../../support/servers/smsc.ts';

useDatabase();

let smsc: Smsc;
beforeEach(async () => {
  smsc = await startSmsc();
  onTestFinished(() => smsc.close());
  await useCarrier(smsc);
});

async function report(message: Partial<ShortMessage>): Promise<void> {
  expect(await smsc.answerOf(smsc.deliver(message))).toBe(0);
}

test('a receipt that cannot be read is answered, counted and told to the operator', async () => {
  const warn = vi.spyOn(logger, 'warn');
  onTestFinished(() => warn.mockRestore());
  const counted = () => countOf('sms_gateway_unread{gateway="carrier",what="receipt"}');
  const before = await counted();
  for (const words of ['stat:DELIVRD', 'id:7']) await report({ esmClass: 4, message: Buffer.from(words) });
  expect(await counted()).toBe(before + 2);
  const lines = (warn.mock.calls as unknown[][]).filter(([, line]) =>
    String(line).includes('cannot be read'),
  );
  expect(lines).toEqual([
    [{ gateway: 'carrier', what: 'receipt', detail: 'it names no message or no state' }, expect.anything()],
  ]);
});
