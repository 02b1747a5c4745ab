import { registerHooks } from 'node:module';

const replacement = new URL('./left-out-package.ts', import.meta.url).href;
// A library of mjml brings this package to fetch pages. The sandbox has no network, and this package has a fifth of the
// modules that mjml loads.
const leftOut = 'undici';

/** Replaces a package without use in the sandbox by an empty module, from now on. */
export function leaveOut(): void {
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === leftOut ? { url: replacement, shortCircuit: true } : next(specifier, context),
  });
}
