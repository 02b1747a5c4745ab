/** A DKIM signature in the headers of a message (RFC 6376 §3.5): the domain and key that it claims. */
export type Signature = {
  /** In lower case. */
  domain: string;
  /** Where the key is, as a DNS name. */
  keyName: string;
};

/** RFC 6376 §6.1 lets a verifier limit the number of signatures that it checks. */
const most = 10;
const longest = 4_000;
const isName = (name: string): boolean =>
  name.length <= 253 && /^[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/.test(name);

/** Reads the signatures. Returns none when there are more than anybody would verify. */
export function signaturesIn(fields: readonly string[]): Signature[] {
  return fields.length > most ? [] : fields.flatMap((field) => signatureIn(field) ?? []);
}

function signatureIn(field: string): Signature | null {
  const tags = new Map<string, string>();
  for (const tag of field.slice(0, longest).split(';')) {
    const equals = tag.indexOf('=');
    if (equals > 0)
      tags.set(
        tag.slice(0, equals).trim(),
        tag
          .slice(equals + 1)
          .trim()
          .toLowerCase(),
      );
  }
  const domain = tags.get('d') ?? '';
  const keyName = `${tags.get('s') ?? ''}._domainkey.${domain}`;
  return isName(domain) && isName(keyName) ? { domain, keyName } : null;
}

let verifier: Promise<typeof import('mailauth/lib/dkim/verify.js')> | undefined;

/** Loads the verifier at first use: with its dependencies it takes time and memory that most processes never need. */
export function loadVerifier() {
  verifier ??= import('mailauth/lib/dkim/verify.js');
  return verifier;
}

/**
 * Returns the part of a message that one of these keys has signed: the header fields that the signature names, and
 * the whole body. Leaves out everything else, which a stranger may have added. Null when no signature verifies.
 * `keys`: the TXT records by their DNS name.
 */
export async function signedPart(
  raw: Uint8Array,
  keys: ReadonlyMap<string, readonly string[]>,
  at: Date,
): Promise<Buffer | null> {
  const { dkimVerify } = await loadVerifier();
  const message = Buffer.from(raw);
  const { results, headers } = await dkimVerify(message, {
    strict: true,
    minBitLength: 1024,
    curTime: at,
    resolver: async (name: string) => {
      const records = keys.get(name.toLowerCase());
      if (!records) throw Object.assign(new Error('No such key'), { code: 'ENOTFOUND' });
      return records.map((record) => [record]);
    },
  });
  // l= lets anybody add to the body (RFC 6376 §8.2).
  const proof = results.find(({ status }) => status.result === 'pass' && status.underSized === undefined);
  if (!proof?.signingHeaders || !headers) return null;
  const signed = proof.signingHeaders.headers.join('\r\n');
  return Buffer.concat([Buffer.from(`${signed}\r\n\r\n`), message.subarray(headers.original.length)]);
}
