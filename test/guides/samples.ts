import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { folder } from './run-program.ts';

/** A block of code of a guide; the words after its fence say its kind: ```sh, ```json answer, ```csv customers.csv. */
type Block = { language: string; word: string; code: string; line: number };

/** A command that a reader copies, with the answer that the guide shows for it and the files that it needs. */
export type Sample = { line: number; command: string; answer?: string; files: Block[] };

const fences = /^ *```(\w+)(?: ([\w.-]+))?\n([^]*?)^ *```$/gm;
const addressInFiles = 'http://127.0.0.1:3000';

/** Returns the names of the guides under this heading of their list. */
export function guidesOf(heading: string): string[] {
  const [, part = ''] = readFileSync(join(folder, 'README.md'), 'utf8').split(`## ${heading}\n`);
  return [...part.split(/^## /m, 1)[0]!.matchAll(/\]\(([\w-]+)\.md\)/g)].map(([, name]) => name!);
}

/** Returns the commands of a guide in their order. Programs that a guide offers for download have their own tests. */
export const samplesOf = (guide: string): Sample[] =>
  samplesIn(readFileSync(join(folder, `${guide}.md`), 'utf8'));

/** Returns the commands of any Markdown text in their order. */
export function samplesIn(source: string): Sample[] {
  const samples: Sample[] = [];
  let files: Block[] = [];
  for (const { 1: language, 2: word = '', 3: code, index } of source.matchAll(fences)) {
    const block = { language: language!, word, code: code!, line: source.slice(0, index).split('\n').length };
    if (language === 'sh' && !code!.startsWith('curl -O ')) {
      samples.push({ line: block.line, command: code!, files });
      files = [];
    } else if (word === 'answer') samples.at(-1)!.answer = code!;
    else if (word) files.push(block);
  }
  return samples;
}

/** Returns the TypeScript programs of a guide; all of them use the client. */
export const programsOf = (guide: string): Block[] =>
  [...readFileSync(join(folder, `${guide}.md`), 'utf8').matchAll(fences)].flatMap(
    ({ 1: language, 2: word = '', 3: code }) =>
      language === 'ts' ? [{ language, word, code: code!, line: 0 }] : [],
  );

/** Installs the client as `npm install` does for a reader; here Node strips the types as it loads the files. */
export function installClient(project: string): void {
  mkdirSync(join(project, 'node_modules'));
  symlinkSync(join(folder, '../../..'), join(project, 'node_modules/messaging-service'));
}

type Settings = { url: string; folder: string; variables: Record<string, string> };

/** Runs a command as the reader's shell would. A future time in the command becomes tomorrow, because guides age. */
export async function run(sample: Sample, settings: Settings): Promise<string> {
  for (const { word, code } of sample.files)
    writeFileSync(join(settings.folder, word), code.replaceAll(addressInFiles, settings.url));
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
  const command = sample.command
    .replaceAll(addressInFiles, settings.url)
    .replaceAll(/("scheduledAt": )"[^"]*"/g, `$1"${tomorrow}"`);
  const { PATH = '' } = process.env;
  return new Promise((resolve, reject) => {
    execFile(
      'bash',
      ['-euo', 'pipefail', '-c', command],
      { cwd: settings.folder, env: { PATH, ...settings.variables } },
      (error, stdout, stderr) => {
        if (error) reject(new Error(`${command}\n${stderr}`, { cause: error }));
        else resolve(stdout);
      },
    );
  });
}

const id = /^([a-z]+)_[0-9a-hjkmnp-tv-z]{26}$/;
const moment = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

/** Returns the variables that an answer sets: `$EMAIL_ID` is the id of the email in an earlier answer. */
export function variablesOf(answer: string): Record<string, string> {
  let record: unknown;
  try {
    record = JSON.parse(answer);
  } catch {
    return {};
  }
  const { id: given } = (record ?? {}) as { id?: unknown };
  const [, prefix] = (typeof given === 'string' && id.exec(given)) || [];
  return prefix === undefined ? {} : { [`${prefix.toUpperCase()}_ID`]: String(given) };
}

/**
 * Returns where an answer differs from the one that a guide shows, or undefined if it does not. In a guide … stands for
 * further members or items, or for the end of a text. An id matches any id of its kind, and a time matches any time.
 */
export function difference(shown: string, answer: string): string | undefined {
  // Outside of texts, … is removed together with the comma before it.
  const members = shown.replaceAll(/("(?:[^"\\]|\\.)*")|,?\s*…/g, (_all, text?: string) => text ?? '');
  const open = members !== shown;
  return differs(JSON.parse(members), JSON.parse(answer), '', open);
}

function differs(shown: unknown, given: unknown, path: string, open: boolean): string | undefined {
  if (typeof shown === 'string') return textDiffers(shown, given, path);
  if (typeof shown !== 'object' || shown === null)
    return shown === given ? undefined : `${path} is ${JSON.stringify(given)}, not ${JSON.stringify(shown)}`;
  if (typeof given !== 'object' || given === null) return `${path} is ${JSON.stringify(given)}`;
  if (!open && Object.keys(given).length !== Object.keys(shown).length)
    return `${path} has ${Object.keys(given).join(', ')}`;
  for (const [key, value] of Object.entries(shown)) {
    const found = differs(value, (given as Record<string, unknown>)[key], `${path}.${key}`, open);
    if (found !== undefined) return found;
  }
  return undefined;
}

function textDiffers(shown: string, given: unknown, path: string): string | undefined {
  const [, kind] = id.exec(shown) ?? [];
  const text = String(given);
  const same =
    kind === undefined
      ? moment.test(shown)
        ? moment.test(text)
        : shown.endsWith('…')
          ? text.startsWith(shown.slice(0, -1))
          : shown.replaceAll(addressInFiles, '') === text.replace(/^http:\/\/127\.0\.0\.1:\d+/, '')
      : id.exec(text)?.[1] === kind;
  return same && typeof given === 'string'
    ? undefined
    : `${path} is ${JSON.stringify(given)}, not "${shown}"`;
}
