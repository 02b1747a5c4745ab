import { openQueue, type Job } from './queue.ts';
import { startThread, type Thread } from './thread-handle.ts';
import type { PartFault, ThreadJob, ThreadResult } from './protocol.ts';
import { tooHeavy, tooSlow } from '../formats/liquid-limits.ts';
