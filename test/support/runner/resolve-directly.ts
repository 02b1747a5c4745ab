import { registerHooks } from 'node:module';

const ownModule = /^\.\.?\/[^?%]*\.ts$/;

/**
 * Resolves imports of our own modules before Vitest does. Its hook sends a message to the main process for each of some
 * thousand imports, for the graph of its watch mode. Not for files that replace modules: that is the other work of its
 * hook.
 */
export function resolveDirectly(): void {
  registerHooks({
    resolve: (specifier, context, next) =>
      ownModule.test(specifier) && context.parentURL
        ? { url: new URL(specifier, context.parentURL).href, shortCircuit: true }
        : next(specifier, context),
  });
}
