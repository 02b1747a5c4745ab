import { importsOf, isPackage } from './imports.ts';
import { type File, isProduct, type Rule } from './rule.ts';

/** Makes the rule that only the allowed files import these packages. */
function keptIn(packages: string[], allowed: (file: File) => boolean): Rule {
  return (files) =>
    files
      .filter((file) => isProduct(file) && !allowed(file))
      .flatMap((file) =>
        importsOf(file)
          .filter((found) => packages.some((name) => isPackage(found, name)))
          .map((found) => `${file.path} may not import ${found.specifier}`),
      );
}

const isBoard = (file: File) => /^api\/ops(\/|[^/]*\.ts$)/.test(file.path);

export const knexInDb = keptIn(['knex', 'mysql2', 'mysql'], (file) => file.path.startsWith('shared/db/'));

export const expressInApi = keptIn(['express', '@bull-board/express'], (file) =>
  file.path.startsWith('api/'),
);

export const bullmqInItsPlaces = keptIn(
  ['bullmq'],
  (file) => /^shared\/queue(\.ts$|\/)/.test(file.path) || file.path.startsWith('workers/') || isBoard(file),
);

export const boardInOps = keptIn(['@bull-board'], isBoard);
