import { count } from '../../common/metrics.ts';
import { afterCommit } from '../../db/client.ts';
import { insertSms } from '../../db/sms/messages.ts';
import type { Caller } from '../../schemas/scopes.ts';
import type { SmsMessage } from '../../schemas/sms/sms.ts';
import * as keyUsage from '../api-keys/usage.ts';
import * as conversations from '../conversations/conversations.ts';
import * as events from '../events/events.ts';
import { show } from '../requests/visibility.ts';
import * as waiting from '../work/waiting.ts';
import * as balance from './balance.ts';
import { admit } from './delivery/admission.ts';
import { held } from './held.ts';
import type { PreparedSms } from './prepare.ts';
import { eventOf, toWire } from './record.ts';
import * as shortLinks from './short-links/short-links.ts';

/**
 * Stores the message and its first event, takes its cost off the balance and its parts off the limits of the key, and
 * wakes a worker once all of it is committed.
 */
export async function send(caller: Caller, { message: prepared, links }: PreparedSms): Promise<SmsMessage> {
  const { workspaceId, parts, createdAt } = prepared;
  const charged = await balance.charge(prepared);
  const message = charged === null ? held(prepared) : admit({ ...prepared, charged });
  await insertSms(workspaceId, message);
  await shortLinks.store(workspaceId, [{ smsId: message.id, createdAt, links }]);
  // Acceptance is the first event of every text (API decisions §5), also of a text that is held at once.
  if (message.status === 'held') await events.record(workspaceId, eventOf(prepared));
  await events.record(workspaceId, eventOf(message));
  await keyUsage.reserve(caller, parts, createdAt);
  await conversations.addSent(workspaceId, [message]);
  await waiting.checkAtCommit(workspaceId, { messages: 1, bytes: 0 });
  afterCommit(() => count('sms_accepted', { status: message.status }));
  return show(caller, toWire(message));
}
