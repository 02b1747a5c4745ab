import { createSecretKey } from 'node:crypto';
import { Problem } from '../../../shared/common/errors.ts';
import { readLink } from '../../../shared/domain/email/tracking/links.ts';
import { decodeCursor } from '../../../shared/domain/requests/cursors.ts';
import { verify } from '../../../shared/domain/requests/signatures.ts';
import { decodeBase64, decodeBase64Pieces, NotBase64 } from '../../../shared/formats/base64.ts';
import { parseMailbox } from '../../../shared/formats/email/address.ts';
import { judgeAlias, judgeDkim, judgeDmarc, judgeSpf } from '../../../shared/formats/email/dns-records.ts';
import { asciiDomain } from '../../../shared/formats/email/domain-name.ts';
import { cleanFilename } from '../../../shared/formats/email/mime-message.ts';
import { fold, foldCase, foldWhole, wordsOf } from '../../../shared/formats/folded-text.ts';
import { moneyText, parseMoney } from '../../../shared/formats/money.ts';
import { networkIn, webhookUrlProblem } from '../../../shared/formats/network-address.ts';
import { verifyContentDigest } from '../../../shared/formats/signatures/content-digest.ts';
import { parseSignature, parseSignatureInput } from '../../../shared/formats/signatures/http-signature.ts';
import { parsePublicKey } from '../../../shared/formats/signatures/public-key.ts';
import { adapt, partsOf } from '../../../shared/formats/sms/gsm-7.ts';
import { parsePhoneNumber } from '../../../shared/formats/sms/phone-number.ts';
import { parsePriceFile } from '../../../shared/formats/sms/price-file.ts';
import { parseSenderName } from '../../../shared/formats/sms/sender-name.ts';
import { strftime } from '../../../shared/formats/templates/strftime.ts';
import { retryAfterSeconds } from '../../../shared/transports/webhook-http/retry-after.ts';
import { oddNumber, oneOf } from '../grammar.ts';
import * as lines from '../grammars/lines.ts';
import { claim, claimEqual, kib, ofText, orRefused, type Target } from './target.ts';

const caller = {
  workspaceId: 'workspace',
  keyId: 'fuzz',
  lineageId: 'fuzz',
  kind: 'api_key',
  scopes: new Set<never>(),
  apiVersion: null,
  strictMode: true,
  signing: {
    algorithm: 'hmac_sha256',
    keys: [{ key: createSecretKey(Buffer.from('sig_secret')), until: null }],
  },
} as const;

function checkSignature(text: string): void {
  const [input = '', value = '', digest = ''] = text.split('\n');
  for (const { params, label } of parseSignatureInput(input, 4) ?? [])
    if (params !== null) {
      const again = parseSignatureInput(`${label}=${params}`, 4);
      // The library reads dates (RFC 9651) only at the end of a field, and RFC 9421 has no dates.
      claim(again === null || again[0]?.params === params, 'the canonical form is not canonical');
    }
  parseSignature(value, 4);
  const headers: Record<string, string> = {
    'signature-input': input,
    signature: value,
    'content-digest': digest,
    'content-type': 'application/json',
  };
  const request = { method: 'POST', authority: 'a.example', path: '/v2/email', query: '?' };
  try {
    verify({ ...request, header: (name) => headers[name] }, caller);
  } catch (error) {
    if (!(error instanceof Problem && error.code === 'signature_invalid')) throw error;
    return;
  }
  throw new Error('a signature that nobody made is good');
}

/** Decodes an attachment in pieces, which must give the same bytes as the whole. */
async function decodeInPieces(bytes: Buffer): Promise<void> {
  const length = 1 + (bytes.length % 13);
  async function* pieces() {
    for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
  }
  const decoded: Buffer[] = [];
  try {
    for await (const piece of decodeBase64Pieces(pieces())) decoded.push(Buffer.from(piece));
  } catch (error) {
    if (!(error instanceof NotBase64)) throw error;
    claim(decodeBase64(bytes.toString('latin1')) === null, 'in pieces it is refused');
    return;
  }
  claimEqual(
    Buffer.concat(decoded),
    decodeBase64(bytes.toString('latin1')),
    'in pieces it is something else',
  );
}

async function readPrices(text: string): Promise<void> {
  const file = await parsePriceFile(text);
  if (file.ok)
    for (const { gbp, eur, validFrom } of file.prices)
      claim(![gbp, eur].some(Number.isNaN) && validFrom.getTime() > 0, 'a price that is none');
  else claim(Object.keys(file.errors).length > 0, 'it is refused without a reason');
}

const byText = (
  name: string,
  grammar: Target['grammar'],
  mostBytes: number,
  read: (text: string) => unknown,
): Target => ({ name, grammar, mostBytes, read: ofText(read) });

/** The longest text of one field of a body where the schema gives no lower limit. */
const field = 4 * kib;

