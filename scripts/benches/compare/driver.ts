import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Opened } from '../line.ts';
import { serve } from '../serve.ts';
import type { World } from '../world.ts';

/**
 * Runs the benches of the checkout that the first argument names, as compare.ts tells it. It depends only on how a
 * commit opens a world and a line, and on what a run reports; a commit is free to change everything else.
 */
const [checkout = '', folder = ''] = process.argv.slice(2);

function load<Module>(file: string): Promise<Module> {
  return import(pathToFileURL(path.join(checkout, 'scripts', file)).href) as Promise<Module>;
}

const { lines } = await load<typeof import('../lines/index.ts')>('benches/lines/index.ts');
const { openWorld } = await load<typeof import('../world.ts')>('benches/world.ts');
// Older commits have this file one folder higher.
const processes = ['setup/start/processes.ts', 'setup/processes.ts'].find((file) =>
  fs.existsSync(path.join(checkout, 'scripts', file)),
)!;
const { endAll } = await load<typeof import('../../setup/start/processes.ts')>(processes);

export interface Asked {
  line: string;
  scale: number;
}
export type SideName = Record<'name' | 'title', string>;

let world: World | undefined;
let opened: Opened | undefined;
let isEnding = false;

serve(
  {
    lines: () => lines.map(({ name }) => name),
    async enter(servers: { mysqlUrl: string; redisUrl: string }) {
      world = await openWorld({ ...servers, folder });
      return world.machine;
    },
    async open({ line, scale }: Asked): Promise<SideName[]> {
      const found = lines.find(({ name }) => name === line);
      opened = await found!.open({ world: world!, scale, profileFolder: undefined });
      return opened.sides.map(({ name, title }) => ({ name, title }));
    },
    run: (side: string) => opened!.sides.find(({ name }) => name === side)!.run(),
    async close() {
      await opened?.close();
      opened = undefined;
    },
    leave: () => world?.close(),
  },
  () => {
    if (isEnding) return;
    isEnding = true;
    void endAll().finally(() => process.exit());
  },
);
