import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { closeSandbox } from '../../shared/sandbox/sandbox.ts';
import { atEnd } from '../support/runner/at-end.ts';
import { findsOf, targetsOfFinds } from './corpus.ts';
import { faultOf } from './judge.ts';
import { targetOfHttp, targetOfSmtp } from './settings.ts';
import { targets } from './targets/index.ts';

// Every fuzz run sends those of the platform first, the short one of the suite too.
const parsers = targetsOfFinds.filter((name) => name !== targetOfHttp && name !== targetOfSmtp);
const finds = parsers.flatMap((target) =>
  findsOf(target).map((file) => [target, path.basename(file)] as const),
);
atEnd(closeSandbox);

test.each(finds)('%s: what the fuzz run found stays mended: %s', async (name, file) => {
  const target = targets.find((one) => one.name === name);
  expect(target, `there is no parser ${name}`).toBeDefined();
  expect(
    await faultOf(target!, readFileSync(path.join(import.meta.dirname, 'corpus', name, file))),
  ).toBeNull();
});
