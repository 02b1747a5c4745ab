import { asReported, enhancedCodeOf, inOneLine, type SmtpReply, type SmtpStage } from '../smtp-reply.ts';
import { addressesOf, type Fields, fieldGroups, firstOf } from './fields.ts';

const actions = ['failed', 'delayed', 'delivered', 'relayed', 'expanded'] as const;

/** The outcome for one recipient (RFC 3464 §2.3). */
export type RecipientStatus = {
  action: (typeof actions)[number];
  /** The address that the email was for, and the address where it ended, each in all forms that may be meant. */
  addresses: string[];
  /** The server's answer, as far as the report tells. */
  reply: SmtpReply;
};

/** The recipients in a message/delivery-status. `explanation` is the part of the report that is for people. */
export function recipientsOf(status: string, explanation: string): RecipientStatus[] {
  const groups = fieldGroups(status).filter((group) => group.has('final-recipient') && group.has('action'));
  // The explanation names the answered command but no recipient, so it counts only when there is a single recipient.
  const stage = groups.length === 1 ? stageIn(explanation) : null;
  return groups.flatMap((group) => recipientOf(group, stage) ?? []);
}

/** Returns the command that was answered, in the words of Postfix and Exim; null: none is named, or several are. */
function stageIn(explanation: string): SmtpStage | null {
  const named = explanation
    // Postfix breaks its lines anywhere between two words.
    .replace(/\s+/g, ' ')
    .matchAll(
      /\b(?:in reply to|after|response to) (?:pipelined )?(?:(mail) from|(rcpt) to|(?:end of )?(data))\b/gi,
    );
  const found = new Set([...named].map(([, ...names]) => names.find(Boolean)!.toLowerCase() as SmtpStage));
  const [stage] = found;
  return found.size === 1 ? stage! : null;
}

function recipientOf(group: Fields, stage: SmtpStage | null): RecipientStatus | null {
  const named = /^[a-z]+/i.exec(firstOf(group, 'action') ?? '')?.[0].toLowerCase();
  const action = actions.find((one) => one === named);
  if (!action) return null;
  const addresses = ['original-recipient', 'final-recipient'].flatMap((name) =>
    addressesOf(firstOf(group, name) ?? ''),
  );
  return { action, addresses: [...new Set(addresses)], reply: replyOf(group, stage) };
}

/**
 * Builds the reply. The status code counts, because it is what the reporting server understood; the diagnosis adds the
 * rest.
 */
function replyOf(group: Fields, stage: SmtpStage | null): SmtpReply {
  const given = firstOf(group, 'diagnostic-code') ?? '';
  const [, type, text] = /^([\w-]+)[ \t]*;[ \t]*(.*)$/s.exec(given) ?? [null, '', given];
  const diagnosis = inOneLine(text ?? '');
  const isSmtp = type?.toLowerCase() === 'smtp';
  const status = /^[245]\.\d{1,3}\.\d{1,3}(?=\s|\(|$)/.exec(firstOf(group, 'status') ?? '')?.[0] ?? null;
  const said = isSmtp ? /^[245]\d\d(?=[ -]|$)/.exec(diagnosis)?.[0] : undefined;
  const answered = said ? enhancedCodeOf(diagnosis) : null;
  const isVague = status === null || status.endsWith('.0.0');
  // Exim writes 5.0.0 when it gives up, even if all answers were temporary.
  const isTemporary = isVague && said?.startsWith('4');
  const digit = isTemporary ? '4' : (status?.[0] ?? said?.[0] ?? '5');
  const enhanced = isVague ? answered : status;
  const isSaid = said?.startsWith(digit) ?? false;
  const answer = {
    code: isSaid ? Number(said) : Number(`${digit}50`),
    enhanced: enhanced?.startsWith(digit) ? enhanced : null,
    text: diagnosis || (status ?? ''),
  };
  return asReported(answer, isSaid ? stage : null);
}