export const lineTargets: Target[] = [
  {
    ...byText('prices', lines.csv, 16 * kib, readPrices),
    // An operator loads prices by a command, and no request waits for it. All countries take 10 kB.
    mostMs: 1_000,
  },
  byText('signature', lines.signature, 12 * kib, checkSignature),
  byText('content-digest', lines.digest, 16 * kib, (text) => {
    claim(
      !verifyContentDigest(text, 'x') || text.includes('LXEWQrcmsEQBYnyp+6wy9chTD7GQPMTbAiWHF5IaSIE'),
      'a digest of something else',
    );
  }),
  byText('mailbox', lines.mailboxText, field, (text) => {
    const parsed = parseMailbox(text, { allowDisplayName: true });
    if (!parsed.ok) return;
    const { address, displayName } = parsed.mailbox;
    claim(!/[\p{Cc}<>]/u.test(address) && !/\p{Cc}/u.test(displayName ?? ''), 'it holds a control character');
    const again = parseMailbox(address, { allowDisplayName: false });
    claim(again.ok && again.mailbox.address === address, 'what was read of it is refused');
  }),
  byText('domain', lines.host, field, (text) => {
    const domain = asciiDomain(text);
    if (domain !== null) claim(asciiDomain(domain) === domain, 'what was read of it is another domain');
    networkIn(text);
  }),
  byText('phone', lines.phone, field, (text) => {
    const parsed = parsePhoneNumber(text);
    if (!parsed.ok) return;
    claim(/^\+\d{3,15}$/.test(parsed.number), 'a number that is not E.164');
    const again = parsePhoneNumber(parsed.number);
    claim(again.ok && again.number === parsed.number, 'what was read of it is another number');
  }),
  byText('webhook-url', lines.url, field, (text) => {
    if (webhookUrlProblem(text) !== null) return;
    const { protocol, username, hostname } = new URL(text);
    claim(
      /^https?:$/.test(protocol) && username === '' && hostname !== '',
      'an address that is not for a webhook',
    );
  }),
  byText('public-key', lines.pem, field, (text) => {
    const parsed = parsePublicKey(text);
    if ('pem' in parsed) claimEqual(parsePublicKey(parsed.pem), parsed, 'what was read of it is another key');
  }),
  byText('sender-name', lines.name, field, (text) => {
    const parsed = parseSenderName(text);
    if (parsed.ok) claimEqual(parseSenderName(parsed.name), parsed, 'what was read of it is another name');
  }),
  byText('money', lines.money, field, (text) => {
    const amount = parseMoney(text);
    if (amount !== null)
      claim(parseMoney(moneyText(amount)) === amount, 'what was read of it is another amount');
  }),
  byText('dns', lines.dns, 64 * kib, (text) => {
    const texts = text.split('\n');
    judgeDkim(texts, 'v=DKIM1; k=rsa; p=MIGf');
    judgeSpf(texts, 'spf.example');
    judgeDmarc(texts);
    judgeAlias(texts, 'a.example');
  }),
  byText('sms', lines.sms, 64 * kib, (text) => {
    const { encoding, parts } = partsOf(text);
    claim(parts.join('') === text, 'the parts are not the text');
    const most = encoding === 'ucs2' ? 70 : 160;
    claim(
      parts.every(({ length }) => length <= most),
      'a part that is too long',
    );
    const adapted = adapt(text, 'strip');
    if (adapted.ok)
      claim(partsOf(adapted.text).encoding === 'gsm7', 'without its other characters it is not GSM 7');
    adapt(text, 'deny');
  }),
  byText('folded-text', lines.name, 64 * kib, (text) => {
    for (const change of [fold, foldCase, foldWhole]) change(text);
    for (const one of wordsOf(text)) claim(wordsOf(one).length <= 1, 'a word of several words');
  }),
  { name: 'base64-pieces', grammar: lines.base64, mostBytes: 256 * kib, read: decodeInPieces },
  byText('retry-after', oneOf(lines.name, oddNumber, 'Mon, 23 Nov 2026 10:00:00 GMT'), field, (text) => {
    const seconds = retryAfterSeconds(text, new Date('2026-11-23T09:00:00Z'));
    claim(seconds >= 0 && Number.isFinite(seconds), 'a time to wait that is none');
  }),
  byText('base64', lines.base64, 256 * kib, (text) => {
    const bytes = decodeBase64(text);
    if (bytes) claim(bytes.toString('base64') === text, 'another text has the same bytes');
  }),
  byText('filename', lines.name, field, (text) => {
    claim(!/[\p{Cc}/\\]/u.test(cleanFilename(text)), 'a file name with a path or control characters');
  }),
  byText('date-format', oneOf('%Y-%m-%d', '%-^10B', '%:z %s %L', lines.name), field, (text) => {
    try {
      strftime(new Date(0), `${text}%${text}`);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
    }
  }),
  byText('cursor', lines.base64, field, (text) => {
    claim(
      orRefused(() => decodeCursor({ workspaceId: 'a', listing: 'b' }, text)) === null,
      'a cursor that nobody made is good',
    );
    claim(readLink('open', text) === null, 'a link that nobody made is good');
  }),
];
