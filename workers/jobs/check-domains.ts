import * as emailDomains from '../../shared/domain/email/domains/domains.ts';
import { checkDomains } from '../../shared/jobs/check-domains.ts';
import { handle } from '../handle.ts';

// Many at a time: a name server that never answers holds a check for seconds.
export default handle(checkDomains, { concurrency: 20 }, async ({ domainId }) =>
  domainId === undefined ? 'dropped' : emailDomains.checkDue(domainId),
);
