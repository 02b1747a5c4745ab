import { codeLines, type File, type Rule } from './rule.ts';

/** The tests of flows and the benches that make their own requests, each with its reason. */
export const raw: Record<string, string> = {
  'test/flows/large-emails.test.ts': 'bodies of 40 MB whose bytes are made once',
  'test/flows/no-secrets/call.ts': 'malformed requests, wrong keys, operator pages, headers of refusals',
  'scripts/benches/bare/webhooks-out.ts': 'the bare side, which has nothing of the platform',
  'scripts/benches/lines/latency-email.ts':
    'milliseconds to an answer, to which the client would add its own',
  'scripts/benches/players/batch-sender.ts': 'a load, which must take little of what it measures',
  'scripts/benches/players/feed-reader.ts': 'a load, which takes no page apart',
  'scripts/benches/players/hostile-tenant.ts':
    'a hostile client, which counts refusals and breaks connections',
  'scripts/benches/players/http-load.ts': 'a load, whose requests are bytes that are made beforehand',
  'scripts/benches/players/large-sender.ts': 'bodies of 40 MB that are made before the first is sent',
  'scripts/benches/players/page-reader.ts': 'a load, which takes no page apart',
  'scripts/benches/players/paced-sender.ts':
    'a load, whose latency is that of the server and counts refusals',
};

/** A request by a library for HTTP, by Node's own, by bytes on a socket, or by the untyped client of the tests. */
const requests = new RegExp(
  [
    /['"]undici['"]/,
    /\{[^}]*\b(request|get|Agent)\b[^}]*\} from ['"](node:)?https?['"]/,
    /\bhttps?\.get\s*\(/,
    /\.\s*request\s*\(/,
    /\bfetch\s*\(/,
    // The first line of a request ends like this; the first line of an answer goes on.
    /HTTP\/1\.1\\r/,
    /\b(clientOf|(post|send)(Large)?(Email|Sms)|postBatch|newBatch|awaitingMobile)\b/,
  ]
    .map(({ source }) => source)
    .join('|'),
);

const isSearched = ({ path }: File) => /^(test\/flows|scripts\/benches)\/.*\.[cm]?[jt]s$/.test(path);

/** The tests of flows and the benches use the client that customers have, so that the client cannot rot. */
export const typedClientAsksTheApi: Rule = (files) =>
  files.filter(isSearched).flatMap((file) => {
    const line = codeLines(file).findIndex((code) => requests.test(code));
    const isNamed = Object.hasOwn(raw, file.path);
    if (line >= 0 && !isNamed)
      return [
        `${file.path}:${line + 1} makes its own requests; messaging-service/client makes them, or typed-client.ts says why not`,
      ];
    return line < 0 && isNamed
      ? [`${file.path} makes no request of its own, and is named as one that does`]
      : [];
  });
