/** The command that the server answered; `data` is the answer after the final dot, or to DATA itself. */
export type SmtpStage = 'mail' | 'rcpt' | 'data';

/** `report`: a refusal in a delivery report, where the answered command is not known or does not count. */
export type SmtpReply = { stage: SmtpStage | 'report'; code: number; enhanced: string | null; text: string };

type SmtpVerdict = {
  /** retry: nothing is decided yet; `category` and `code` are the result when the retries are used up. */
  outcome: 'retry' | 'fail';
  category: 'hard_bounce' | 'soft_bounce' | 'rejected' | 'failed';
  code: string;
  /** Sending again later may succeed. */
  retryable: boolean;
  /** The mailbox does not exist: nothing more is to be sent there. */
  suppress: boolean;
};

type ReplyRule = {
  stages?: SmtpReply['stage'][];
  /** First digits of the reply code: 5 is any 5xx. */
  reply: number | number[];
  /** Enhanced status code (RFC 3463) without its class: 1.1, or 7 for any 7.x. null: the server sent none. */
  enhanced?: string[] | null;
  text?: RegExp;
  verdict: SmtpVerdict;
};

const noMailbox = (code: string): SmtpVerdict => ({
  outcome: 'fail',
  category: 'hard_bounce',
  code,
  retryable: false,
  suppress: true,
});
const rejected = (code: string, retryable = false): SmtpVerdict => ({
  outcome: 'fail',
  category: 'rejected',
  code,
  retryable,
  suppress: false,
});
/** A full mailbox exists, and may have room again later (API decisions §7). */
const mailboxFull: SmtpVerdict = {
  outcome: 'fail',
  category: 'soft_bounce',
  code: 'mailbox_full',
  retryable: true,
  suppress: false,
};
const retry = (code: string): SmtpVerdict => ({
  outcome: 'retry',
  category: 'soft_bounce',
  code,
  retryable: true,
  suppress: false,
});

// Words that tell the meaning of an answer without an enhanced code. The reply code alone does not tell it: a 550 means
// an unknown mailbox, but also any policy.
const says = {
  relay: /\brelay/i,
  sender: /\bsender\b|verif(y|ied|ication)/i,
  full: /\bquota\b|\bfull\b|over ?limit|exceed|insufficient|storage/i,
  large: /too (big|large|long)|\bsize\b|message exceeds/i,
  authentication: /\bspf\b|\bdkim\b|\bdmarc\b|authenticat|reverse dns|\bptr\b|\brdns\b|\bhelo\b/i,
  reputation:
    /black ?list|block(ed|ing|list)?\b|\blisted\b|\brbl\b|dnsbl|spamhaus|spamcop|barracuda|sorbs|reputation|banned/i,
  content: /\bspam|unsolicited|\bjunk\b|\bbulk\b|phish|virus|malware|content/i,
  noMailbox:
    /(user|recipient|mailbox|address|account)\b.{0,80}\b(unknown|not found|not exist|unavailable|invalid|disabled|inactive)|(no such|unknown|invalid|unrout(e)?able|non-?existent) (\w+ )?(user|recipient|mailbox|address|account|person)|doesn'?t exist|not exist|no mailbox|not our customer/i,
  // Words about the sending server or the sender's domain. A host name such as mx.example.com tells nothing about them.
  origin: /(?<![\w.@-])(dns|mx|aaaa)(?![\w@-]|\.\w)|\b(ip address|your ip|mail from)\b/i,
  policy:
    /polic(y|ies)|access denied|grey ?list|rate limit|frequency|too many|throttl|(again|try|retry) later|temporar/i,
  // These words also occur in answers about an unknown mailbox: "Recipient address rejected: User unknown".
  refusal:
    /prohibit|denied|forbidden|authori[sz]|not (allowed|permitted|accepted)|reject|restrict|again|later|https?:|\btls\b|encrypt|administrat/i,
};

/** A report is about a recipient, but a bare 550 in it may be the answer to another command. */
const ofRecipient: SmtpReply['stage'][] = ['rcpt', 'report'];

/**
 * The first row that fits decides. A hard bounce suppresses the address, so only certain cases count as one (API
 * decisions §7).
 */
