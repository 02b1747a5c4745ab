import { readiness } from '../../shared/domain/operations/health.ts';
import { route } from './route.ts';

/**
 * Health checks for the system that starts and watches the process. Ready means that MySQL works; Redis may be away,
 * or take no jobs.
 */
export const health = [
  route('/health/live', {
    get: (_request, response) => {
      response.set('Cache-Control', 'no-store').json({ live: true });
    },
  }),
  route('/health/ready', {
    get: async (_request, response) => {
      const state = await readiness();
      response
        .status(state.ready ? 200 : 503)
        .set('Cache-Control', 'no-store')
        .json(state);
    },
  }),
];
