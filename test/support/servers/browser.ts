import { type Browser, chromium } from 'playwright-core';
import { findChromium } from '../../../scripts/setup/servers/programs.ts';
import { atEnd } from '../runner/at-end.ts';

/** Starts the machine's browser, or Debian's unpacked one. Throws, with the command to type, where there is none. */
export async function startBrowser(): Promise<Browser> {
  const program = await findChromium(() => undefined);
  const browser = await chromium.launch({
    executablePath: program.command,
    env: Object.fromEntries(
      Object.entries(program.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    ),
    // Root may not use the sandbox, and the tests open only our own pages.
    args: ['--no-sandbox', '--disable-gpu'],
  });
  atEnd(() => browser.close());
  return browser;
}
