import { createHmac, hash, sign } from 'node:crypto';
import { now } from '../../../shared/common/clock.ts';
import type { Signer } from './signed-key.ts';

/** The request as it is sent: path and query are taken from the URL exactly as given. */
type Outgoing = {
  method: string;
  url: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
};

export type SignatureOptions = {
  label?: string;
  /** Components to sign in place of the demanded ones; a component that starts with a quote is written as it is. */
  covered?: readonly string[];
  /** Parameter -> its text; null leaves it out. Default parameters that are not named here come first. */
  parameters?: Record<string, string | number | null>;
  /** Values to sign in place of what is sent. */
  values?: Record<string, string>;
  /** Makes the bytes of the signature. */
  signWith?: (base: string, signer: Signer) => Buffer;
};

export const nowSeconds = () => Math.floor(now().getTime() / 1000);

/**
 * Signs a request as a client does. Returns all headers of the request, with Content-Digest, Signature-Input and
 * Signature. The function shares no code with the service.
 */
export function signRequest(
  { method, url, headers = {}, body = '' }: Outgoing,
  signer: Signer,
  options: SignatureOptions = {},
): Record<string, string> {
  const sent = { ...headers };
  if (body.length > 0) {
    sent['content-type'] ??= 'application/json';
    sent['content-digest'] ??= digestOf(body);
  }
  const covered = options.covered ?? coveredBy(sent);
  const params = paramsOf(covered, signer.keyId, options.parameters ?? {});
  const values = { ...derivedFrom(method, url), ...sent, ...options.values };
  const lines = covered.map((item) => `${identifier(item)}: ${values[nameOf(item)] ?? ''}`);
  const base = [...lines, `"@signature-params": ${params}`].join('\n');
  const signature = (options.signWith ?? signatureOf)(base, signer);
  const label = options.label ?? 'sig1';
  return {
    ...sent,
    'signature-input': `${label}=${params}`,
    signature: `${label}=:${signature.toString('base64')}:`,
  };
}

export function digestOf(body: string | Buffer): string {
  return `sha-256=:${hash('sha256', body, 'base64')}:`;
}

/** Returns the components that the service wants signed in a request with these headers. */
function coveredBy(headers: Record<string, string>): string[] {
  const fields = ['content-digest', 'content-type', 'idempotency-key'];
  return ['@method', '@authority', '@path', '@query', ...fields.filter((name) => name in headers)];
}

export function signatureOf(base: string, signer: Signer): Buffer {
  if (signer.algorithm === 'hmac_sha256') return createHmac('sha256', signer.secret).update(base).digest();
  return sign('sha256', Buffer.from(base), { key: signer.privateKey, dsaEncoding: 'ieee-p1363' });
}

const identifier = (item: string) => (item.startsWith('"') ? item : `"${item}"`);
const nameOf = (item: string) => /^"?([^"]*)/.exec(item)![1]!;

function paramsOf(covered: readonly string[], keyId: string, named: Record<string, string | number | null>) {
  const byDefault = Object.entries({ created: nowSeconds(), keyid: `"${keyId}"` });
  const parameters = [...byDefault.filter(([name]) => !(name in named)), ...Object.entries(named)];
  const texts = parameters.flatMap(([name, text]) => (text === null ? [] : `;${name}=${text}`));
  return `(${covered.map(identifier).join(' ')})${texts.join('')}`;
}

function derivedFrom(method: string, url: string): Record<string, string> {
  const [, scheme, host, path, query] = /^(https?):\/\/([^/?]+)([^?]*)(\?.*)?$/s.exec(url)!;
  return {
    '@method': method,
    '@authority': host!.toLowerCase().replace(scheme === 'https' ? /:443$/ : /:80$/, ''),
    '@path': path || '/',
    '@query': query ?? '?',
  };
}
