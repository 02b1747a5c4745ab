import { type LoggerOptions, pino } from 'pino';
import { config } from '../config/config.ts';
import { forgetAtEnd } from './closing.ts';
import { requestId } from './request-context.ts';

const secretNames = [
  'secret',
  'password',
  'authorization',
  'signingSecret',
  'signature',
  'privateKey',
  'key',
  'token',
  'content',
  'html',
  'text',
];

const loggedErrorFields = ['type', 'code', 'errno', 'syscall', 'address', 'port', 'sqlState', 'responseCode'];
// MySQL quotes refused values in its messages, and does not escape quotes within them. It quotes the names of keys and
// columns too.
const longValue = /\b(entry|near|value:?) '.*' (for|at) /gis;
const quotedValue = /(?<!\b(?:key|column|table|field) )'[^'\n]*'/gi;

/**
 * Returns only the fields of an error that are known to be harmless. Libraries add other fields, such as the SQL with
 * its values, or the arguments of a Redis command, which may include the password.
 */
function withoutValues(error: Error): object {
  const given = pino.stdSerializers.err(error) as Record<string, unknown>;
  if (typeof given !== 'object') return given;
  const logged = Object.fromEntries(
    loggedErrorFields.filter((name) => given[name] !== undefined).map((name) => [name, given[name]]),
  );
  const isOfMysql = 'sqlState' in error || 'sqlMessage' in error;
  const clean = (text: unknown) => (isOfMysql ? withoutQuoted(String(text)) : text);
  return { ...logged, message: clean(given['message']), stack: clean(given['stack']) };
}

function withoutQuoted(text: string): string {
  return text
    .split('\n')
    .map((line) => line.replaceAll(longValue, "$1 '…' $2 ").replaceAll(quotedValue, "'…'"))
    .join('\n');
}

const options: LoggerOptions = {
  level: config.LOG_LEVEL,
  redact: {
    paths: secretNames.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]),
    censor: '[redacted]',
  },
  base: { pid: process.pid },
  serializers: { err: withoutValues },
  formatters: { level: (label) => ({ level: label }) },
  timestamp: pino.stdTimeFunctions.isoTime,
  // The id of the request, or of the request that caused the job. With the Request-Id of an answer, an operator finds
  // all lines about the request.
  mixin: () => ({ requestId: requestId() ?? undefined }),
};

/**
 * Logs JSON lines. Callers log ids and never whole records; redaction is only the second protection. A wildcard does
 * not cover the top level, so `paths` has both forms.
 */
export const logger = pino(options, pino.destination(config.LOG_TO === 'stderr' ? 2 : 1));

/** Makes a test that holds once in this time at most, for a line about a fault that many meet at the same time. */
export function atMostEvery(ms: number): () => boolean {
  let next = Number.NEGATIVE_INFINITY;
  forgetAtEnd(() => {
    next = Number.NEGATIVE_INFINITY;
  });
  return () => {
    if (performance.now() < next) return false;
    next = performance.now() + ms;
    return true;
  };
}
