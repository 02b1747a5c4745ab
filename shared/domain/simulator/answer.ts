import { transaction } from '../../db/client.ts';
import * as db from '../../db/simulator/answers.system.ts';
import type { SmsReason } from '../../schemas/sms/sms.ts';
import type { WorkOutcome } from '../../work/outcome.ts';
import { againIn, againMs } from '../../work/turns.ts';
import * as inbound from '../sms/gateways/inbound.ts';
import { apply } from '../sms/gateways/receipts.ts';
import { permanent, transient } from '../work/reasons.ts';
import { text } from './text.ts';
import { gateway, turns } from './wake.ts';

type Manner = { report: 'delivered' | 'none' | SmsReason; reply?: string };

/** Phones that do not simply accept every text (API decisions §8). */
const manners: Record<string, Manner> = {
  '+447700900002': { report: permanent('undeliverable', 'unknown_subscriber', 'Nobody has this number') },
  '+447700900003': { report: transient('undeliverable', 'absent_subscriber', 'The phone is switched off') },
  '+447700900004': { report: transient('expired', 'expired', 'The phone could not be reached in time') },
  '+447700900005': { report: 'none' },
  '+447700900006': { report: 'delivered', reply: 'STOP' },
  '+447700900007': { report: 'delivered', reply: 'YES' },
};

/** The answers that one process works on at a time. */
const slots = 20;

const takeTurn = turns(() => slots);

/** Runs an answer's turn as soon as its workspace has a slot; answers that have ended make room for the next ones. */
export async function workOn(job: {
  reference: string;
  workspaceId?: string | undefined;
}): Promise<WorkOutcome> {
  const { reference, workspaceId } = job;
  const turn = { lane: 'default', ownerId: workspaceId, id: reference } as const;
  return (await takeTurn(turn, () => answer(reference))) ?? againIn(againMs);
}

/**
 * Plays the phone's reaction to a text that the simulator took: a report, and a reply from a phone that replies.
 * Idempotent: however often it runs, there is one reply.
 */
export async function answer(reference: string): Promise<WorkOutcome> {
  const due = await db.findAnswer(reference);
  if (!due) return 'dropped';
  const { report, reply } = manners[due.number] ?? { report: 'delivered' };
  if (report !== 'none') await apply({ gateway, reference, reason: report === 'delivered' ? null : report });
  if (reply !== undefined) await inbound.expect(due.workspaceId, { from: due.number, to: due.sender });
  await transaction(async () => {
    if (!(await db.deleteAnswer(reference)) || reply === undefined) return;
    await text(due.workspaceId, { from: due.number, to: due.sender, content: reply });
  });
  return 'done';
}
