import * as contactLists from '../../shared/domain/contact-lists/contact-lists.ts';
import { countContacts } from '../../shared/jobs/count-contacts.ts';
import { handle } from '../handle.ts';

export default handle(countContacts, { concurrency: 1 }, ({ workspaceId }) =>
  contactLists.countOn(workspaceId),
);
