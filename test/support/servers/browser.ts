import { type Browser, chromium } from 'playwright-core';
import { findChromium } from '../../../scripts/setup/servers/programs.ts';
import { atEnd } from '../runner/at-end.ts';

/** A browser of the machine, or Debian's unpacked. Throws, with the line to type, where there is none to be had. */
export async function startBrowser(): Promise<Browser> {
  const program = await findChromium(() => undefined);
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
