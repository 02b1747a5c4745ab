import { registerHooks } from 'node:module';

/**
 * Returns the types that openapi-typescript makes of a description. It prints them with the API of the TypeScript
 * compiler, which the compiler of this repository (7, a native program) no longer has, so it gets the one from
 * @ts-morph/common.
 */
export async function typesOf(description: object): Promise<string> {
  const printer = import.meta.resolve('@ts-morph/common/dist/typescript.js');
  const hooks = registerHooks({
    resolve: (specifier, context, next) => {
      const isAsked = specifier === 'typescript' && context.parentURL?.includes('/openapi-typescript/');
      return next(isAsked ? printer : specifier, context);
    },
  });
  try {
    const { default: generate, astToString } = await import('openapi-typescript');
    // A client may leave out a field that has a default.
    return astToString(await generate(JSON.stringify(description), { defaultNonNullable: false }));
  } finally {
    hooks.deregister();
  }
}
