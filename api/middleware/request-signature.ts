import type { IncomingMessage } from 'node:http';
import { config } from '../../shared/config/config.ts';
import { publicPath } from '../../shared/config/public-path.ts';
import * as requestSignatures from '../../shared/domain/requests/signatures.ts';
import { hashOf, type Pace } from './large-body.ts';
import type { RawBody } from './raw-body.ts';

/** Checks, by the headers, the signature that a request must or may have (API decisions §3); null when it has none. */
export function verifySignature(
  request: IncomingMessage,
  caller: requestSignatures.Signer,
): requestSignatures.Verified | null {
  const target = request.url!;
  const queryStart = target.indexOf('?');
  const { authority, pathPrefix } = publicAddress();
  return requestSignatures.verify(
    {
      method: request.method!,
      authority,
      // The path as it was sent, never decoded or normalized: the path that is signed is then the path that is routed.
      path: pathPrefix + (queryStart < 0 ? target : target.slice(0, queryStart)),
      query: queryStart < 0 ? '?' : target.slice(queryStart),
      header: headersOf(request),
    },
    caller,
  );
}

/** Checks the signature of the bytes, before their content is read. */
export async function acceptSignature(
  verified: requestSignatures.Verified | null,
  rawBody: RawBody,
  { read }: Pace,
): Promise<void> {
  if (!verified) return;
  const body = Buffer.isBuffer(rawBody)
    ? rawBody
    : {
        byteLength: rawBody.byteLength,
        digest: (algorithm: string) => read(() => hashOf(rawBody, algorithm)),
      };
  await requestSignatures.accept(verified, body);
}

let known: { url: string; authority: string; pathPrefix: string } | undefined;

/**
 * Returns the address to which clients send requests. The Host header does not count, because a proxy may rewrite it
 * and a client may choose it. If PUBLIC_URL has a path, the proxy has removed it from the request, but the client has
 * signed it.
 */
function publicAddress() {
  if (known?.url !== config.PUBLIC_URL) {
    const { host } = new URL(config.PUBLIC_URL);
    known = { url: config.PUBLIC_URL, authority: host, pathPrefix: publicPath() };
  }
  return known;
}

/** Reads the headers when the first is asked for: most requests are not signed, and a signature may cover hundreds. */
function headersOf({ rawHeaders }: IncomingMessage): (lowerCaseName: string) => string | undefined {
  let values: Map<string, string> | undefined;
  return (name) => (values ??= combined(rawHeaders)).get(name);
}

/** All lines of each header as RFC 9421 §2.1 combines them. Node keeps only the first of some headers. */
function combined(rawHeaders: readonly string[]): Map<string, string> {
  const values = new Map<string, string>();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!.toLowerCase();
    const before = values.get(name);
    // Node has removed the spaces around the value.
    const line = rawHeaders[index + 1]!;
    values.set(name, before === undefined ? line : `${before}, ${line}`);
  }
  return values;
}