export const replyTable: readonly ReplyRule[] = [
  // The relay requires a login or TLS: this is a fault of our settings, never of the message (RFC 4954 §6, RFC 3207).
  {
    stages: ['mail'],
    reply: [454, 530, 534, 535, 538],
    verdict: retry('relay_login_required'),
  },

  { reply: 4, enhanced: ['3.4'], verdict: retry('message_too_large') },
  // The recipient's server was not asked yet.
  { stages: ['mail'], reply: 4, verdict: retry('relay_temporarily_refused') },
  { reply: 4, enhanced: ['2.2'], verdict: retry('mailbox_full') },
  { reply: 4, enhanced: ['7'], verdict: retry('temporarily_refused_by_policy') },
  { reply: 421, verdict: retry('server_closing') },
  { reply: 452, verdict: retry('insufficient_storage') },
  { reply: 4, verdict: retry('temporarily_refused') },

  { stages: ofRecipient, reply: 5, enhanced: ['1.1', '1.6', '1.10'], verdict: noMailbox('mailbox_unknown') },
  { stages: ofRecipient, reply: 5, enhanced: ['1.2'], verdict: noMailbox('domain_unknown') },
  { stages: ofRecipient, reply: 5, enhanced: ['1.3'], verdict: noMailbox('address_invalid') },
  { stages: ofRecipient, reply: 5, enhanced: ['2.1'], verdict: noMailbox('mailbox_disabled') },

  { reply: 5, enhanced: ['1.7', '1.8'], verdict: rejected('sender_refused') },
  { reply: 5, enhanced: ['2.2'], verdict: mailboxFull },
  { reply: 5, enhanced: ['2.3', '3.4'], verdict: rejected('message_too_large') },
  { reply: 5, enhanced: ['7.1'], text: says.relay, verdict: rejected('relay_denied') },
  {
    reply: 5,
    enhanced: ['7.20', '7.21', '7.22', '7.23', '7.24', '7.25', '7.26', '7.27'],
    verdict: rejected('authentication_failed'),
  },
  { reply: 5, enhanced: ['7'], text: says.content, verdict: rejected('content_refused') },
  { reply: 5, enhanced: ['7'], verdict: rejected('refused_by_policy') },
  { reply: 5, enhanced: ['6'], verdict: rejected('content_refused') },
  { reply: 5, enhanced: ['5.1', '5.2', '5.4'], verdict: rejected('protocol_error') },

  { reply: 552, enhanced: null, text: says.large, verdict: rejected('message_too_large') },
  { reply: 552, verdict: mailboxFull },
  { reply: 5, enhanced: null, text: says.relay, verdict: rejected('relay_denied') },
  { reply: 5, enhanced: null, text: says.sender, verdict: rejected('sender_refused') },
  { reply: 5, enhanced: null, text: says.authentication, verdict: rejected('authentication_failed') },
  { reply: 5, enhanced: null, text: says.reputation, verdict: rejected('refused_by_policy') },
  { reply: 5, enhanced: null, text: says.content, verdict: rejected('content_refused') },
  { reply: 550, enhanced: null, text: says.full, verdict: mailboxFull },
  // A server that writes "mailbox unavailable" for any 550 may give its reason after that.
  { reply: 550, enhanced: null, text: says.origin, verdict: rejected('sender_refused') },
  { reply: 550, enhanced: null, text: says.policy, verdict: rejected('refused_by_policy') },
  {
    stages: ofRecipient,
    reply: 550,
    enhanced: null,
    text: says.noMailbox,
    verdict: noMailbox('mailbox_unknown'),
  },
  { reply: 550, enhanced: null, text: says.refusal, verdict: rejected('refused_by_policy') },
  { stages: ['rcpt'], reply: 550, enhanced: null, verdict: noMailbox('mailbox_unknown') },
  { reply: [500, 501, 502, 503, 504], verdict: rejected('protocol_error') },
  { stages: ['mail'], reply: 5, verdict: rejected('sender_refused') },
  { stages: ofRecipient, reply: 5, verdict: rejected('recipient_refused') },
  { reply: 5, verdict: rejected('message_refused') },
];

/** The meaning of a refusal for the email and for its recipient. */
export function verdictOf(answer: SmtpReply): SmtpVerdict {
  const row = replyTable.find((candidate) => fits(candidate, answer));
  // RFC 5321 allows only 4xx and 5xx here. The server may answer correctly next time.
  return row?.verdict ?? retry('unexpected_reply');
}

function fits(row: ReplyRule, answer: SmtpReply): boolean {
  return (
    (!row.stages || row.stages.includes(answer.stage)) &&
    [row.reply].flat().some((code) => code === answer.code || code === Math.floor(answer.code / 100)) &&
    (row.enhanced === undefined || fitsEnhanced(row.enhanced, answer.enhanced)) &&
    (!row.text || row.text.test(answer.text))
  );
}

function fitsEnhanced(wanted: string[] | null, enhanced: string | null): boolean {
  if (wanted === null || enhanced === null) return wanted === enhanced;
  const detail = enhanced.slice(enhanced.indexOf('.') + 1);
  return wanted.some((one) => detail === one || (!one.includes('.') && detail.startsWith(`${one}.`)));
}

/**
 * Returns an answer as it counts in a report. `stage`: the answered command; null if unknown. The command counts only
 * for a bare 550. An enhanced code in a report decides without it (API decisions §7), and other codes would be read as
 * answers of our own relay.
 */
export function asReported(answer: Omit<SmtpReply, 'stage'>, stage: SmtpStage | null): SmtpReply {
  const isBare550 = answer.code === 550 && answer.enhanced === null;
  return { stage: (isBare550 && stage) || 'report', ...answer };
}

/** The enhanced status code at the start of a reply's text (RFC 2034), if it agrees with the reply code. */
export function enhancedCodeOf(reply: string): string | null {
  const found = /^([245])\d\d[ -]([245]\.\d{1,3}\.\d{1,3})(?=\s|$)/.exec(reply);
  return found && found[2]?.startsWith(found[1] as string) ? found[2] : null;
}

/**
 * Returns a reply as one line for records and logs, cut at 1,000 characters. RFC 5321 §4.5.3.1.5 allows 512 bytes for
 * a line.
 */
export function inOneLine(reply: string): string {
  return reply
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, 1000)
    .toWellFormed();
}
