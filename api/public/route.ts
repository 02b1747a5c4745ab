import { type Request, type RequestHandler, Router } from 'express';
import { methodNotAllowed } from '../middleware/problems.ts';

type Handlers<Params> = { get?: RequestHandler<Params>; post?: RequestHandler<Params> };

/** Serves one address. All other methods are answered with 405; a slash at the end makes it another address. */
export function route<Params = Request['params']>(path: string, { get, post }: Handlers<Params>): Router {
  const router = Router({ strict: true, caseSensitive: true });
  const address = router.route(path);
  if (get) address.get(get as RequestHandler);
  if (post) address.post(post as RequestHandler);
  const allowed = [...(get ? ['GET', 'HEAD'] : []), ...(post ? ['POST'] : [])];
  address.all(methodNotAllowed(allowed.join(', ')));
  return router;
}
