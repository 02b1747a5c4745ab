import { asReported, enhancedCodeOf, inOneLine, type SmtpReply, type SmtpStage } from '../smtp-reply.ts';
import type { RecipientStatus } from './delivery-status.ts';
import { addressesOf } from './fields.ts';

const mostParagraphs = 100;

/**
 * The recipients in a bounce of qmail, which is text with a fixed form (QSBMF): an opening that says so, then a
 * paragraph for each recipient that begins with `<address>:`. Empty for any other text.
 */
export function qmailRecipientsOf(text: string): RecipientStatus[] {
  const paragraphs = text.slice(0, 64_000).split(/\r?\n[ \t]*\r?\n/);
  if (!/^\s*Hi\. This is the\b/.test(paragraphs[0] ?? '')) return [];
  return paragraphs.slice(1, 1 + mostParagraphs).flatMap((paragraph) => {
    const [, address, reason] = /^\s*<([^<>\s]+)>:\s*(.*)$/s.exec(paragraph) ?? [];
    if (!address || reason === undefined) return [];
    return [{ action: 'failed' as const, addresses: addressesOf(address), reply: replyOf(reason) }];
  });
}

/** The words of qmail before the other server's answer. */
const stages: [RegExp, SmtpStage][] = [
  [/sender was rejected/i, 'mail'],
  [/does not like recipient/i, 'rcpt'],
  [/failed on DATA command|failed after I sent the message/i, 'data'],
];

/** The other server's answer, else qmail's own words, which end in a code such as (#5.1.1). */
function replyOf(reason: string): SmtpReply {
  const [, before = '', said] = /^(.*?)Remote host said:\s*([45]\d\d[ -].*)$/s.exec(reason) ?? [];
  const text = inOneLine(said ?? reason);
  if (said) {
    const [, stage = null] = stages.find(([words]) => words.test(before)) ?? [];
    return asReported({ code: Number(said.slice(0, 3)), enhanced: enhancedCodeOf(text), text }, stage);
  }
  const enhanced = /\(#([45]\.\d{1,3}\.\d{1,3})\)/.exec(text)?.[1] ?? null;
  return { stage: 'report', code: Number(`${enhanced?.[0] ?? '5'}50`), enhanced, text };
}
