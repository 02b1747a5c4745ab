import * as emailDomains from '../../shared/domain/email-domains.ts';
import { checkDomains } from '../../shared/jobs/check-domains.ts';
import { handle } from '../handle.ts';

export default handle(checkDomains, { concurrency: 1, repeats: true }, async () => {
  await emailDomains.checkDue();
  return 'done';
});
