import { type FieldErrors, invalid, problem } from '../../common/errors.ts';
import type { Usable } from '../../common/faults.ts';
import { findDefaultSender, findSenderByKey } from '../../db/senders/senders.ts';
import * as db from '../../db/simulator/messages.ts';
import { findLastSmsTo } from '../../db/sms/messages.ts';
import { dramaMobiles, parsePhoneNumber } from '../../formats/sms/phone-number.ts';
import { numberOfName, senderKeysOf } from '../../formats/sms/sender-name.ts';
import type { PageQuery } from '../../schemas/fields.ts';
import type { Caller } from '../../schemas/scopes.ts';
import { SimulatorPhone, type SimulatorText, textsShown } from '../../schemas/simulator.ts';
import type { SmsMessage } from '../../schemas/sms/sms.ts';
import { gatewayFor, isAllSimulated } from '../../transports/sms.ts';
import { type CursorPage, keysetPageById, mapPage } from '../requests/keyset-pages.ts';
import { show } from '../requests/visibility.ts';
import { wireOf } from '../requests/wire.ts';
import type { InboundText } from '../sms/gateways/inbound.ts';
import * as inbound from '../sms/gateways/inbound.ts';
import { toWire } from '../sms/record.ts';
import { text } from './text.ts';
import { gateway } from './wake.ts';

export async function list({ workspaceId }: Caller, page: PageQuery): Promise<CursorPage<SimulatorPhone>> {
  const binding = { workspaceId, listing: 'simulator-phones' };
  // Once another gateway carries texts, other numbers belong to people: nobody must read a code for one of them here.
  const range = isAllSimulated() ? null : dramaMobiles;
  return mapPage(
    keysetPageById(binding, page, (place) => db.listSimulatorPhones(workspaceId, { ...place, range })),
    (phones) => phonesToWire(workspaceId, phones),
  );
}

async function phonesToWire(workspaceId: string, phones: db.PhoneRecord[]): Promise<SimulatorPhone[]> {
  const numbers = phones.map(({ number }) => number);
  const texts = await db.listSimulatorMessages(workspaceId, numbers, textsShown);
  return phones.map((phone) => phoneToWire(phone, texts.get(phone.number) ?? []));
}

function phoneToWire(phone: db.PhoneRecord, texts: db.SimulatorMessageRecord[]): SimulatorPhone {
  const { number } = phone;
  const messages = texts.map(({ direction, sender, content, parts, createdAt }) => ({
    direction,
    from: direction === 'outbound' ? sender : number,
    to: direction === 'outbound' ? number : sender,
    content,
    parts,
    createdAt: createdAt.toISOString(),
  }));
  return wireOf(SimulatorPhone, { ...phone, messages });
}

const atOnce = 1_000;

/**
 * Deletes all phones and their texts. The phones go first: a hand-over at this moment either has its text deleted too,
 * or waits and makes a new phone. Call it in a transaction.
 */
export async function clear({ workspaceId }: Caller): Promise<void> {
  for (const some of [db.deleteSimulatorPhones, db.deleteSimulatorMessages])
    while ((await some(workspaceId, atOnce)) === atOnce);
}

/**
 * Finds the recipient of a text from the phone with this number, and does all that comes before the transaction that
 * receives it.
 */
export async function prepare(
  caller: Caller,
  phoneNumber: string,
  { content, to }: SimulatorText,
): Promise<InboundText> {
  const phone = parsePhoneNumber(phoneNumber);
  if (!phone.ok || gatewayFor({ sender: '', recipient: phone.number })?.name !== gateway)
    throw problem('not_found', {
      detail: 'The simulator has no phone with this number. Its numbers are 07700 900000 to 07700 900999',
    });
  const address = await addressOf(caller.workspaceId, phone.number, to ?? null);
  const given = { from: phone.number, to: address, content };
  await inbound.expect(caller.workspaceId, given);
  return given;
}

/** Receives a text from one of the phones, as if somebody had typed it there. */
export async function receive(caller: Caller, given: InboundText): Promise<SmsMessage> {
  return show(caller, toWire(await text(caller.workspaceId, given)));
}

/** Returns the recipient of a phone's text: the named sender, the sender of the phone's last text, or the default. */
async function addressOf(workspaceId: string, from: string, to: string | null): Promise<string> {
  if (to === null) {
    const last = await findLastSmsTo(workspaceId, from, new Date(0));
    const name = last?.sender ?? (await findDefaultSender(workspaceId))?.name;
    if (name == null) throw invalid('to', 'is required, because the workspace has no default sender');
    return numberOfName(name) ?? name;
  }
  const sender = await senderNamed(workspaceId, to);
  if (sender === null) throw invalid('to', notApproved);
  return sender;
}

const notApproved = 'is not an approved sender of this workspace';

/** Returns the faults for which `prepare` would refuse a request. Skips fields of the wrong shape. */
export async function faultsOf({ workspaceId }: Caller, { to }: Usable<SimulatorText>): Promise<FieldErrors> {
  return to == null || (await senderNamed(workspaceId, to)) !== null ? {} : { to: [notApproved] };
}

async function senderNamed(workspaceId: string, name: string): Promise<string | null> {
  for (const key of senderKeysOf(name)) {
    const sender = await findSenderByKey(workspaceId, key);
    if (sender?.status === 'approved' && sender.name !== null)
      return numberOfName(sender.name) ?? sender.name;
  }
  return null;
}
