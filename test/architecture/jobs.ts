import * as procfile from '../../scripts/setup/start/procfile.ts';
import { chosenOf, type Job } from '../../shared/jobs/job.ts';
import { importsOf } from './imports.ts';
import type { Rule } from './rule.ts';
import { namesIn } from './shape.ts';

/** Every job is in the list of its folder, or nothing knows it. The linter makes an index list all that it imports. */
export const jobsAreListed: Rule = (files) =>
  ['shared/jobs', 'workers/jobs'].flatMap((folder) => {
    const index = files.find(({ path }) => path === `${folder}/index.ts`);
    const listed = index ? importsOf(index).map(({ target }) => target) : [];
    const isPartOf = (name: string, path: string) =>
      path === `${folder}/${name}.ts` || path.startsWith(`${folder}/${name}/`);
    return namesIn(files, `${folder}/`, '.ts')
      .filter((name) => name !== 'index' && name !== 'job')
      .filter((name) => !listed.some((target) => isPartOf(name, target)))
      .map((name) => files.find(({ path }) => isPartOf(name, path))!.path)
      .map((path) => `${path} is not in the list of ${folder}/index.ts`);
  });

/**
 * Returns the lanes of jobs that no line of the Procfile runs. A line may name a job, which means all its lanes, or one
 * lane. A line that names none runs all jobs.
 */
export function laneWithoutProcess(text: string, jobs: readonly Job[]): string[] {
  const workers = procfile
    .parse(text)
    .map((line) => ({ name: line.name, ...procfile.partsOf(line) }))
    .filter(({ program }) => program === 'workers/main.ts');
  const breaches: string[] = [];
  const run = new Set<string>();
  for (const { name, args } of workers)
    for (const word of args.length > 0 ? args : jobs.map((job) => job.name))
      try {
        for (const queueName of chosenOf(word, jobs).queueNames) run.add(queueName);
      } catch (error) {
        breaches.push(`${name}: ${(error as Error).message}`);
      }
  for (const job of jobs)
    for (const [lane, queueName] of Object.entries<string>(job.lanes))
      if (!run.has(queueName)) breaches.push(`${job.name}:${lane} is run by no line`);
  return breaches;
}
