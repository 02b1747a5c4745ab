import { codeLines, type File, type Rule } from './rule.ts';

const routes = 'api/routes/';
const layers = ['shared/schemas/', 'shared/domain/', 'shared/db/'];
/** The layers that have nothing of a resource, each with its reason. */
const absent: Record<string, string> = {
  'shared/db/sms/preview': 'a preview stores nothing',
};

const declared = /\broute: '[A-Z]+ \/v2\/([^']+)'/;

/** Returns the resource of a file: `email/templates` of `email/templates.ts`, and `email` of `email/email.ts`. */
const resourceOf = ({ path }: File) =>
  path
    .slice(routes.length)
    .replace(/\.ts$/, '')
    .replace(/(^|\/)([^/]+)\/\2$/, '$1$2');

/**
 * The folder is the URL: `/v2/email/templates/{id}` is declared in `email/templates.ts` of api/routes, and each layer
 * below has `email/templates`. So a URL tells a reader its files.
 */
export const foldersAreUrls: Rule = (files) => {
  const paths = files.map(({ path }) => path);
  const declaring = files
    .filter(({ path }) => path.startsWith(routes))
    .map((file) => ({
      path: file.path,
      resource: resourceOf(file),
      urls: codeLines(file).flatMap((line) => declared.exec(line)?.[1] ?? []),
    }))
    .filter(({ urls }) => urls.length > 0);
  const isOf = (url: string, resource: string) => `${url}/`.startsWith(`${resource}/`);
  /** The file whose resource is the longest start of the URL. */
  const placeOf = (url: string) =>
    declaring
      .filter(({ resource }) => isOf(url, resource))
      .toSorted((one, other) => other.resource.length - one.resource.length)[0]?.path;
  const has = (place: string) => paths.some((path) => path === `${place}.ts` || path.startsWith(`${place}/`));
  return declaring.flatMap(({ path, resource, urls }) => [
    ...urls
      .filter((url) => placeOf(url) !== path)
      .map((url) => `${path} declares /v2/${url}, which is not its URL`),
    ...layers
      .map((layer) => layer + resource)
      .filter((place) => !has(place) && !Object.hasOwn(absent, place))
      .map((place) => `${path} has nothing in ${place}`),
  ]);
};
