import { pino } from 'pino';
import { config } from './config.ts';

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

/**
 * JSON lines on stdout. Redaction is the second guard: callers log ids, never records.
 * A wildcard does not cover the top level, so both forms are listed.
 */
export const logger = pino({
  level: config.LOG_LEVEL,
  redact: {
    paths: secretNames.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]),
    censor: '[redacted]',
  },
  base: { pid: process.pid },
  formatters: { level: (label) => ({ level: label }) },
  timestamp: pino.stdTimeFunctions.isoTime,
});
