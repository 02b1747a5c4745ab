/** A covered component and its value, as RFC 9421 §2 derives or reads it. */
export type Component = readonly [name: string, value: string];

export type SignatureParameters = { created: number; expires?: number; keyid: string; alg?: 'hmac-sha256' };

/** The value of one label of Signature-Input: the covered names and the parameters (RFC 9421 §2.3). */
export function signatureParams(names: readonly string[], parameters: SignatureParameters): string {
  return paramsOf(quoted(names), parameters);
}

/** The bytes that are signed (RFC 9421 §2.5), as text: every component is ASCII. */
export function signatureBase(components: readonly Component[], params: string): string {
  let base = '';
  for (const [name, value] of components) base += `"${name}": ${value}\n`;
  return `${base}"@signature-params": ${params}`;
}

export function quoted(names: readonly string[]): string {
  return `(${names.map((name) => `"${name}"`).join(' ')})`;
}

const plainText = /^[ !#-[\]-~]*$/;

export function paramsOf(covered: string, { created, expires, keyid, alg }: SignatureParameters): string {
  // RFC 8941 §3.3.3: anything else would need escapes or has no form at all.
  if (!plainText.test(keyid)) throw new TypeError('keyid must be ASCII without quotes and backslashes');
  let params = `${covered};created=${created}`;
  if (expires !== undefined) params += `;expires=${expires}`;
  params += `;keyid="${keyid}"`;
  if (alg !== undefined) params += `;alg="${alg}"`;
  return params;
}

/** The signed components of a request with a body, in their order. */
export function componentsOf(method: string, url: URL, digest: string, contentType: string): Component[] {
  return [
    ['@method', method],
    ['@authority', url.host],
    ['@path', url.pathname],
    // RFC 9421 §2.2.7: an absent query is the leading question mark alone.
    ['@query', url.search || '?'],
    ['content-digest', digest],
    ['content-type', contentType],
  ];
}
