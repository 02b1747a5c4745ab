import { createHash, generateKeyPairSync, hash, type KeyObject, sign } from 'node:crypto';
import type { MessageParts } from './mime-message.ts';

export type DkimSigner = {
  domain: string;
  selector: string;
  privateKey: KeyObject;
  /** The time in t=. A re-send uses the same time, so that its bytes are the same. */
  signedAt: Date;
};

// h= names each field once more than it occurs, so that a field added on the way breaks the signature: a mail program
// may show the first of two fields, which nobody has signed (RFC 6376 §8.15). The list is that of §5.4.1 and the
// fields that tell how to read the body. RFC 8058 §4 requires List-Unsubscribe and List-Unsubscribe-Post. Resent-*
// and Sender are absent, because servers that forward a message add them in good faith.
const signedFields = [
  'from',
  'reply-to',
  'to',
  'cc',
  'subject',
  'date',
  'message-id',
  'in-reply-to',
  'references',
  'mime-version',
  'content-type',
  'content-transfer-encoding',
  'list-id',
  'list-unsubscribe',
  'list-unsubscribe-post',
];

const CR = 0x0d;
const LF = 0x0a;
const SPACE = 0x20;
const TAB = 0x09;

/**
 * Returns the message with a DKIM-Signature in front (RFC 6376; rsa-sha256, relaxed/relaxed). The same input gives
 * the same bytes. The RSA work runs on the thread pool.
 */
export async function signMessage(message: Buffer, signer: DkimSigner): Promise<Buffer> {
  const headerEnd = message.indexOf('\r\n\r\n');
  if (headerEnd < 0) throw new TypeError('The message has no empty line after its headers');
  const bodyHash = hash('sha256', relaxedBody(message.subarray(headerEnd + 4)), 'base64');
  const field = await signatureField(message.toString('latin1', 0, headerEnd), bodyHash, signer);
  return Buffer.concat([Buffer.from(field, 'latin1'), message]);
}

/** Signs, like `signMessage`, a message that is built while it is sent. Reads its attachments once to hash them. */
export async function signParts({ head, body }: MessageParts, signer: DkimSigner): Promise<MessageParts> {
  const bodyHash = await hashPieces(body);
  return { head: `${await signatureField(head.slice(0, -2), bodyHash, signer)}${head}`, body };
}

/** `headers` without the line end of the last. */
async function signatureField(headers: string, bodyHash: string, signer: DkimSigner): Promise<string> {
  if (!/^[\w.-]+$/.test(`${signer.domain}${signer.selector}`))
    throw new TypeError('Not a DKIM domain and selector');
  const fields = relaxedFields(headers);
  const named = signedFields.flatMap((name) => [...(fields.get(name) ?? []).map(() => name), name]);
  const unsigned = [
    `DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=${signer.domain};`,
    ` s=${signer.selector}; t=${Math.floor(signer.signedAt.getTime() / 1000)};`,
    ` bh=${bodyHash};`,
    ` h=${named.join(':').replace(/.{40,70}:(?=.)/g, '$&\r\n ')};`,
    ' b=',
  ].join('\r\n');
  // Fields of one name are signed from the last to the first, and a name without a further field adds nothing (RFC
  // 6376 §5.4.2).
  const signedHeaders = signedFields
    .flatMap((name) => (fields.get(name) ?? []).toReversed().map((value) => `${name}:${value}\r\n`))
    .join('');
  const signature = await rsaSha256(`${signedHeaders}${relaxedField(unsigned).join(':')}`, signer.privateKey);
  return `${unsigned}${inLines(signature)}\r\n`;
}

/** The private half as PEM (PKCS #8), the public half as the value of its TXT record. */
export type DkimKey = { privateKeyPem: string; publicKeyTxt: string };

/** Makes a new key. This blocks its thread for a tenth of a second, at times for a whole second. */
export function generateDkimKey(): DkimKey {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'der' },
  });
  return { privateKeyPem: privateKey, publicKeyTxt: `v=DKIM1; k=rsa; p=${publicKey.toString('base64')}` };
}

function inLines(base64: string): string {
  return (base64.match(/.{1,72}/g) ?? []).join('\r\n ');
}

function rsaSha256(data: string, privateKey: KeyObject): Promise<string> {
  return new Promise((resolve, reject) => {
    sign('sha256', Buffer.from(data, 'latin1'), privateKey, (error, signature) =>
      error ? reject(error) : resolve(signature.toString('base64')),
    );
  });
}

/** Name -> values in relaxed form (RFC 6376 §3.4.2), in their order. */
function relaxedFields(headers: string): Map<string, string[]> {
  const fields = new Map<string, string[]>();
  for (const [name, value] of headers.split(/\r\n(?![ \t])/).map(relaxedField)) {
    const values = fields.get(name);
    if (values) values.push(value);
    else fields.set(name, [value]);
  }
  return fields;
}

function relaxedField(field: string): [name: string, value: string] {
  const colon = field.indexOf(':');
  const value = field
    .slice(colon + 1)
    .replaceAll('\r\n', '')
    .replace(/[ \t]+/g, ' ')
    .replace(/^ | $/g, '');
  return [field.slice(0, colon).trimEnd().toLowerCase(), value];
}

/** RFC 6376 §3.4.4: runs of spaces become one, spaces before a line end and empty lines at the end go away. */
function relaxedBody(body: Buffer): Buffer {
  const { out, length } = relaxedPiece(body, 0);
  // A body that does not end in a line end gets one; an empty body stays empty.
  return length === 0 ? out.subarray(0, 0) : out.subarray(0, length + lineEnd.copy(out, length));
}

const lineEnd = Buffer.from('\r\n');

async function hashPieces(pieces: MessageParts['body']): Promise<string> {
  const digest = createHash('sha256');
  // Line ends that are hashed only when another byte follows them.
  let lineEnds = 0;
  for (const piece of pieces)
    if (Buffer.isBuffer(piece)) {
      const relaxed = relaxedPiece(piece, lineEnds);
      digest.update(relaxed.out.subarray(0, relaxed.length));
      lineEnds = relaxed.lineEnds;
    } else
      for await (const lines of piece.open()) {
        for (; lineEnds > 0; lineEnds -= 1) digest.update(lineEnd);
        digest.update(lines.subarray(0, -2));
        lineEnds = 1;
      }
  return digest.update(lineEnd).digest('base64');
}

/**
 * Brings a piece of a body into relaxed form. `lineEnds`: the line ends before this piece that are not written yet.
 * The line ends at the end of the piece are counted in the result and not written. `out` has room for one more line
 * end.
 */
function relaxedPiece(body: Buffer, lineEnds: number): { out: Buffer; length: number; lineEnds: number } {
  const out = Buffer.allocUnsafe(body.length + 2 * lineEnds + 2);
  let length = 0;
  let space = false;
  for (let at = 0; at < body.length; at += 1) {
    const byte = body[at] as number;
    if (byte === SPACE || byte === TAB) {
      space = true;
    } else if (byte === CR && body[at + 1] === LF) {
      lineEnds += 1;
      space = false;
      at += 1;
    } else {
      for (; lineEnds > 0; lineEnds -= 1) {
        out[length++] = CR;
        out[length++] = LF;
      }
      if (space) out[length++] = SPACE;
      space = false;
      out[length++] = byte;
    }
  }
  return { out, length, lineEnds };
}
