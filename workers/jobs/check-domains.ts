import * as emailDomains from '../../shared/domain/email/domains/domains.ts';
import { checkDomains } from '../../shared/jobs/check-domains.ts';
import { handle } from '../handle.ts';

// Name servers that never answer hold a look for seconds.
export default handle(checkDomains, { concurrency: 20 }, async ({ domainId }) =>
  domainId === undefined ? 'dropped' : emailDomains.checkDue(domainId),
);
