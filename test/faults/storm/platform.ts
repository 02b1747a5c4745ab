import fs from 'node:fs';
import path from 'node:path';
import { checkout } from '../../../scripts/setup/environment.ts';
import * as processes from '../../../scripts/setup/start/processes.ts';
import * as procfile from '../../../scripts/setup/start/procfile.ts';
import { Unfit } from '../../../scripts/setup/start/session.ts';
import { freePort } from '../../support/processes/free-port.ts';
import { environmentOf, type Oddity, openSlot, type Settings, type Slot } from './processes.ts';

/** `small` has only two kinds of process, and two of each, because a short run has no time to start more. */
export type Size = 'whole' | 'small';
const small = [
  { name: 'web', command: 'node api/server.ts' },
  { name: 'worker', command: 'node workers/main.ts' },
];

const openLimitMs = 300_000;

type Options = {
  folder: string;
  size: Size;
  /** The number of processes for a line of the Procfile. */
  countOf: (kind: string) => number;
  /** Settings of the process with this name, and this number, counted from 1 within its kind. */
  settingsOf: (number: number, name: string) => Settings;
};

/** The processes of the platform, prepared but not started. */
export type Platform = {
  slots: Slot[];
  oddities: Oddity[];
  /** Starts them. */
  open: () => Promise<void>;
  /** URLs of the web processes that are up, or of all if none is. */
  webUrls: () => string[];
};

export function preparePlatform({ folder, size, countOf, settingsOf }: Options): Platform {
  const oddities: Oddity[] = [];
  const slots: Slot[] = [];
  const urls = new Map<string, string>();
  const logFolder = path.join(folder, 'logs');
  fs.mkdirSync(logFolder, { recursive: true });
  return {
    slots,
    oddities,
    async open() {
      for (const { name: kind, command } of linesOf(size)) {
        for (let number = 1; number <= countOf(kind); number += 1) {
          const name = `${kind}-${number}`;
          const port = String(await freePort());
          const own = kind === 'inbound' ? { INBOUND_PORT: port } : kind === 'web' ? { PORT: port } : {};
          if (kind === 'web') urls.set(name, `http://127.0.0.1:${port}`);
          slots.push(
            openSlot({
              name,
              kind,
              args: command.split(' ').slice(1),
              settings: { ...settingsOf(number, name), ...own },
              logFolder,
              onOddity: (oddity) => oddities.push(oddity),
            }),
          );
        }
      }
      // Long, because all processes start at once on a busy machine.
      await Promise.all(slots.map((slot) => slot.untilUp(openLimitMs)));
    },
    webUrls() {
      const webs = slots.filter(({ kind }) => kind === 'web');
      const up = webs.filter((slot) => slot.isUp());
      return (up.length > 0 ? up : webs).map(({ name }) => urls.get(name) ?? '');
    },
  };
}

function linesOf(size: Size): procfile.Line[] {
  if (size === 'small') return small;
  return procfile.read(path.join(checkout, 'Procfile')).filter(({ name }) => name !== 'release');
}

export async function migrate(settings: Settings): Promise<void> {
  const { code, output } = await processes.outputOf(process.execPath, ['scripts/setup/migrate.ts', 'up'], {
    cwd: checkout,
    env: environmentOf(settings),
  });
  if (code !== 0) throw new Unfit(`The database could not be migrated:\n${output}`);
}
