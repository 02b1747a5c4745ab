import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/**
 * Makes a folder for programs, with the lowest number that is free. Node finds compiled code by the path of its source,
 * so programs that are put at the same path again start in half the time.
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
