import { registerHooks } from 'node:module';

const replacement = new URL('./left-out-package.ts', import.meta.url).href;
// mjml calls none of these: the sandbox has no network, and what mjml makes is neither minified nor beautified. They have
// nearly half of the modules that mjml would load.
const leftOut = new Set(['undici', 'web-resource-inliner', 'htmlnano', 'cssnano-preset-lite', 'js-beautify']);

/** Replaces packages without use in the sandbox by an empty module, from now on. */
export function leaveOut(): void {
  registerHooks({
    resolve: (specifier, context, next) =>
      leftOut.has(specifier) ? { url: replacement, shortCircuit: true } : next(specifier, context),
  });
}
