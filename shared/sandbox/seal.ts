import { registerHooks } from 'node:module';

/** Functions that open connections, end processes or hand out modules without an import. */
const doors = {
  global: ['fetch', 'WebSocket', 'EventSource'],
  process: ['getBuiltinModule', 'binding', '_linkedBinding', 'dlopen', '_getActiveHandles', 'kill'],
};

/**
 * A thread or process of the sandbox must call this when it has loaded everything that it needs. From then on it can
 * load neither a file nor a module of Node, so code that came with customers' content finds no network. Node 24 has no
 * permission for the network. For files a process has `--permission`, which a thread cannot have. With the function
 * that this returns, the caller can still load modules later.
 */
export function seal(): <T>(load: () => Promise<T>) => Promise<T> {
  for (const name of doors.global) Reflect.deleteProperty(globalThis, name);
  for (const name of doors.process) Reflect.defineProperty(process, name, { value: refuse });
  let isOpen = false;
  registerHooks({
    resolve: (specifier, context, next) => (isOpen ? next(specifier, context) : refuse()),
    load: (url, context, next) => (isOpen ? next(url, context) : refuse()),
  });
  return async (load) => {
    isOpen = true;
    try {
      return await load();
    } finally {
      isOpen = false;
    }
  };
}

function refuse(): never {
  throw Object.assign(new Error('Access to this has been restricted'), { code: 'ERR_ACCESS_DENIED' });
}
