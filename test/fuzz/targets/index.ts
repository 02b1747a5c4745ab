import { fileTargets } from './files.ts';
import { jsonTargets } from './json.ts';
import { lineTargets } from './lines.ts';
import { mailTargets } from './mail.ts';
import type { Target } from './target.ts';
import { templateTargets } from './templates.ts';

/** All targets that are parsers, which are called directly. */
export const targets: readonly Target[] = [
  ...jsonTargets,
  ...mailTargets,
  ...templateTargets,
  ...lineTargets,
  ...fileTargets,
];
