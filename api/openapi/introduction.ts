import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { changesIn, currentVersion, knownVersions } from '../../shared/common/versions.ts';
import { config } from '../../shared/config/config.ts';
import { withPublicPath } from '../public-links.ts';
import { withOwnTimes } from './own-times.ts';

const source = readFileSync(join(import.meta.dirname, 'introduction.md'), 'utf8');

/** The introduction that a reader needs before any operation, in Markdown, with the settings of this platform. */
export function introduction(): string {
  const values: Record<string, string> = {
    publicUrl: config.PUBLIC_URL,
    currentVersion,
    versions: knownVersions.map((version) => `- \`${version}\`: ${changesIn(version)}`).join('\n'),
    rates: rates(),
  };
  return withPublicPath(withOwnTimes(source)).replaceAll(
    /\{\{(\w+)\}\}/g,
    (_all, name: string) => values[name]!,
  );
}

function rates(): string {
  const limits = [
    [config.RATE_LIMIT_PER_SECOND, 'an API key'],
    [config.WORKSPACE_RATE_LIMIT_PER_SECOND, 'all keys of a workspace together'],
  ] as const;
  const said = limits
    .filter(([rate]) => rate > 0)
    .map(([rate, of]) => `${of} may send ${rate} requests a second`);
  if (said.length === 0) return 'The rate of requests has no limit here.';
  const sentence = `${said.join(', and ')}; for a moment twice as many.`;
  return sentence[0]!.toUpperCase() + sentence.slice(1);
}
