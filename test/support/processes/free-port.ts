import { portIsFree } from '../../../scripts/setup/kept.ts';

/*
 * Systems give the ports above these to outgoing connections and to servers that ask for any port (Linux from 32768,
 * macOS from 49152), and scripts/setup takes its own from 20000 on. So nothing else takes a port of this range between
 * the moment it is found free and the moment a program listens there.
 */
const [firstPort, portsOfProcess, processes] = [10_000, 250, 40];

// Test processes run side by side, so each takes its ports from its own part of the range.
const part = firstPort + (Number(process.env['VITEST_POOL_ID'] ?? 0) % processes) * portsOfProcess;
let next = Math.floor(Math.random() * portsOfProcess);

/** Returns a port on which nobody listens. Only a program that is given its number takes it. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = part + (next % portsOfProcess);
    next += 1;
    if (await portIsFree(port)) return port;
  }
}
