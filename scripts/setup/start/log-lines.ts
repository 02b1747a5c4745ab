import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { styleText } from 'node:util';
import { given } from '../environment.ts';

type Style = Parameters<typeof styleText>[0];

const processColours: Style[] = ['cyan', 'green', 'magenta', 'yellow', 'blue', 'cyanBright', 'magentaBright'];
const levelColours: Record<string, Style> = { warn: 'yellow', error: 'red', fatal: 'red', debug: 'gray' };

const coloured = process.stdout.isTTY && !given['NO_COLOR'];
export const paint = (style: Style, text: string): string =>
  coloured ? styleText(style, text, { validateStream: false }) : text;

/** Copies a stream to stdout, each line behind the name of its process. */
export function follow(stream: Readable, name: string, width: number, index: number): void {
  const colour = processColours[index % processColours.length] ?? 'cyan';
  const prefix = paint(colour, `${name.padEnd(width)} |`);
  createInterface({ input: stream }).on('line', (line) => {
    for (const each of readable(line).split('\n')) process.stdout.write(`${prefix} ${each}\n`);
  });
}

/** A JSON log line as "time level message key=value"; any other line as it is. */
export function readable(line: string): string {
  const entry = parse(line);
  if (!entry) return line;
  const { time, level, msg, err, pid: _pid, hostname: _hostname, ...rest } = entry;
  const clock =
    typeof time === 'string' ? time.slice(11, 23) : new Date(Number(time)).toISOString().slice(11, 23);
  const fields = Object.entries(rest).map(([key, value]) => `${key}=${text(value)}`);
  const { stack, ...cause } = (typeof err === 'object' && err !== null ? err : { stack: err }) as {
    stack?: unknown;
  };
  const details = err === undefined ? '' : `\n${text(stack ?? cause)}`;
  const head = `${paint('gray', clock)} ${paint(levelColours[String(level)] ?? 'white', String(level).padEnd(5))}`;
  return `${head} ${text(msg ?? '')} ${paint('gray', fields.join(' '))}`.trimEnd() + details;
}

const text = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

function parse(line: string): Record<string, unknown> | undefined {
  if (!line.startsWith('{') || !line.includes('"level"')) return undefined;
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
