import { config } from '../../config.ts';

type Room = { left: number; at: number };
const rooms = new Map<string, Room>();
const mostRemembered = 10_000;
/** In which all of a workspace's room comes back. */
const fullAfterMs = 2_000;

/**
 * Whether a new message of the workspace gets a job at once, as far as this process knows. One that sends thousands at a
 * time gets room for some; the others wait in their rows for the sweep, so that they do not stand before everybody else's.
 */
export function takeRoom(workspaceId: string): boolean {
  const most = config.SMS_JOBS_PER_WORKSPACE;
  const at = performance.now();
  const known = rooms.get(workspaceId);
  const left = known ? Math.min(most, known.left + ((at - known.at) / fullAfterMs) * most) : most;
  if (!known && rooms.size >= mostRemembered) rooms.delete(rooms.keys().next().value!);
  rooms.set(workspaceId, { left: left >= 1 ? left - 1 : left, at });
  return left >= 1;
}
