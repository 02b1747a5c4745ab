import { gauge } from '../../../shared/common/metrics.ts';
import { config } from '../../../shared/config/config.ts';
import { openRoom } from './budget.ts';

/** Large bodies of one workspace that may be on their way at a time. */
const mostUploads = 10;
const memoryBytes = 128 * 1024 * 1024;

/** For large bodies, until they have been dealt with. */
export const fileRoom = openRoom(() => ({ bytes: config.LARGE_BODIES_BYTES, arriving: mostUploads }));
/** For the others while they are on their way: so many slow ones would take all of the memory otherwise. */
export const memoryRoom = openRoom(() => ({ bytes: memoryBytes, arriving: Number.POSITIVE_INFINITY }));

gauge('large_body_bytes', fileRoom.takenBytes);
