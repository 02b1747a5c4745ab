import { Router } from 'express';
import { readiness } from '../../shared/domain/operations/health.ts';
import { methodNotAllowed } from '../middleware/problems.ts';

/**
 * Health checks for the system that starts and watches the process. Ready means that MySQL works; Redis may be away,
 * or take no jobs.
 */
export const health = Router({ strict: true, caseSensitive: true });

health
  .route('/health/live')
  .get((_request, response) => {
    response.set('Cache-Control', 'no-store').json({ live: true });
  })
  .all(methodNotAllowed('GET, HEAD'));

health
  .route('/health/ready')
  .get(async (_request, response) => {
    const state = await readiness();
    response
      .status(state.ready ? 200 : 503)
      .set('Cache-Control', 'no-store')
      .json(state);
  })
  .all(methodNotAllowed('GET, HEAD'));
