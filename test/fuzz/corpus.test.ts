import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { closeSandbox } from '../../shared/sandbox/sandbox.ts';
import { atEnd } from '../support/runner/at-end.ts';
import { faultOf } from './judge.ts';
import { targets } from './targets/index.ts';

/** Inputs that a parser once did wrong with, each in the folder of its target. A fuzz run writes them as such files. */
const corpus = path.join(import.meta.dirname, 'corpus');
const finds = readdirSync(corpus).flatMap((target) =>
  readdirSync(path.join(corpus, target)).map((file) => [target, file] as const),
);
atEnd(closeSandbox);

test.each(finds)('%s: what the fuzz run found stays mended: %s', async (name, file) => {
  const target = targets.find((one) => one.name === name);
  expect(target, `there is no parser ${name}`).toBeDefined();
  expect(await faultOf(target!, readFileSync(path.join(corpus, name, file)))).toBeNull();
});
