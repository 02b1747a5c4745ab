import { registerHooks } from 'node:module';

const replacement = new URL('./left-out-package.ts', import.meta.url).href;
// A library of mjml's brings it, to fetch pages. The sandbox has no network, and a fifth of its modules are of this package.
const leftOut = 'undici';

/** From now on who asks for a package that has no use in the sandbox gets an empty module. */
export function leaveOut(): void {
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === leftOut ? { url: replacement, shortCircuit: true } : next(specifier, context),
  });
}
