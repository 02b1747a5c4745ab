import { hash } from 'node:crypto';
import { now } from '../../common/clock.ts';
import { type Problem, problem } from '../../common/errors.ts';
import { insertNonce } from '../../db/requests/nonces.system.ts';
import { type DigestOf, verifyDigests } from '../../formats/signatures/content-digest.ts';
import * as signatures from '../../formats/signatures/http-signature.ts';
import type { Caller, Signing, SigningAlgorithm } from '../../schemas/scopes.ts';

/** Verifies the HTTP message signatures of requests (RFC 9421). */

/** A request as its sender sees it. */
export type SentRequest = {
  method: string;
  authority: string;
  path: string;
  /** With its question mark. Without a query it is the question mark alone. */
  query: string;
  /** The value of a header, several lines joined by commas; undefined when it was not sent. */
  header: (lowerCaseName: string) => string | undefined;
};

/** The signer whose signature is looked for. `keyIdIs` describes its `keyid` in error messages. */
export type Signer = Pick<Caller, 'keyId' | 'signing' | 'strictMode'> & { keyIdIs?: string };

/** A request whose signature is good; the digest of its body is not checked yet. */
export type Verified = {
  keyId: string;
  covered: ReadonlySet<string>;
  contentDigest: string | undefined;
  created: number;
  nonce: string | null;
};

/** A body that is not in memory. */
type Digestible = { byteLength: number; digest: (algorithm: string) => Promise<Buffer> };

const maxAgeSeconds = 300;
const maxAheadSeconds = 60;
// A nonce is stored only after the body has arrived. So it is kept for longer than its signature is valid, by more time
// than the slowest body takes.
const nonceSlackSeconds = 600;
const mostSignatures = 4;
const longestField = 4096;

const required = ['@method', '@authority', '@path', '@query'];
const requiredWithBody = ['content-digest', 'content-type'];
const algorithmNames = {
  hmac_sha256: 'hmac-sha256',
  ecdsa_p256_sha256: 'ecdsa-p256-sha256',
} as const satisfies Record<SigningAlgorithm, string>;

/**
 * Checks all that the headers can tell, the cheapest first; null where there is no signature to check. A signature
 * covers the digest of the body and not the body, so a bad signature is refused before the body is read.
 */
export function verify(request: SentRequest, caller: Signer): Verified | null {
  const { signing } = caller;
  const inputField = signing ? request.header('signature-input') : undefined;
  const signatureField = signing ? request.header('signature') : undefined;
  if (!signing || (inputField === undefined && signatureField === undefined)) {
    if (caller.strictMode) throw problem('signature_required');
    return null;
  }
  if (inputField === undefined || signatureField === undefined)
    throw refusal('Signature-Input and Signature must both be sent.');
  const at = now();
  const input = ownInput(inputField, caller);
  const { created, nonce } = checkParameters(input, signing.algorithm, at);
  const covered = checkCoverage(input, request);
  const value = valueOf(signatureField, input.label);
  const components = [...covered].map((name) => [name, valueOfComponent(name, request)] as const);
  if (!isGood(value, signatures.signatureBase(components, input.text), signing, at))
    throw refusal('The signature does not match the request as it was received.');
  return { keyId: caller.keyId, covered, contentDigest: request.header('content-digest'), created, nonce };
}

/** Checks the body, and that the nonce is new. Nothing is stored for a request that is refused. */
export async function accept(verified: Verified, body: Uint8Array | Digestible): Promise<void> {
  const { covered, contentDigest, nonce } = verified;
  if (body.byteLength > 0) checkCovered(covered, requiredWithBody);
  if (contentDigest !== undefined && !(await verifyDigests(contentDigest, digestOf(body))))
    throw refusal('Content-Digest does not match the body.');
  if (nonce === null) return;
  const expiresAt = new Date((verified.created + maxAgeSeconds + nonceSlackSeconds) * 1000);
  if (!(await insertNonce(verified.keyId, hash('sha256', nonce, 'buffer'), expiresAt)))
    throw refusal('The nonce was used before. Use a new nonce for each request.');
}

function digestOf(body: Uint8Array | Digestible): DigestOf {
  return 'digest' in body ? body.digest : (algorithm) => hash(algorithm, body, 'buffer');
}

function refusal(detail: string): Problem {
  return problem('signature_invalid', { detail });
}

/**
 * Returns the signature that claims to be made with this key. Other signatures may be for other receivers, or be junk:
 * anybody on the way can add a label, so a signature that is not ours never makes a request fail (RFC 9421 §7.2.6).
 */
function ownInput(
  field: string,
  { keyId, keyIdIs = 'the id of this API key' }: Signer,
): signatures.SignatureInput {
  const inputs = parsed(field, 'Signature-Input', signatures.parseSignatureInput);
  const [own, another] = inputs.filter(({ parameters }) => parameters.get('keyid') === keyId);
  if (!own) throw refusal(`No signature has ${keyIdIs} as its keyid.`);
  if (another) throw refusal(`More than one signature has ${keyIdIs} as its keyid; send only one.`);
  // The signature covers the canonical form of this field. A sender that signed another form gets this clear error, and
  // two readers never read the field differently.
  if (own.text !== own.params)
    throw refusal(
      'Signature-Input is not in its canonical form (RFC 9421 §2.3). Send no parameter twice, and no extra spaces.',
    );
  return own;
}

