import fs from 'node:fs';
import path from 'node:path';
import readline from 'node:readline';
import type mysql from 'mysql2/promise';
import * as session from '../setup/start/session.ts';
import type { World } from './world.ts';

/**
 * Makes MySQL log the statements of connections that are made from now on. `stop` restores the settings and returns a
 * summary.
 */
interface Watch {
  stop(): Promise<string>;
}

const settings = ['slow_query_log', 'slow_query_log_file', 'long_query_time'] as const;
type Settings = Record<(typeof settings)[number], string | number>;
const mostRows = 30;
const shownCharacters = 160;
/** The most characters that are read of a statement without its values; more would only repeat. */
const readCharacters = 4_000;

export async function watchStatements(world: World, line: string): Promise<Watch> {
  const { database, folder, servers } = world;
  if (!servers['mysql'])
    throw new session.Unfit('--statements reads a file that MySQL writes, so MySQL must run on this machine');
  const file = path.join(folder, 'logs', `${line}-statements.log`);
  fs.rmSync(file, { force: true });
  const before = await readSettings(database);
  await writeSettings(database, { slow_query_log_file: file, long_query_time: 0, slow_query_log: 1 });
  return {
    async stop() {
      await writeSettings(database, before);
      const text = await summary(file);
      fs.rmSync(file, { force: true });
      return text;
    },
  };
}

async function readSettings(database: mysql.Connection): Promise<Settings> {
  const columns = settings.map((name) => `@@GLOBAL.${name} AS ${name}`);
  const [[row]] = await database.query<mysql.RowDataPacket[]>(`SELECT ${columns.join(', ')}`);
  return row as Settings;
}

async function writeSettings(database: mysql.Connection, values: Settings): Promise<void> {
  for (const name of settings) await database.query(`SET GLOBAL ${name} = ?`, [values[name]]);
}

interface Sum {
  count: number;
  seconds: number;
  examined: number;
  sent: number;
}

/** Sums up the statements without their values, the longest total time first. */
async function summary(file: string): Promise<string> {
  const sums = new Map<string, Sum>();
  for await (const { seconds, examined, sent, sql } of statementsIn(file)) {
    const shape = shapeOf(sql);
    const sum = sums.get(shape) ?? { count: 0, seconds: 0, examined: 0, sent: 0 };
    sums.set(shape, sum);
    sum.count += 1;
    sum.seconds += seconds;
    sum.examined += examined;
    sum.sent += sent;
  }
  const total = [...sums.values()].reduce((time, { seconds }) => time + seconds, 0);
  const longest = [...sums].toSorted(([, a], [, b]) => b.seconds - a.seconds).slice(0, mostRows);
  return [
    `statements: ${total.toFixed(1)} s; share of it, how many, then of each: ms, rows looked at, rows sent`,
    ...longest.map(([shape, { count, seconds, examined, sent }]) =>
      [
        `${((100 * seconds) / total).toFixed(1).padStart(6)} %`,
        String(count).padStart(7),
        ((1000 * seconds) / count).toFixed(2).padStart(8),
        (examined / count).toFixed(0).padStart(7),
        (sent / count).toFixed(0).padStart(6),
        ` ${shape}`,
      ].join(' '),
    ),
    '',
  ].join('\n');
}

interface Statement extends Omit<Sum, 'count'> {
  sql: string;
}

const heading = /^# Query_time: ([\d.]+).*? Rows_sent: (\d+) +Rows_examined: (\d+)/;

async function* statementsIn(file: string): AsyncGenerator<Statement> {
  let current: Statement | undefined;
  for await (const text of readline.createInterface(fs.createReadStream(file, 'latin1'))) {
    const [, seconds, sent, examined] = heading.exec(text) ?? [];
    if (seconds) {
      if (current) yield current;
      current = { seconds: Number(seconds), sent: Number(sent), examined: Number(examined), sql: '' };
    } else if (current && !text.startsWith('#') && current.sql.length < readCharacters) {
      current.sql += ` ${text.replaceAll(value, '?').slice(0, readCharacters)}`;
    }
  }
  if (current) yield current;
}

const value = /(?:_binary ?)?'(?:[^'\\]|\\.|'')*'|\b[Xx]'[\dA-Fa-f]*'|\b\d+(?:\.\d+)?\b/g;

function shapeOf(sql: string): string {
  return sql
    .replaceAll(/\b(?:SET timestamp=\?|use `\w+`);/gi, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/\?(?:, ?\?)+/g, '?, …')
    .replaceAll(/(\([^()]*\?[^()]*\))(?:, ?\([^()]*\?[^()]*\))+/g, '$1, …')
    .replace(/, …, \([^()]*$/, ', …')
    .replace(/;$/, '')
    .trim()
    .slice(0, shownCharacters);
}
