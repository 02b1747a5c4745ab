import { now } from '../../common/clock.ts';
import { insertSimulatorMessage } from '../../db/simulator/messages.ts';
import type { SmsRecord } from '../../db/sms/messages.ts';
import { partsOf } from '../../formats/sms/gsm-7.ts';
import * as inbound from '../sms/gateways/inbound.ts';

/** Receives a text from one of the simulator's phones to the workspace, in the current transaction. */
export async function text(workspaceId: string, given: inbound.InboundText): Promise<SmsRecord> {
  const message = await inbound.receive(workspaceId, given);
  await insertSimulatorMessage(workspaceId, {
    number: given.from,
    direction: 'inbound',
    sender: given.to,
    content: given.content,
    parts: partsOf(given.content).parts.length,
    createdAt: now(),
  });
  return message;
}