function valueOf(field: string, label: string): Uint8Array {
  const own = parsed(field, 'Signature', signatures.parseSignature).find((each) => each.label === label);
  if (!own?.value)
    throw refusal('The header Signature has no byte sequence under the label that Signature-Input gives.');
  return own.value;
}

function parsed<T extends { label: string }>(
  field: string,
  name: string,
  parse: (field: string, mostLabels: number) => T[] | null,
): T[] {
  if (field.length > longestField) throw refusal(`${name} has more than ${longestField} characters.`);
  const members = isAscii(field) ? parse(field, mostSignatures) : null;
  if (!members) throw refusal(`${name} is not a dictionary of structured fields (RFC 9421 §4).`);
  if (members.length > mostSignatures) throw refusal(`${name} has more than ${mostSignatures} labels.`);
  if (new Set(members.map(({ label }) => label)).size < members.length)
    throw refusal(`${name} has the same label twice.`);
  return members;
}

const visible = /^[\x21-\x7e]{1,64}$/;

function checkParameters({ parameters }: signatures.SignatureInput, algorithm: SigningAlgorithm, at: Date) {
  const created = parameters.get('created');
  const seconds = Math.floor(at.getTime() / 1000);
  if (!isInteger(created))
    throw refusal(
      'The parameter created must be an integer: the time of the signature in seconds since 1970 (UTC).',
    );
  if (created < seconds - maxAgeSeconds)
    throw refusal(
      `The parameter created is more than ${maxAgeSeconds} seconds ago. Check your clock, and sign the request again.`,
    );
  if (created > seconds + maxAheadSeconds)
    throw refusal(
      `The parameter created is more than ${maxAheadSeconds} seconds ahead of the clock of this service. Check your clock.`,
    );
  const expires = parameters.get('expires');
  if (expires !== undefined) {
    if (!isInteger(expires) || expires <= created)
      throw refusal('The parameter expires must be an integer greater than created.');
    if (expires <= seconds)
      throw refusal(
        'The signature has expired: the time in its parameter expires has passed. Sign the request again.',
      );
  }
  const alg = parameters.get('alg');
  if (alg !== undefined && alg !== algorithmNames[algorithm])
    throw refusal('The parameter alg is not the algorithm of this API key.');
  const tag = parameters.get('tag');
  if (tag !== undefined && typeof tag !== 'string') throw refusal('The parameter tag must be a string.');
  const nonce = parameters.get('nonce') ?? null;
  if (nonce !== null && !(typeof nonce === 'string' && visible.test(nonce)))
    throw refusal('The parameter nonce must be a string of 1 to 64 visible ASCII characters.');
  return { created, nonce };
}

function isInteger(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value);
}

function checkCoverage({ names }: signatures.SignatureInput, request: SentRequest): ReadonlySet<string> {
  if (!names) throw refusal('The covered components in Signature-Input must be strings without parameters.');
  const covered = new Set(names);
  if (covered.size < names.length) throw refusal('The signature covers a component twice.');
  checkCovered(covered, required);
  // Otherwise anybody on the way could add or remove this header, and turn a repeated request into a new one.
  if (request.header('idempotency-key') !== undefined) checkCovered(covered, ['idempotency-key']);
  return covered;
}

function checkCovered(covered: ReadonlySet<string>, names: readonly string[]): void {
  const missing = names.filter((name) => !covered.has(name));
  if (missing.length > 0)
    throw refusal(`The signature does not cover ${missing.map((name) => `"${name}"`).join(', ')}.`);
}

function valueOfComponent(name: string, request: SentRequest): string {
  const value = name.startsWith('@') ? derived(name, request) : request.header(name);
  if (value === undefined) throw refusal(`The signature covers "${name}", which the request does not have.`);
  if (!isAscii(value)) throw refusal(`The value of "${name}" is not ASCII.`);
  return value;
}

function derived(name: string, request: SentRequest): string | undefined {
  switch (name) {
    case '@method':
      return request.method;
    case '@authority':
      return request.authority;
    case '@path':
      return request.path;
    case '@query':
      return request.query;
    default:
      throw refusal(`"${name}" is not a component that this service supports.`);
  }
}

function isAscii(text: string): boolean {
  return /^[\t\x20-\x7e]*$/.test(text);
}

/** Checks a signature. The key record sets the algorithm, never the request (RFC 9421 §7.3.6): no key fits another. */
function isGood(value: Uint8Array, base: string, { algorithm, keys }: Signing, at: Date): boolean {
  const isMadeWith = algorithm === 'hmac_sha256' ? signatures.isHmacSha256 : signatures.isEcdsaP256Sha256;
  return keys.some(({ key, until }) => (until === null || at < until) && isMadeWith(value, base, key));
}
