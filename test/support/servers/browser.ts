import { type Browser, chromium } from 'playwright-core';
import { findChromium, type Program } from '../../../scripts/setup/servers/programs.ts';
import { atEnd } from '../runner/at-end.ts';

/** A browser of the machine, or Debian's unpacked; null, said on stderr, where there is none to be had. */
export async function startBrowser(): Promise<Browser | null> {
  let program: Program;
  try {
    program = await findChromium(() => undefined);
  } catch (error) {
    process.stderr.write(`skipped: no chromium (${(error as Error).message.trim().replaceAll('\n', ' ')})\n`);
    return null;
  }
  const browser = await chromium.launch({
    executablePath: program.command,
    env: Object.fromEntries(
      Object.entries(program.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    ),
    // Root may not use the sandbox; nothing is opened but pages of our own.
    args: ['--no-sandbox', '--disable-gpu'],
  });
  atEnd(() => browser.close());
  return browser;
}
