import * as contactLists from '../../shared/domain/contact-lists/contact-lists.ts';
import { copyContacts } from '../../shared/jobs/copy-contacts.ts';
import { handle } from '../handle.ts';

export default handle(copyContacts, { concurrency: 2 }, (payload) => contactLists.workOn(payload));
