import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/**
 * A new folder for programs, with the lowest number that is free. Node knows what it has compiled by its place, so
 * programs that come to the same place again start in half the time.
 */
export function numberedFolder(name: string): string {
  const parent = fs.realpathSync(os.tmpdir());
  for (let number = 1; ; number += 1) {
    const folder = path.join(parent, `${name}-${os.userInfo().uid}-${number}`);
    try {
      fs.mkdirSync(folder, { mode: 0o700 });
      return folder;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}
