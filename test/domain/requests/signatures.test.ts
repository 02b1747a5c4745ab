import { createPublicKey, createSecretKey } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { setClock } from '../../../shared/common/clock.ts';
import * as requestSignatures from '../../../shared/domain/requests/signatures.ts';
import type { Caller, Signing } from '../../../shared/schemas/scopes.ts';
import { frozen } from '../../formats/signatures/vectors/request-signatures.ts';

type Vector = (typeof frozen.vectors)[number];

const keys = {
  hmac_sha256: createSecretKey(Buffer.from(frozen.secret)),
  ecdsa_p256_sha256: createPublicKey(frozen.publicKey),
};

const callerWith = (algorithm: Signing['algorithm'], until: Date | null = null): Caller => ({
  workspaceId: 'workspace',
  keyId: frozen.keyid,
  lineageId: frozen.keyid,
  kind: 'api_key',
  scopes: new Set(),
  apiVersion: null,
  strictMode: true,
  signing: { algorithm, keys: [{ key: keys[algorithm], until }] },
});

function sentRequest({ method, url, headers }: Vector): requestSignatures.SentRequest {
  const [, authority, path, query] = /^https:\/\/([^/]+)([^?]*)(\?.*)?$/.exec(url)!;
  return { method, authority: authority!, path: path!, query: query ?? '?', header: (name) => headers[name] };
}

/** Verifies the request `afterMs` milliseconds after it was signed. */
function verifyAt(vector: Vector, afterMs: number, caller = callerWith(vector.algorithm)) {
  const at = performance.now();
  setClock(Date.parse(frozen.createdAt) + afterMs, { from: at, to: at });
  return requestSignatures.verify(sentRequest(vector), caller);
}
const refusal = (detail: string) =>
  expect.objectContaining({
    code: 'signature_invalid',
    options: { detail: expect.stringContaining(detail) },
  });
const caught = (work: () => unknown): unknown => {
  try {
    return work();
  } catch (error) {
    return error;
  }
};

describe.each(frozen.vectors)('the frozen request: $name', (vector) => {
  test('is accepted, body and all', async () => {
    const verified = verifyAt(vector, 1_000)!;
    expect(verified.keyId).toBe(frozen.keyid);
    // The nonce is left out, because it would be stored in the database.
    await requestSignatures.accept({ ...verified, nonce: null }, Buffer.from(vector.body));
    await expect(
      requestSignatures.accept({ ...verified, nonce: null }, Buffer.from(`${vector.body} `)),
    ).rejects.toEqual(refusal(vector.body ? 'Content-Digest' : 'does not cover "content-digest"'));
  });

  test('is refused when any character of its base is another', () => {
    const sent = sentRequest(vector);
    expect(verifyAt(vector, 0)).not.toBe(null);
    const read: [string, string][] = vector.base
      .slice(0, -1)
      .map((line) => /^"(.*?)": (.*)$/.exec(line)!.slice(1) as [string, string]);
    for (const [name, value] of read)
      for (let at = 0; at < value.length; at += 1) {
        const other =
          value.slice(0, at) + String.fromCharCode(value.charCodeAt(at) ^ 1) + value.slice(at + 1);
        const headers = { ...vector.headers, [name]: other };
        const changed = { ...sent, header: (each: string) => headers[each], [name.slice(1)]: other };
        expect(
          caught(() => requestSignatures.verify(changed, callerWith(vector.algorithm))),
          `${name}: ${other}`,
        ).toEqual(refusal(''));
      }
  });

  test('is refused with the other algorithm', () => {
    const other = vector.algorithm === 'hmac_sha256' ? 'ecdsa_p256_sha256' : 'hmac_sha256';
    expect(caught(() => verifyAt(vector, 0, callerWith(other)))).toEqual(refusal(''));
    expect(verifyAt(vector, 0)).not.toBe(null);
  });
});

test('a path that begins with two slashes, or has dots, is not tidied before it is compared', () => {
  const vector = frozen.vectors[0]!;
  expect(verifyAt(vector, 0)).not.toBe(null);
  for (const path of [
    '//v2/email',
    '/v2//email',
    '/v2/./email',
    '/v2/x/../email',
    '/v2/%65mail',
    '/v2/email/',
  ]) {
    const sent = { ...sentRequest(vector), path };
    expect(caught(() => requestSignatures.verify(sent, callerWith(vector.algorithm)))).toEqual(
      refusal('does not match the request'),
    );
  }
});

test('the window is exact: 60 seconds before, 300 seconds after', () => {
  const vector = frozen.vectors[0]!;
  // The clock keeps running, so the test leaves a margin of about half a second on each side.
  expect(caught(() => verifyAt(vector, -60_500))).toEqual(refusal('created is more than 60 seconds ahead'));
  expect(verifyAt(vector, -59_500)).not.toBe(null);
  expect(verifyAt(vector, 300_400)).not.toBe(null);
  expect(caught(() => verifyAt(vector, 301_000))).toEqual(refusal('created is more than 300 seconds ago'));
});

test('expires ends it sooner', () => {
  const vector = frozen.vectors[1]!;
  expect(vector.base.at(-1)).toContain('expires=1795168920');
  expect(verifyAt(vector, 119_400)).not.toBe(null);
  expect(caught(() => verifyAt(vector, 120_000))).toEqual(refusal('expires has passed'));
});

test('a key with a time is tried until then, and no longer', () => {
  const vector = frozen.vectors[0]!;
  const until = new Date(Date.parse(frozen.createdAt) + 10_000);
  expect(verifyAt(vector, 9_000, callerWith(vector.algorithm, until))).not.toBe(null);
  expect(caught(() => verifyAt(vector, 10_000, callerWith(vector.algorithm, until)))).toEqual(
    refusal('does not match the request'),
  );
});

test('a key in strict mode without signing settings lets nothing in', () => {
  const vector = frozen.vectors[0]!;
  const caller = { ...callerWith(vector.algorithm), signing: null };
  expect(caught(() => verifyAt(vector, 0, caller))).toMatchObject({ code: 'signature_required' });
  expect(verifyAt(vector, 0, { ...caller, strictMode: false })).toBe(null);
});
