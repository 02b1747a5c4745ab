import fs from 'node:fs';

export interface Line {
  name: string;
  command: string;
}

/** The parts of the command that a line has `node` run: the options of Node, the program, the program's arguments. */
export function partsOf({ command }: Line): { nodeOptions: string[]; program: string; args: string[] } {
  const words = command.split(' ').slice(1);
  const first = words.findIndex((word) => !word.startsWith('-'));
  return { nodeOptions: words.slice(0, first), program: words[first]!, args: words.slice(first + 1) };
}

/** "name: command" lines; anything else is not a process, as Foreman reads it too. */
export function parse(text: string): Line[] {
  return text.split('\n').flatMap((line) => {
    const [, name, command] = /^([A-Za-z0-9_-]+):\s*(.+)$/.exec(line) ?? [];
    return name && command ? [{ name, command: command.trim() }] : [];
  });
}

export const read = (file: string): Line[] => parse(fs.readFileSync(file, 'utf8'));
