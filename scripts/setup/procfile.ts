import fs from 'node:fs';

export interface Line {
  name: string;
  command: string;
}

/** "name: command" lines; anything else is not a process, as Foreman reads it too. */
export function read(file: string): Line[] {
  const lines = fs.readFileSync(file, 'utf8').split('\n');
  return lines.flatMap((line) => {
    const [, name, command] = /^([A-Za-z0-9_-]+):\s*(.+)$/.exec(line) ?? [];
    return name && command ? [{ name, command: command.trim() }] : [];
  });
}
