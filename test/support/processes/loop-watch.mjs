/**
 * A preload (`NODE_OPTIONS=--import …`) that knows for how long a process has held its event loop: GET on port
 * LOOP_WATCH_PORT answers the milliseconds of the longest time since it was asked last. Counted in CPU time of the main
 * thread, so what other processes do to the machine does not count.
 */
import { createServer } from 'node:http';
import { isMainThread } from 'node:worker_threads';

if (isMainThread) {
  const cpuMs = () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  };
  let before = cpuMs();
  let longestMs = 0;
  setInterval(() => {
    const now = cpuMs();
    longestMs = Math.max(longestMs, now - before);
    before = now;
  }, 1).unref();
  // No connection is kept: on a busy machine one may be closed for being idle in the moment of the next request.
  createServer((_request, response) => {
    response.setHeader('connection', 'close');
    response.end(String(longestMs));
    longestMs = 0;
  })
    .listen(Number(process.env.LOOP_WATCH_PORT), '127.0.0.1')
    .unref();
}
