import fs from 'node:fs';
import path from 'node:path';
import { gitLines } from '../git.ts';
import { log, Unfit } from '../start/session.ts';

// These import nearly everything, so a test that goes through them says little about a change behind them.
const hubs =
  /^(test\/support\/|api\/(app|mount|openapi|server)\.ts$|api\/routes\/index\.ts$|workers\/(main|jobs\/index)\.ts$|shared\/(lifecycle|common\/metrics)\.ts$)/;
// A test that imports a module which imports the change is near; further away it is one of hundreds.
const nearSteps = 2;
// Words of paths that are conventional names and no resource.
const commonWords = new Set(['index', 'main', 'record', 'types']);

/**
 * Replaces `--changed` or `--changed=<commit>` among the arguments by the test files for the changes of the working
 * tree since that commit, or by default since the branch left its base. Undefined without this option.
 */
export async function chosenByChange(args: readonly string[], root: string): Promise<string[] | undefined> {
  const index = args.findIndex((arg) => arg === '--changed' || arg.startsWith('--changed='));
  if (index < 0) return undefined;
  const [, commit] = args[index]!.split('=');
  if (commit?.startsWith('-')) throw new Unfit(`${commit} is no commit`);
  const base = commit || (await baseOf(root));
  const changed = await changedSince(root, base);
  const sources = new Map<string, string>();
  for (const file of await gitLines(root, ['ls-files', '-co', '--exclude-standard', '*.ts']))
    if (fs.existsSync(path.join(root, file)))
      sources.set(file, fs.readFileSync(path.join(root, file), 'utf8'));
  const tests = testsOf(changed, sources);
  log(
    `${changed.length} files changed since ${base.slice(0, 12)}; ${tests.length} test files belong to them`,
  );
  const others = args.filter((_arg, at) => at !== index);
  return tests.length === 0 ? [] : [...tests, ...others];
}

/**
 * Returns the test files that a change concerns: changed tests; tests that import a changed file, directly or through
 * one other module (but not through a hub, which imports the whole platform); tests that name a changed file; and
 * tests whose path has the name of its resource, because a resource has one name in every layer.
 */
export function testsOf(changed: readonly string[], sources: ReadonlyMap<string, string>): string[] {
  const isChanged = new Set(changed);
  const resources = changed.filter((file) => !file.startsWith('test/')).map(resourceOf);
  // A test reads a file that is no module, such as the Procfile, by its name.
  const read = changed.filter((file) => !file.endsWith('.ts')).map((file) => path.basename(file));
  const reaches = (file: string, steps: number): boolean => {
    if (isChanged.has(file)) return true;
    if (steps === 0 || hubs.test(file)) return false;
    return importsOf(file, sources.get(file) ?? '').some((imported) => reaches(imported, steps - 1));
  };
  return [...sources.keys()]
    .filter((file) => file.endsWith('.test.ts'))
    .filter(
      (file) =>
        reaches(file, nearSteps) ||
        resources.some((resource) => isAbout(wordsOf(file), resource)) ||
        read.some((name) => sources.get(file)!.includes(name)),
    )
    .toSorted();
}

/**
 * Returns the resource of a file, below its layer: `contacts` for `shared/db/contacts/contacts.ts`, `email` and
 * `domains` for `shared/domain/email/domains/check.ts` and for `api/routes/email/domains.ts`. Empty when there is
 * none.
 */
function resourceOf(file: string): string[] {
  const words = wordsOf(file);
  const [resource = '', part] = words.slice(words.length > 2 ? 2 : 1);
  const isWhole = !part || part === resource || part === `${resource}s`;
  const found = isWhole ? [resource] : [resource, part];
  return commonWords.has(found.at(-1)!) || found.at(-1)!.length < 3 ? [] : found;
}

/**
 * Tells whether a path is about a resource, which has the same path in every layer. The tests of `email/domains` are
 * not about `email` alone.
 */
function isAbout(words: readonly string[], resource: readonly string[]): boolean {
  const [first] = resource;
  if (first === undefined) return false;
  if (resource.length === 1) return words.slice(-2).includes(first);
  return words.some((_word, at) => resource.every((word, next) => words[at + next] === word));
}

function wordsOf(file: string): string[] {
  return file.replace(/(\.test|\.system)?\.[a-z]+$/, '').split('/');
}

function importsOf(file: string, source: string): string[] {
  return [...source.matchAll(/(?:from|import\(|^import)\s*'(\.[^']+)'/gm)].map(([, specifier]) =>
    path.posix.join(path.posix.dirname(file), specifier!),
  );
}

async function changedSince(root: string, base: string): Promise<string[]> {
  const [tracked, untracked] = await Promise.all([
    gitLines(root, ['diff', '--name-only', '--no-renames', base, '--']),
    gitLines(root, ['ls-files', '--others', '--exclude-standard']),
  ]);
  return [...new Set([...tracked, ...untracked])];
}

/** Returns where the branch left its base branch; on the base branch itself, its published commit. */
async function baseOf(root: string): Promise<string> {
  for (const other of ['@{upstream}', 'origin/HEAD', 'origin/main', 'main']) {
    const [base] = await gitLines(root, ['merge-base', 'HEAD', other]).catch(() => []);
    if (base) return base;
  }
  return 'HEAD';
}
