// Made from the description of the API by `npm run client`; not to be changed by hand.
export interface paths {
    "/v2/email/domains": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List sending domains, newest first
         * @description Each comes with its status and with what the last look at its DNS found; this request looks at nothing. A domain may send while its status is verified or warning. A workspace can add up to 50 domains.
         *
         *     Needs the scope `domains.read`.
         */
        get: operations["listEmailDomains"];
        put?: never;
        /**
         * Add a sending domain
         * @description The answer says what to publish in the DNS of the domain. The DKIM record is required: once it is seen, the domain is verified and may send. It is looked for every 5 minutes, for 14 days, and whenever you ask.
         *
         *     Needs the scope `domains.write`.
         */
        post: operations["createEmailDomain"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/email/domains/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get one sending domain
         * @description The records say what to publish in the DNS, and what the last look found of each; verifyEmailDomain looks again at once. A pending domain is looked at every 5 minutes and fails after 14 days. A verified domain whose DKIM record is gone has the status warning and may send for 24 hours more.
         *
         *     Needs the scope `domains.read`.
         */
        get: operations["getEmailDomain"];
        put?: never;
        post?: never;
        /**
         * Remove a sending domain
         * @description Email of it that is queued fails when it is due.
         *
         *     Needs the scope `domains.write`.
         */
        delete: operations["deleteEmailDomain"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/email/domains/{id}/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Look at the DNS of a sending domain now
         * @description The answer is the domain as it is after that. Where the name servers give no answer, each record says so and the status stays as it was.
         *
         *     Needs the scope `domains.write`.
         */
        post: operations["verifyEmailDomain"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/email/templates": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List email templates, newest first
         * @description They come with their sources, so that large ones make a page shorter than limit; nextCursor goes on from there. A workspace has at most 1,000.
         *
         *     Needs the scope `templates.read`.
         */
        get: operations["listEmailTemplates"];
        put?: never;
        /**
         * Create an email template
         * @description The source is checked: Liquid must parse, and MJML must compile with the includes of the workspace. With sampleData it is rendered too.
         *
         *     Needs the scope `templates.write`.
         */
        post: operations["createEmailTemplate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/email/templates/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get one email template
         * @description The sources html and text come as they were stored: nothing is merged, compiled or included; renderEmailTemplate shows what an email would hold. updatedAt does not move when html or text alone are changed.
         *
         *     Needs the scope `templates.read`.
         */
        get: operations["getEmailTemplate"];
        put?: never;
        post?: never;
        /**
         * Delete an email template
         * @description Emails that were accepted before are sent all the same.
         *
         *     Needs the scope `templates.write`.
         */
        delete: operations["deleteEmailTemplate"];
        options?: never;
        head?: never;
        /**
         * Change an email template
         * @description The source is checked: Liquid must parse, and MJML must compile with the includes of the workspace. With sampleData it is rendered too. Emails that were accepted before are sent as they were rendered then.
         *
         *     Needs the scope `templates.write`.
         */
        patch: operations["updateEmailTemplate"];
        trace?: never;
    };
    "/v2/email/templates/{id}/render": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * See what an email of a template would hold
         * @description Nothing is sent.
         *
         *     Needs the scope `templates.read`.
         */
        post: operations["renderEmailTemplate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/email/includes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List email includes, newest first
         * @description They come with their content, so that large ones make a page shorter than limit; nextCursor goes on from there. A workspace has at most 200.
         *
         *     Needs the scope `templates.read`.
         */
        get: operations["listEmailIncludes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/email/includes/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get one email include
         * @description An include is found by the name that templates use for it. Its content is the source as it was stored; other includes that it names are not put in.
         *
         *     Needs the scope `templates.read`.
         */
        get: operations["getEmailInclude"];
        /**
         * Create or replace an email include
         * @description Templates take the new content from their next email on; they are not checked again, so it may make one fail. Includes may be nested 5 levels deep.
         *
         *     Needs the scope `templates.write`.
         */
        put: operations["saveEmailInclude"];
        post?: never;
        /**
         * Delete an email include
         * @description One that a template uses, directly or through other includes, stays.
         *
         *     Needs the scope `templates.write`.
         */
        delete: operations["deleteEmailInclude"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/email/test-recipients": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the test recipients of the workspace, oldest first
         * @description All of them come in one page: nextCursor is always null, and there are at most 100. The shared test sender reaches those whose verified is true.
         *
         *     Needs the scope `domains.read`.
         */
        get: operations["listEmailTestRecipients"];
        put?: never;
        /**
         * Add a test recipient
         * @description Sends a confirmation link to the address, which works for 7 days. Until it has been followed, the shared test sender does not reach the address. An address that is there already and has not confirmed gets a new link, at most once a minute and five times a day. Where the operator has set no sender for such mail, the answer is service_unavailable.
         *
         *     Needs the scope `domains.write`.
         */
        post: operations["createEmailTestRecipient"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/email/test-recipients/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get one test recipient
         * @description It is verified once the link that was mailed to the address has been followed. To have another link sent, add the address again.
         *
         *     Needs the scope `domains.read`.
         */
        get: operations["getEmailTestRecipient"];
        put?: never;
        post?: never;
        /**
         * Remove a test recipient: the shared test sender no longer reaches it
         * @description An email from the shared test sender that still waits for the address fails when it is due. The address can be added again, and then has to confirm again.
         *
         *     Needs the scope `domains.write`.
         */
        delete: operations["deleteEmailTestRecipient"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/email": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List emails, newest first
         * @description An email must match all filters that are given; the filter recipient needs the scope recipients.read. Where few emails match, a page may be short, or empty, and nextCursor goes on from there. How many days emails are kept is in the workspace, under retention.
         *
         *     Needs the scope `email.read`.
         */
        get: operations["listEmails"];
        put?: never;
        /**
         * Send one email, now or at scheduledAt
         * @description The answer comes as soon as the email is stored, with the status queued; later it is sent, and then delivered or failed, and each step is an event. An email to a suppressed address is accepted as well and then fails with the reason suppressed, unless bypassSuppressions lets it pass. With scheduledAt it can be cancelled until that time. With an Idempotency-Key a request that is repeated sends one email.
         *
         *     Needs the scope `email.send`.
         */
        post: operations["sendEmail"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/email/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get one email
         * @description The status goes from queued to sent, delivered or failed, or to cancelled; a late bounce can still turn delivered into failed, and reason says why. Bodies and attachments are not shown: content has the beginning of the text. An email that is no longer kept is not_found.
         *
         *     Needs the scope `email.read`.
         */
        get: operations["getEmail"];
        put?: never;
        post?: never;
        /**
         * Cancel a scheduled email that still waits to send
         * @description The answer is the email with the status cancelled, and email.cancelled is its last event; the email itself can still be read. An email without scheduledAt, and one that is being sent, was sent or was cancelled before, is refused with not_cancellable.
         *
         *     Needs the scope `email.send`.
         */
        delete: operations["cancelEmail"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/email/{id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the events of one email, oldest first
         * @description All of them come in one page: nextCursor is always null. The data of each is the email as it was at that time. Events are usually kept for fewer days than emails, so an older email may have none left; retention in the workspace says how many.
         *
         *     Needs the scope `email.read`.
         */
        get: operations["listEmailEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/templates": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List SMS templates, newest first
         * @description They come with their sources, so that large ones make a page shorter than limit; nextCursor goes on from there. A workspace has at most 1,000.
         *
         *     Needs the scope `templates.read`.
         */
        get: operations["listSmsTemplates"];
        put?: never;
        /**
         * Create an SMS template
         * @description The content is checked: Liquid must parse. With sampleData it is rendered too, and must fit in a message.
         *
         *     Needs the scope `templates.write`.
         */
        post: operations["createSmsTemplate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/templates/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get one SMS template
         * @description The content comes as it was stored, with nothing merged into it; renderSmsTemplate shows what a message would hold.
         *
         *     Needs the scope `templates.read`.
         */
        get: operations["getSmsTemplate"];
        put?: never;
        post?: never;
        /**
         * Delete an SMS template
         * @description Messages that were accepted before are sent all the same.
         *
         *     Needs the scope `templates.write`.
         */
        delete: operations["deleteSmsTemplate"];
        options?: never;
        head?: never;
        /**
         * Change an SMS template
         * @description The content is checked: Liquid must parse. With sampleData it is rendered too, and must fit in a message. Messages that were accepted before are sent as they were rendered then.
         *
         *     Needs the scope `templates.write`.
         */
        patch: operations["updateSmsTemplate"];
        trace?: never;
    };
    "/v2/templates/{id}/render": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * See what a message of a template would hold
         * @description Nothing is sent.
         *
         *     Needs the scope `templates.read`.
         */
        post: operations["renderSmsTemplate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/sms/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * See how many parts a text takes, and what they cost
         * @description Nothing is sent.
         *
         *     Needs the scope `sms.send`.
         */
        post: operations["previewSms"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/sms/batches/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * See what a batch would come to: recipients, parts, cost, faults of rows
         * @description It takes the body of a batch. Nothing is stored or sent, and what the batch would be refused for is refused here too. Up to 10,000 recipients are counted exactly; beyond that the figures are estimated. listIds needs the scopes lists.read and contacts.read. A workspace may run one preview at a time; a second one is refused with rate_limited.
         *
         *     Needs the scope `sms.send`.
         */
        post: operations["previewSmsBatch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/sms/batches": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List batches, newest first
         * @description A batch must match all filters that are given. Where few match, a page may be short, or empty, and nextCursor goes on from there. The counts of a batch may be 5 seconds old.
         *
         *     Needs the scope `sms.read`.
         */
        get: operations["listSmsBatches"];
        put?: never;
        /**
         * Send texts to up to 10,000 numbers, or to the members of contact lists
         * @description The batch is answered before any message of it is made; its counts say how far it has come. Messages that cannot be sent are told by their place, counting from 0, and the rest are taken. content is Liquid: `data`, and then the data of each message, are merged into it, and for members of lists `contact` with firstName, lastName, company, email, number, clientReference and tags. A batch that cannot be paid for is paused, and goes on by itself once it can.
         *
         *     Needs the scope `sms.send`.
         */
        post: operations["createSmsBatch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/sms/batches/import": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send texts to the numbers in a CSV file
         * @description A form of `settings` and, behind it, `file`: CSV in UTF-8 with a header, of at most 500,000 rows and 200 columns, with commas, semicolons or tabs between them. All columns are merge data under their header, in which whatever is no letter, digit or _ is a _. Rows that cannot be sent are told by their place, counting from 0 without the header and empty rows; the rest are taken.
         *
         *     Needs the scope `sms.send`.
         */
        post: operations["importSmsBatch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/sms/batches/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get one batch
         * @description Its messages are listed by GET /v2/sms with batchId.
         *
         *     Needs the scope `sms.read`.
         */
        get: operations["getSmsBatch"];
        put?: never;
        post?: never;
        /**
         * Cancel a batch
         * @description It is cancelled at once; what waits, and its queued messages that are not being sent, follow within moments.
         *
         *     Needs the scope `sms.send`.
         */
        delete: operations["cancelSmsBatch"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/sms/batches/{id}/links": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the short links of one batch with their clicks, most clicks first
         * @description By the URL as it was written, before Liquid put the data of each message in; the first 1,000.
         *
         *     Needs the scope `sms.read`.
         */
        get: operations["listSmsBatchLinks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/sms/batches/{id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resume a paused batch
         * @description While what paused it stands, it stays paused. A batch whose key was revoked counts against the key of the caller from then on.
         *
         *     Needs the scope `sms.send`.
         */
        post: operations["resumeSmsBatch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/sms": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List text messages, newest first
         * @description Texts that were sent and texts that came in are listed together, unless direction says which. A text must match all filters that are given; a filter by a number needs the scope recipients.read. Where few texts match, a page may be short, or empty, and nextCursor goes on from there.
         *
         *     Needs the scope `sms.read`.
         */
        get: operations["listSms"];
        put?: never;
        /**
         * Send one text message, now or at scheduledAt
         * @description A message that the workspace cannot pay for is held, and goes out in order once it can, within 72 hours.
         *
         *     Needs the scope `sms.send`.
         */
        post: operations["sendSms"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/sms/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get one text message
         * @description A text that is sent goes from queued to sent, and then to delivered or failed, or to cancelled; it is held while the workspace cannot pay for it, and reason says why it failed. A text that came in is received. A text that is no longer kept is not_found.
         *
         *     Needs the scope `sms.read`.
         */
        get: operations["getSms"];
        put?: never;
        post?: never;
        /**
         * Cancel a message that is held, or scheduled and still waits to send
         * @description The answer is the text with the status cancelled, and sms.cancelled is its last event. Its price goes back to the balance and its parts to the limits of the key. A text that is not held and was not scheduled, and one whose time has come, is refused with not_cancellable; queued texts of a batch are cancelled with the batch.
         *
         *     Needs the scope `sms.send`.
         */
        delete: operations["cancelSms"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/sms/{id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the events of one text message, oldest first
         * @description All of them come in one page: nextCursor is always null. The data of each is the text as it was at that time. Events are usually kept for fewer days than texts, so an older text may have none left; retention in the workspace says how many.
         *
         *     Needs the scope `sms.read`.
         */
        get: operations["listSmsEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/sms/{id}/links": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the short links of one text message, with their clicks
         * @description All of them come in one page: nextCursor is always null. A text without shortenLinks has none. The links work as long as the text is kept, and clicks are shown about a second later.
         *
         *     Needs the scope `sms.read`.
         */
        get: operations["listSmsLinks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/conversations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List conversations, latest activity first
         * @description There is one for each sender of yours and number at the other end, from the first text on that has come in; it has the texts before that too. One that gets a text while you read the pages may come again. GET /v2/sms with conversationId lists its texts.
         *
         *     Needs the scope `sms.read` and `recipients.read`.
         */
        get: operations["listConversations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/simulator/phones": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the phones that were texted, newest first
         * @description The numbers 07700 900000 to 07700 900999 are nobody’s: what is sent to them stays in the simulator, whatever carries other messages. 900002 fails for good, 900003 for now, 900004 expires, 900005 is never reported, 900006 answers STOP, 900007 answers YES; all others deliver.
         *
         *     Needs the scope `simulator.read` and `recipients.read` and `content.read`.
         */
        get: operations["listSimulatorPhones"];
        put?: never;
        post?: never;
        /**
         * Clear the phones of their texts, and the list of phones
         * @description Only the phones of this workspace are cleared. The messages that GET /v2/sms lists stay, and a text that is still on its way arrives at a new phone.
         *
         *     Needs the scope `simulator.write`.
         */
        delete: operations["clearSimulatorPhones"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/simulator/phones/{number}/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Text the workspace from a phone of the simulator
         * @description The answer is the text as it came in; webhooks and the feed get sms.received for it. STOP and words like it suppress the number, and START lifts that again. Without `to` it answers the sender of the last text to the phone. A number that the simulator does not carry is not_found.
         *
         *     Needs the scope `simulator.write`.
         */
        post: operations["createSimulatorMessage"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the webhooks of the workspace, newest first
         * @description All of them come in one page: nextCursor is always null, and there are at most 100. secret is null here, as only the answer that issued it shows it.
         *
         *     Needs the scope `webhooks.read`.
         */
        get: operations["listWebhooks"];
        put?: never;
        /**
         * Create a webhook
         * @description The answer holds the signing secret, which is not shown again. There is one webhook for the same url, events and inboundNumber.
         *
         *     Needs the scope `webhooks.write` and `recipients.read` and `content.read`.
         */
        post: operations["createWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/webhooks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get one webhook
         * @description Shows how the webhook fares as well: failingSince and consecutiveFailures while it fails, and autoDisabled once it was switched off for that. secret is null here, as only the answer that issued it shows it.
         *
         *     Needs the scope `webhooks.read`.
         */
        get: operations["getWebhook"];
        put?: never;
        post?: never;
        /**
         * Delete a webhook
         * @description No attempt is begun after it, and deliveries that were still to come are not made. The log of its deliveries goes with it. The events stay in the feed; a webhook that is made for the same url has an id and a secret of its own.
         *
         *     Needs the scope `webhooks.write` and `recipients.read` and `content.read`.
         */
        delete: operations["deleteWebhook"];
        options?: never;
        head?: never;
        /**
         * Change a webhook
         * @description What is left out stays as it is. apiVersion and events together turn a legacy webhook into a v2 one; that answer holds a new signing secret, which is not shown again. A new url is used from the next attempt on.
         *
         *     Needs the scope `webhooks.write` and `recipients.read` and `content.read`.
         */
        patch: operations["updateWebhook"];
        trace?: never;
    };
    "/v2/webhooks/{id}/rotate-secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Issue a new signing secret
         * @description The answer holds the secret, which is not shown again. For 72 hours, or until the next rotation, each delivery carries two signatures: sig with the new secret and sig-prev with the old one. A legacy webhook signs with the new one alone.
         *
         *     Needs the scope `webhooks.write` and `recipients.read` and `content.read`.
         */
        post: operations["rotateWebhookSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/webhooks/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send webhook.test to a webhook
         * @description It goes to this webhook alone, whatever it subscribes to, also while it is switched off. The answer is the event; what came of it is in the deliveries. A workspace may send 20 tests a minute; another is refused with rate_limited.
         *
         *     Needs the scope `webhooks.write` and `recipients.read` and `content.read`.
         */
        post: operations["testWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/webhooks/{id}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the deliveries to a webhook with their latest attempt, newest first
         * @description Deliveries are kept 7 days. With both status and eventType a page may hold fewer than limit, or none, and still have a nextCursor.
         *
         *     Needs the scope `webhooks.read`.
         */
        get: operations["listWebhookDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/webhooks/{id}/deliveries/{deliveryId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get one delivery with its attempts
         * @description The attempts come newest first, each with the status and the beginning of the answer; of very many the newest 100 are shown. A delivery is not_found once it is no longer kept, which is as long as events are, or once the webhook was deleted.
         *
         *     Needs the scope `webhooks.read`.
         */
        get: operations["getWebhookDelivery"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/webhooks/{id}/deliveries/{deliveryId}/redeliver": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send one delivery again
         * @description Whatever became of it: the same Webhook-Id and body, and a new schedule. The webhook has to be active. Nothing changes for one that is being attempted at this moment.
         *
         *     Needs the scope `webhooks.write` and `recipients.read` and `content.read`.
         */
        post: operations["redeliverWebhookDelivery"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/webhooks/{id}/recover": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send again what failed or was skipped since a time
         * @description Paced, so that the endpoint is not overrun. The webhook has to be active.
         *
         *     Needs the scope `webhooks.write` and `recipients.read` and `content.read`.
         */
        post: operations["recoverWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the feed of events, oldest first
         * @description Without cursor the feed starts one hour ago, or at since. nextCursor is always there, also with no new events; sent as cursor it returns only newer ones. Where hasMore is true there may be more already, even if the page is empty, since types may leave out many events in a row: ask again at once. Events are kept 7 days.
         *
         *     Needs the scope `events.read`.
         */
        get: operations["listEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/suppressions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List suppressions, newest first
         * @description A suppression must match all filters that are given. number and email look for a whole number, in any common format, or a whole address, in any case. Where few match, a page may be short, or empty, and nextCursor goes on from there.
         *
         *     Needs the scope `suppressions.read`.
         */
        get: operations["listSuppressions"];
        put?: never;
        /**
         * Suppress a number or an email address
         * @description What is suppressed is not sent to. Where the number, or the address with this scope, is suppressed already, the existing entry is the answer.
         *
         *     Needs the scope `suppressions.write`.
         */
        post: operations["createSuppression"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/suppressions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get one suppression
         * @description Its source says how it came about. One of scope marketing keeps an address from email of kind marketing only. A suppression that was removed is not_found, also where the number or address has been suppressed again since: that is another suppression.
         *
         *     Needs the scope `suppressions.read`.
         */
        get: operations["getSuppression"];
        put?: never;
        post?: never;
        /**
         * Remove a suppression: it may be sent to again
         * @description Messages that failed because of it are not sent now. Another suppression of the same address with the other scope stays, and a new STOP, bounce or complaint suppresses it again.
         *
         *     Needs the scope `suppressions.write`.
         */
        delete: operations["deleteSuppression"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/senders": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List senders, newest first
         * @description Names, mobile numbers and virtual numbers are listed together. A sender that is approved for one country has the status approved, also in the filter, even while others are pending.
         *
         *     Needs the scope `senders.read`.
         */
        get: operations["listSenders"];
        put?: never;
        /**
         * Request a sender
         * @description A name is reviewed before it may send. A UK mobile number is texted a code, which verifySender takes; it works for 10 minutes and 5 tries, and at most 3 an hour and 6 a day go to a number. A sender that is there already comes back as it is, with the countries that are new, and one that still awaits its code is texted another; so is one that was verified in the simulator, once a carrier takes texts. Where the code could not be sent, nothing is left of a sender that was to be new. The first sender that is approved becomes the default.
         *
         *     Needs the scope `senders.write`.
         */
        post: operations["createSender"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/senders/check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * See whether a name could be requested
         * @description Nothing is stored or sent.
         *
         *     Needs the scope `senders.read`.
         */
        get: operations["checkSender"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/senders/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get one sender
         * @description The status is approved as soon as the sender is approved for one country; countries has the outcome for each. A request that was cancelled is not_found.
         *
         *     Needs the scope `senders.read`.
         */
        get: operations["getSender"];
        put?: never;
        post?: never;
        /**
         * Cancel the request for a sender, or give up one that was approved
         * @description One that is approved goes only when no message waits to be sent with it. Where it was the default, the oldest other approved sender is the default then. A rejection stays in force when the same name is requested again. A virtual number is the operator’s to take back.
         *
         *     Needs the scope `senders.write`.
         */
        delete: operations["cancelSender"];
        options?: never;
        head?: never;
        /**
         * Make a sender the default of the workspace
         * @description Only one that is approved can be.
         *
         *     Needs the scope `senders.write`.
         */
        patch: operations["updateSender"];
        trace?: never;
    };
    "/v2/senders/{id}/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Verify a mobile number with the code that was texted to it
         * @description The right code approves the sender for the countries that it was requested for. A wrong one, one that has expired, and any after 5 tries are refused alike.
         *
         *     Needs the scope `senders.write`.
         */
        post: operations["verifySender"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/contacts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List and search contacts, newest first
         * @description For each page a search looks at so many contacts at most: where few match, a page may be short, or empty, and nextCursor goes on from there. A workspace may run a few searches at the same time; further ones wait a little, and are then refused with rate_limited.
         *
         *     Needs the scope `contacts.read`.
         */
        get: operations["listContacts"];
        put?: never;
        /**
         * Create a contact
         * @description The number is stored in E.164. A workspace has one contact for each number: where there is one already, the answer is number_taken; saveContacts would update that contact instead. suppressed says whether the number is on the suppression list already.
         *
         *     Needs the scope `contacts.write`.
         */
        post: operations["createContact"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/contacts/batch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create and update up to 1,000 contacts
         * @description A contact is known by its number: one that exists is updated, and what a row leaves out, or gives as null, stays; an empty text clears. Rows that cannot be saved are told by their place, counting from 0, and the rest are saved, all of them or, when the request is refused, none. Texts that are too long are shortened.
         *
         *     Needs the scope `contacts.write`.
         */
        post: operations["saveContacts"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/contacts/tags": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List tags with how many contacts have them, in alphabetical order
         * @description Tags that differ in case only are one tag, which is shown as it was spelt first. A tag is in the list as long as a contact has it.
         *
         *     Needs the scope `contacts.read`.
         */
        get: operations["listContactTags"];
        put?: never;
        /**
         * Add tags to contacts and remove others
         * @description Removal comes first, so that a tag can be given another spelling. A contact that has a tag already keeps it as it is spelt.
         *
         *     Needs the scope `contacts.write`.
         */
        post: operations["changeContactTags"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/contacts/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get one contact
         * @description Whether the number is suppressed is looked up for this answer; while it is, no text is sent to it. A contact that was erased is not_found.
         *
         *     Needs the scope `contacts.read`.
         */
        get: operations["getContact"];
        put?: never;
        post?: never;
        /**
         * Erase a contact, with its tags and its places in lists; messages forget whose they were
         * @description It cannot be undone. Texts to and from the number stay, but their contactId is null from then on. A suppression of the number stays too, so that it is still not sent to.
         *
         *     Needs the scope `contacts.write`.
         */
        delete: operations["deleteContact"];
        options?: never;
        head?: never;
        /**
         * Change a contact
         * @description What is left out or null stays, an empty text clears a field, and tags take the place of all tags. A new number that another contact has is refused with number_taken. The contact stays in its static lists; a dynamic list has it as long as it matches the filter.
         *
         *     Needs the scope `contacts.write`.
         */
        patch: operations["updateContact"];
        trace?: never;
    };
    "/v2/contact-lists": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List contact lists, newest first; the built-in list of all contacts comes last
         * @description Nothing is counted for it: contactCountAt says when the contacts of a dynamic list were. What is old is then counted by a job.
         *
         *     Needs the scope `lists.read`.
         */
        get: operations["listContactLists"];
        put?: never;
        /**
         * Create a contact list
         * @description A static list starts empty and takes contacts by addContactListContacts. A dynamic list must have a filter, and the contacts that match it are in the list from then on without being added. A dynamic list is counted before the answer where that is soon done; otherwise contactCountAt is null and a job counts it. A workspace has at most 1,000 lists, and two of them may have the same name.
         *
         *     Needs the scope `lists.write`.
         */
        post: operations["createContactList"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/contact-lists/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * See what a dynamic list would hold
         * @description Nothing is stored. The answer says how many contacts match the filter and shows the newest ten of them; where there are too many to be counted while you wait, estimated is true. A workspace may run a few searches at the same time; further ones wait a little, and are then refused with rate_limited.
         *
         *     Needs the scope `lists.read` and `contacts.read`.
         */
        post: operations["previewContactList"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/contact-lists/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get one contact list
         * @description A dynamic list is counted anew for this answer where that is soon done; contactCountAt says when the count was right. While copyInProgress is true, contacts of other lists are still being added. The contacts themselves are listed by listContactListContacts.
         *
         *     Needs the scope `lists.read`.
         */
        get: operations["getContactList"];
        put?: never;
        post?: never;
        /**
         * Delete a contact list; its contacts stay
         * @description A copy into it ends. The built-in list cannot be deleted, nor one whose contacts a batch of text messages leaves out (excludeLists) while some of its messages are still to be made, or a copy in progress leaves out.
         *
         *     Needs the scope `lists.write`.
         */
        delete: operations["deleteContactList"];
        options?: never;
        head?: never;
        /**
         * Change a contact list
         * @description A list stays of its kind. The built-in list cannot be changed.
         *
         *     Needs the scope `lists.write`.
         */
        patch: operations["updateContactList"];
        trace?: never;
    };
    "/v2/contact-lists/{id}/contacts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the contacts of a list, newest first
         * @description Those of a dynamic list are searched for, within the limits of a search of contacts.
         *
         *     Needs the scope `lists.read` and `contacts.read`.
         */
        get: operations["listContactListContacts"];
        put?: never;
        /**
         * Add contacts to a static list
         * @description Contacts that are named by contactIds are in the list when the answer comes. Members of other lists (fromLists) are copied by a job, which the request waits for; what takes longer is answered with 202 and the counts so far, and the list shows copyInProgress until it is done. Members that are left out by excludeLists or by a filter are not counted as skipped; a contact that is in two of the lists is added once and skipped once.
         *
         *     Needs the scope `lists.write`.
         */
        post: operations["addContactListContacts"];
        /**
         * Remove contacts from a static list
         * @description The contacts stay in the address book and in other lists. removed counts the contacts that were in the list; ids of others, and unknown ones, are ignored, so it does no harm to repeat the request. A dynamic list and the built-in list are refused with list_not_static.
         *
         *     Needs the scope `lists.write`.
         */
        delete: operations["removeContactListContacts"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/api-keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the API keys of the workspace, newest first
         * @description All of them come in one page: nextCursor is always null. Keys that have expired stay in it until they are deleted, those that were rotated for 30 days; the tokens of connected apps are not in it. Their key and signingSecret are null here, as only the answer that issued them shows them.
         *
         *     Needs the scope `api_keys.read`.
         */
        get: operations["listApiKeys"];
        put?: never;
        /**
         * Create an API key
         * @description The answer holds the key, and the signing secret of hmac_sha256; neither is shown again. The key can be given only scopes that your own has, and no longer life. A key in strict mode makes only keys in strict mode; one with limits makes none with the scope sms.send.
         *
         *     Needs the scope `api_keys.write`.
         */
        post: operations["createApiKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/api-keys/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get one API key
         * @description The key and its signingSecret are null here, as only the answer that issued them shows them; keyPrefix and keyLast4 help to recognise a key. usedToday and usedThisMonth count the parts of texts that were sent with this key, with those that it replaced, and with those that replaced it. A key that was deleted is not_found.
         *
         *     Needs the scope `api_keys.read`.
         */
        get: operations["getApiKey"];
        put?: never;
        post?: never;
        /**
         * Revoke an API key
         * @description It is refused within a second. A key cannot delete itself, nor a key that may do more than itself; those that it has replaced it can.
         *
         *     Needs the scope `api_keys.write`.
         */
        delete: operations["deleteApiKey"];
        options?: never;
        head?: never;
        /**
         * Change an API key
         * @description A key cannot switch its own strictMode off or raise its own limits, nor change a key that may do more than itself: one with other scopes, out of strict mode, or free of its own limits. Switching to hmac_sha256 answers with the signing secret, this once.
         *
         *     Needs the scope `api_keys.write`.
         */
        patch: operations["updateApiKey"];
        trace?: never;
    };
    "/v2/api-keys/{id}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replace an API key by a new one
         * @description The new key has an id of its own, and the settings, usage and signing secret of the old one, which goes on for overlapHours. It expires when the old one would have, so a key that expires sooner cannot make it.
         *
         *     Needs the scope `api_keys.write`.
         */
        post: operations["rotateApiKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/api-keys/{id}/rotate-signing-secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Issue a new signing secret
         * @description For keys with hmac_sha256. Signatures by the old secret are accepted for another 24 hours.
         *
         *     Needs the scope `api_keys.write`.
         */
        post: operations["rotateSigningSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/reports/sends": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Count messages by hour, day or month
         * @description Messages count for the hour in which they were accepted, with the status that they have now; what happens is in the figures within seconds. Intervals without a message are there, with zeros.
         *
         *     Needs the scope `reports.read`.
         */
        get: operations["getSendsReport"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/reports/client-tags": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Count messages by clientTag, most accepted first; the first 1,000
         * @description Messages count for the hour in which they were accepted, with the status that they have now; what happens is in the figures within seconds.
         *
         *     Needs the scope `reports.read`.
         */
        get: operations["getClientTagsReport"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/reports/countries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Count text messages by country and carrier, most accepted first
         * @description Messages count for the hour in which they were accepted, with the status that they have now; what happens is in the figures within seconds.
         *
         *     Needs the scope `reports.read`.
         */
        get: operations["getCountriesReport"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/reports/latency": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * See how long messages took to be sent and to be delivered
         * @description Messages count for the hour in which they were accepted, with the status that they have now; what happens is in the figures within seconds. The times are read from histograms, and are within 4 % of the true ones.
         *
         *     Needs the scope `reports.read`.
         */
        get: operations["getLatencyReport"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/reports/email-deliverability": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * See what became of emails, by recipient domain and by sending domain
         * @description Messages count for the hour in which they were accepted, with the status that they have now; what happens is in the figures within seconds. The first 200 domains of each, most accepted first.
         *
         *     Needs the scope `reports.read`.
         */
        get: operations["getEmailDeliverabilityReport"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/workspace": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the workspace of the key: its settings, limits and balance
         * @description The default sender is chosen by updateSender; the rest is set by the operator, and no operation changes it. balance is what is left for texts at this moment; null is no limit. webhookAddresses are the IP addresses that your firewall has to let in.
         *
         *     Needs the scope `workspace.read`.
         */
        get: operations["getWorkspace"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/workspace/spend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * See what is spent on text messages, by country, key and clientTag, and what changed the balance
         * @description Texts count for the hour in which they were accepted, entries of the ledger for the hour in which they were made. A text that is accepted in one month and given back in the next changes the texts of the first and the ledger of the second.
         *
         *     Needs the scope `workspace.read`.
         */
        get: operations["getWorkspaceSpend"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description A domain that the workspace wants to send from */
        NewEmailDomain: {
            /**
             * @description The part after the @ in the addresses of senders; add each subdomain as a separate domain
             * @example example.com
             */
            name: string;
        };
        /** @description A new email template */
        NewEmailTemplate: {
            /**
             * @description 1 to 64 letters, digits, hyphens or underscores; upper and lower case are different
             * @example welcome
             */
            name: string;
            /** @description A note for yourself; recipients do not see it */
            description?: string | null;
            /** @description Default html */
            format?: ("html" | "mjml") | null;
            /** @description Liquid source. Values are escaped for HTML, except after `| raw` */
            html: string;
            /** @description The plain-text alternative, as Liquid source */
            text?: string | null;
            /** @description The values that the template is tested with when it is saved; up to 5000 characters of JSON */
            sampleData?: {
                [key: string]: unknown;
            } | null;
        };
        /** @description The changes of a template. A field that is left out or null stays unchanged. An empty description or text clears the field */
        EmailTemplateChanges: {
            /** @description 1 to 64 letters, digits, hyphens or underscores; upper and lower case are different. Left out: unchanged; null: unchanged */
            name?: string | null;
            /** @description An empty text clears it. Left out: unchanged; null: unchanged */
            description?: string | null;
            /** @description mjml is compiled with the includes of the workspace before sending. Left out: unchanged; null: unchanged */
            format?: ("html" | "mjml") | null;
            /** @description Liquid source. Values are escaped for HTML, except after `| raw`. Left out: unchanged; null: unchanged */
            html?: string | null;
            /** @description The plain-text alternative, as Liquid source. Left out: unchanged; null: unchanged */
            text?: string | null;
            /** @description The values that the template is tested with when it is saved; up to 5000 characters of JSON. Left out: unchanged; null: unchanged */
            sampleData?: {
                [key: string]: unknown;
            } | null;
        };
        /** @description The values that Liquid merges */
        EmailTemplateRendering: {
            /** @description The values that Liquid merges; default: the sampleData of the template */
            data?: {
                [key: string]: unknown;
            } | null;
            /** @description Liquid source, rendered with the same data */
            subject?: string | null;
        };
        /** @description The source of an include */
        EmailIncludeContent: {
            /** @description A piece of MJML. It replaces `<mj-include path="its name"/>` in a template, and may contain such elements itself */
            content: string;
        };
        /** @description An address whose owner must confirm that it may get test emails */
        NewEmailTestRecipient: {
            /**
             * @description The address; a confirmation link is sent to it
             * @example ada@example.com
             */
            email: string;
        };
        /** @description An email to be sent: from content, or from a stored template */
        NewEmail: {
            /**
             * @description An address of a verified sending domain, or the shared test sender, which reaches verified test recipients only; `a@b.c` or `Name <a@b.c>`
             * @example Acme <hello@acme.example>
             */
            sender: string;
            /**
             * @description Exactly one address; `a@b.c` or `Name <a@b.c>`
             * @example ada@example.com
             */
            recipient: string;
            /** @description Liquid source, rendered with template.data */
            subject: string;
            /** @description Provide exactly one of content and template.name. In content, at least one of html and text must not be empty. With kind marketing, {{ unsubscribeUrl }} is the opt-out link, here and in templates */
            content?: {
                /** @description HTML, or MJML when format is mjml; Liquid source, rendered with template.data */
                html?: string | null;
                /** @description Plain-text alternative; Liquid source, rendered with template.data */
                text?: string | null;
            } | null;
            /** @description The name of a stored template, and the values that Liquid merges */
            template?: {
                /**
                 * @description The name of a stored template
                 * @example welcome
                 */
                name?: string | null;
                /**
                 * @description The values that Liquid merges
                 * @example {
                 *       "name": "Ada"
                 *     }
                 */
                data?: {
                    [key: string]: unknown;
                } | null;
            } | null;
            /** @description The format of content.html; default html */
            format?: ("html" | "mjml") | null;
            /** @description transactional: such as receipts and reminders; marketing: not sent to recipients who opted out of marketing; authentication: for one-time codes */
            kind?: ("transactional" | "marketing" | "authentication") | null;
            /** @description Your own reference; the email and its events have it */
            clientReference?: string | null;
            /** @description Your own tag, stored in lower case. Each character that is not a letter or digit of any script becomes a hyphen */
            clientTag?: string | null;
            /** @description When to send it: more than 5 minutes and less than 3 months ahead */
            scheduledAt?: string | null;
            /** @description true counts opens, with an image of one pixel in the HTML; default false */
            trackOpens?: boolean | null;
            /** @description true sends to a suppressed address too; a connected app cannot set it to true */
            bypassSuppressions?: boolean | null;
            /** @description The decoded attachments together have at most 30000000 bytes */
            attachments?: components["schemas"]["NewAttachment"][] | null;
        };
        /** @description A file that an email carries */
        NewAttachment: {
            /**
             * @description The name that the recipient sees, without folders and invisible characters
             * @example invoice.pdf
             */
            filename: string;
            /**
             * @description A MIME type. The recipient gets the type that belongs to the file name instead
             * @example application/pdf
             */
            contentType: string;
            /**
             * @description Base64 with padding, without line breaks
             * @example aGVsbG8K
             */
            content: string;
        };
        /** @description A new SMS template */
        NewSmsTemplate: {
            /**
             * @description Unique in the workspace; compared byte by byte, so upper and lower case are different
             * @example Appointment reminder
             */
            name: string;
            /** @description A note for yourself; recipients do not see it */
            description?: string | null;
            /**
             * @description Liquid source; the rendered text must fit into one message
             * @example Dear {{ name }}, see you on {{ day }}.
             */
            content: string;
            /** @description The values that the template is tested with when it is saved; up to 5000 characters of JSON */
            sampleData?: {
                [key: string]: unknown;
            } | null;
        };
        /** @description The changes of a template. A field that is left out or null stays unchanged. An empty description clears the description */
        SmsTemplateChanges: {
            /** @description Unique in the workspace; compared byte by byte, so upper and lower case are different. Left out: unchanged; null: unchanged */
            name?: string | null;
            /** @description An empty text clears it. Left out: unchanged; null: unchanged */
            description?: string | null;
            /** @description Liquid source; the rendered text must fit into one message. Left out: unchanged; null: unchanged */
            content?: string | null;
            /** @description The values that the template is tested with when it is saved; up to 5000 characters of JSON. Left out: unchanged; null: unchanged */
            sampleData?: {
                [key: string]: unknown;
            } | null;
        };
        /** @description The values that Liquid merges */
        SmsTemplateRendering: {
            /** @description The values that Liquid merges; default: the sampleData of the template */
            data?: {
                [key: string]: unknown;
            } | null;
        };
        /** @description A text whose parts are to be counted */
        SmsToPreview: {
            /**
             * @description The text as it would be sent; Liquid is not rendered
             * @example Your parcel is here.
             */
            content: string;
            /**
             * @description A number in any common format; without a country code it is a UK number. With a recipient, the answer has the cost for its country
             * @example +447700900123
             */
            recipient?: string | null;
            /** @description true counts the parts with short links in place of URLs, as POST /v2/sms sends them */
            shortenLinks?: boolean | null;
        };
        /** @description Texts to many recipients: to numbers, each with its own data, or to contact lists */
        NewSmsBatch: {
            /** @description Provide exactly one of messages and listIds */
            messages?: components["schemas"]["NewSmsBatchMessage"][] | null;
            /** @description Contact lists. Each member gets one message; needs the scope lists.read */
            listIds?: string[] | null;
            /** @description Contact lists whose members get no message; only with listIds */
            excludeLists?: string[] | null;
            /**
             * @description A sender that is approved for the countries of the recipients; default: the sender of the workspace
             * @example Acme
             */
            sender?: string | null;
            /**
             * @description Liquid source; provide at most one of content and template
             * @example Dear {{ name }}, your parcel is here.
             */
            content?: string | null;
            /** @description The name of a stored template, and values that Liquid merges into each message */
            template?: {
                /**
                 * @description The name of a stored template
                 * @example Appointment reminder
                 */
                name: string;
                /**
                 * @description Values for all messages
                 * @example {
                 *       "day": "Monday"
                 *     }
                 */
                data?: {
                    [key: string]: unknown;
                } | null;
            } | null;
            /** @description Values that Liquid merges into each message; only with content */
            data?: {
                [key: string]: unknown;
            } | null;
            /** @description How to treat characters outside the GSM alphabet. allow (the default): send them; deny: refuse the text; strip: replace them by similar characters of the GSM alphabet */
            unicode?: ("allow" | "deny" | "strip") | null;
            /** @description When to send it: more than 5 minutes and less than 3 months ahead */
            scheduledAt?: string | null;
            /** @description Your own reference of the batch; each message may have its own reference */
            clientReference?: string | null;
            /** @description Your own tag of the batch and its messages, stored in lower case. Each character that is not a letter or digit of any script becomes a hyphen */
            clientTag?: string | null;
            /** @description true replaces each http(s) URL of a message by its own short link, whose clicks are counted. A text may have at most 10 such URLs, of at most 2,048 characters each */
            shortenLinks?: boolean | null;
            /** @description true allows a number more than once in messages. Otherwise each repeated number is an error of its row */
            allowDuplicates?: boolean | null;
        };
        /** @description One text of a batch; its own fields replace those of the batch */
        NewSmsBatchMessage: {
            /**
             * @description A number in any common format; without a country code it is a UK number. A row with an invalid number is in errors
             * @example +447700900123
             */
            recipient: string;
            /** @description Values that Liquid merges into the content; they replace values of the batch with the same name */
            data?: {
                [key: string]: unknown;
            } | null;
            /** @description Liquid source; replaces the content of the batch */
            content?: string | null;
            /** @description Replaces the sender of the batch */
            sender?: string | null;
            /** @description Your own reference; the message and its events have it */
            clientReference?: string | null;
            /** @description Replaces unicode of the batch */
            unicode?: ("allow" | "deny" | "strip") | null;
        };
        /** @description The settings of a batch whose messages are rows of a file */
        NewSmsImport: {
            /**
             * @description A sender that is approved for the countries of the recipients; default: the sender of the workspace
             * @example Acme
             */
            sender?: string | null;
            /**
             * @description Liquid source; provide at most one of content and template
             * @example Dear {{ name }}, your parcel is here.
             */
            content?: string | null;
            /** @description The name of a stored template, and values that Liquid merges into each message */
            template?: {
                /**
                 * @description The name of a stored template
                 * @example Appointment reminder
                 */
                name: string;
                /**
                 * @description Values for all messages
                 * @example {
                 *       "day": "Monday"
                 *     }
                 */
                data?: {
                    [key: string]: unknown;
                } | null;
            } | null;
            /** @description Values that Liquid merges into each message; only with content */
            data?: {
                [key: string]: unknown;
            } | null;
            /** @description How to treat characters outside the GSM alphabet. allow (the default): send them; deny: refuse the text; strip: replace them by similar characters of the GSM alphabet */
            unicode?: ("allow" | "deny" | "strip") | null;
            /** @description When to send it: more than 5 minutes and less than 3 months ahead */
            scheduledAt?: string | null;
            /** @description Your own reference of the batch; each message may have its own reference */
            clientReference?: string | null;
            /** @description Your own tag of the batch and its messages, stored in lower case. Each character that is not a letter or digit of any script becomes a hyphen */
            clientTag?: string | null;
            /** @description true replaces each http(s) URL of a message by its own short link, whose clicks are counted. A text may have at most 10 such URLs, of at most 2,048 characters each */
            shortenLinks?: boolean | null;
            /** @description true allows a number more than once in messages. Otherwise each repeated number is an error of its row */
            allowDuplicates?: boolean | null;
            /**
             * @description The headers of the columns in the file. Without recipient, the numbers are in the first column named recipient, number, phone, mobile or msisdn, in upper or lower case
             * @example {
             *       "recipient": "Mobile",
             *       "clientReference": "Id"
             *     }
             */
            columns?: {
                /** @description The column of the numbers */
                recipient?: string;
                /** @description The column of your own references; each message has its reference */
                clientReference?: string;
                /** @description The column of senders; each replaces the sender of the batch */
                sender?: string;
                /** @description The column of texts; each replaces the content of the batch */
                content?: string;
            } | null;
        };
        /** @description A text to be sent: from content, or from a stored template */
        NewSms: {
            /**
             * @description A sender that is approved for the country of the recipient; default: the sender of the workspace
             * @example Acme
             */
            sender?: string | null;
            /**
             * @description A number in any common format; without a country code it is a UK number
             * @example +447700900123
             */
            recipient: string;
            /**
             * @description Provide exactly one of content and template
             * @example Your parcel is here.
             */
            content?: string | null;
            /** @description The name of a stored template, and the values that Liquid merges */
            template?: {
                /**
                 * @description The name of a stored template
                 * @example Appointment reminder
                 */
                name: string;
                /**
                 * @description The values that Liquid merges
                 * @example {
                 *       "name": "Ada",
                 *       "day": "Monday"
                 *     }
                 */
                data?: {
                    [key: string]: unknown;
                } | null;
            } | null;
            /** @description How to treat characters outside the GSM alphabet. allow (the default): send them; deny: refuse the text; strip: replace them by similar characters of the GSM alphabet */
            unicode?: ("allow" | "deny" | "strip") | null;
            /** @description Your own reference; the message and its events have it */
            clientReference?: string | null;
            /** @description Your own tag, stored in lower case. Each character that is not a letter or digit of any script becomes a hyphen */
            clientTag?: string | null;
            /** @description When to send it: more than 5 minutes and less than 3 months ahead */
            scheduledAt?: string | null;
            /** @description true replaces each http(s) URL by a short link, whose clicks are counted. A text may have at most 10 such URLs, of at most 2,048 characters each */
            shortenLinks?: boolean | null;
        };
        /** @description A text that the phone sends */
        SimulatorText: {
            /**
             * @description The text that the phone sends
             * @example Yes please
             */
            content: string;
            /** @description The approved sender of the workspace that gets the text. Default: the sender of the last text to the phone; if there is none, the default sender of the workspace */
            to?: string | null;
        };
        /** @description A new webhook: an address to which events are posted */
        NewWebhook: {
            /**
             * @description Absolute http or https URL without credentials
             * @example https://example.com/hooks
             */
            url: string;
            /** @description A note for yourself */
            description?: string | null;
            /**
             * @description The types of events that the webhook gets
             * @example [
             *       "email.delivered",
             *       "email.bounced"
             *     ]
             */
            events: ("email.queued" | "email.sent" | "email.delivered" | "email.delayed" | "email.bounced" | "email.failed" | "email.complained" | "email.opened" | "email.cancelled" | "sms.queued" | "sms.sent" | "sms.delivered" | "sms.failed" | "sms.cancelled" | "sms.held" | "sms.received" | "batch.paused" | "batch.cancelled" | "batch.completed" | "suppression.created")[];
            /** @description The API version of the bodies; default: the current version */
            apiVersion?: string | null;
            /** @description The webhook gets sms.received only for texts to this number, in E.164 */
            inboundNumber?: string | null;
            /** @description true: never switched off automatically; default false */
            autoDisableExempt?: boolean | null;
            /** @description If deliveries fail without a success for this many minutes, the webhook is switched off; the default is normally 360 */
            autoDisableAfterMinutes?: number | null;
            /** @description One warning is sent when deliveries have failed for this percentage of autoDisableAfterMinutes. 0: no warning; 1: a warning at the first failure; default 10 */
            atRiskAlertPercent?: number | null;
        };
        /** @description The changes of a webhook. A field that is left out stays unchanged */
        WebhookChanges: {
            /**
             * @description Absolute http or https URL without credentials. Left out: unchanged; null is refused
             * @example https://example.com/hooks
             */
            url?: string;
            /** @description A note for yourself. Left out: unchanged; null clears it */
            description?: string | null;
            /**
             * @description The types of events that the webhook gets. Legacy names are only for a webhook that stays a legacy webhook. Left out: unchanged; null is refused
             * @example [
             *       "email.delivered",
             *       "email.bounced"
             *     ]
             */
            events?: ("email.queued" | "email.sent" | "email.delivered" | "email.delayed" | "email.bounced" | "email.failed" | "email.complained" | "email.opened" | "email.cancelled" | "sms.queued" | "sms.sent" | "sms.delivered" | "sms.failed" | "sms.cancelled" | "sms.held" | "sms.received" | "batch.paused" | "batch.cancelled" | "batch.completed" | "suppression.created" | "delivery_receipt" | "inbound")[];
            /** @description The API version of the bodies. Given together with events, it turns a legacy webhook into a v2 webhook. Left out: unchanged; null is refused */
            apiVersion?: string;
            /** @description The webhook gets sms.received only for texts to this number, in E.164; without a number, for texts to all numbers of the workspace. Left out: unchanged; null clears it */
            inboundNumber?: string | null;
            /** @description true switches the webhook on, ends a pause, and resets the count of failures; false lets deliveries wait. Left out: unchanged; null is refused */
            active?: boolean;
            /** @description Left out: unchanged; null sets the default */
            autoDisableExempt?: boolean | null;
            /** @description If deliveries fail without a success for this many minutes, the webhook is switched off; the default is normally 360. Left out: unchanged; null sets the default */
            autoDisableAfterMinutes?: number | null;
            /** @description One warning is sent when deliveries have failed for this percentage of autoDisableAfterMinutes. 0: no warning; 1: a warning at the first failure; default 10. Left out: unchanged; null sets the default */
            atRiskAlertPercent?: number | null;
        };
        /**
         * @description pending: not delivered yet; delivered: the endpoint accepted it; failed: no attempt succeeded; skipped: the webhook was switched off. redeliver and recover send failed and skipped deliveries again
         * @enum {string}
         */
        WebhookDeliveryStatus: "pending" | "delivered" | "failed" | "skipped";
        /** @description The time from which missed deliveries are sent again */
        WebhookRecovery: {
            /**
             * Format: date-time
             * @description Deliveries that failed or were skipped since this time are sent again, in the order in which they were due
             * @example 2026-11-20T10:00:00+01:00
             */
            since: string;
        };
        /** @description A new suppression: exactly one of number and email */
        NewSuppression: {
            /** @description A number in any common format; without a country code it is a UK number */
            number?: string | null;
            /** @description An email address; upper and lower case are the same */
            email?: string | null;
            /** @description The scope for an address; default all */
            scope?: ("all" | "marketing") | null;
            /** @description The reason, as a note for yourself */
            reason?: string | null;
        };
        /** @description A request for a new sender */
        NewSender: {
            /**
             * @description 3 to 11 letters, digits, underscores or spaces, or a UK mobile number that starts with 07. A name that has only digits must be such a number. Spaces around the name are ignored, and two names that differ only in upper and lower case are the same
             * @example Acme
             */
            name: string;
            /**
             * @description An example of a message that will be sent; the reviewer reads it
             * @example Your parcel arrives today between 10:00 and 11:00.
             */
            sampleContent: string;
            /** @description ISO 3166-1 alpha-2; default: the country of the workspace */
            countries?: string[] | null;
            /** @description The business that uses the sender. Leave it out for the business of the workspace itself; it is not used for a mobile number */
            businessProfileId?: string | null;
        };
        /** @description The changes of a sender */
        SenderChanges: {
            /**
             * @description true makes this sender the default: texts that name no sender come from it. The previous default stays a sender. Left out: unchanged; null is refused
             * @constant
             */
            default?: true;
        };
        /** @description The code that was sent by text to the mobile number */
        SenderVerification: {
            /**
             * @description The six digits that were sent by text
             * @example 123456
             */
            code: string;
        };
        /** @description A new contact */
        NewContact: {
            /**
             * @description A number in any common format; without a country code it is a UK number
             * @example 07700 900123
             */
            number: string;
            /** @description Given name */
            firstName?: string | null;
            /** @description Family name */
            lastName?: string | null;
            /** @description The company that the person works for */
            company?: string | null;
            /** @description An email address; it is not checked, and nothing is sent to it */
            email?: string | null;
            /** @description Your own reference */
            clientReference?: string | null;
            /** @description At most 100 tags. Spaces around a tag are removed. A tag is ignored if it is blank, has more than 64 characters, or is already there in upper or lower case */
            tags?: string[] | null;
        };
        /** @description Up to 1,000 rows for the address book. A row creates a contact, or changes the contact that has the number already */
        ContactBatch: {
            /** @description One row for each number */
            contacts: {
                /**
                 * @description A number in any common format; without a country code it is a UK number
                 * @example 07700 900123
                 */
                number: string;
                /** @description Given name */
                firstName?: string | null;
                /** @description Family name */
                lastName?: string | null;
                /** @description The company that the person works for */
                company?: string | null;
                /** @description An email address; it is not checked, and nothing is sent to it */
                email?: string | null;
                /** @description Your own reference */
                clientReference?: string | null;
            }[];
        };
        /** @description Tags to add to contacts, and tags to remove from them */
        ContactTagChanges: {
            /** @description The contacts to change. Unknown ids are ignored */
            contactIds: string[];
            /** @description Tags to add */
            tags?: string[] | null;
            /** @description Tags to remove, in upper or lower case */
            removeTags?: string[] | null;
        };
        /** @description The changes of a contact. A field that is left out or null stays unchanged. An empty text or list clears the field */
        ContactChanges: {
            /** @description Given name. An empty text clears it. Left out: unchanged; null: unchanged */
            firstName?: string | null;
            /** @description Family name. An empty text clears it. Left out: unchanged; null: unchanged */
            lastName?: string | null;
            /** @description The company that the person works for. An empty text clears it. Left out: unchanged; null: unchanged */
            company?: string | null;
            /** @description An email address; it is not checked, and nothing is sent to it. An empty text clears it. Left out: unchanged; null: unchanged */
            email?: string | null;
            /** @description Your own reference. An empty text clears it. Left out: unchanged; null: unchanged */
            clientReference?: string | null;
            /** @description A number in any common format; without a country code it is a UK number. Left out: unchanged; null: unchanged */
            number?: string | null;
            /** @description At most 100 tags. Spaces around a tag are removed. A tag is ignored if it is blank, has more than 64 characters, or is already there in upper or lower case. Left out: unchanged; null: unchanged */
            tags?: string[] | null;
        };
        /** @description A new list: static, or dynamic with a filter */
        NewContactList: {
            /** @description The name of the list */
            name: string;
            /** @description A note for yourself */
            description?: string | null;
            /** @description The kind of the list; default static */
            kind?: ("static" | "dynamic") | null;
            /** @description The filter; only for a dynamic list, which must have a filter */
            filter?: components["schemas"]["ContactFilter"] | null;
        };
        /** @description Selects contacts; a contact must match every field of the filter */
        ContactFilter: {
            /** @description Finds words in the name, the company, the email or the clientReference by their beginning; upper and lower case are the same. Each character that is not a letter or digit separates words, so example.com finds all addresses of this domain. In a text that is not ASCII, a symbol such as an emoji is part of a word. Only the first 20 words each of the names, the email and the clientReference are found. Digits also find numbers: by the first digits, or by at least the last 4 digits */
            search?: string | null;
            /** @description Contacts that have this tag, in upper or lower case */
            tag?: string | null;
            /** @description Contacts with this clientReference */
            clientReference?: string | null;
        };
        /** @description A filter to be tested */
        ContactListPreview: {
            /** @description The filter, as for a dynamic list */
            filter: components["schemas"]["ContactFilter"];
        };
        /** @description The changes of a list. A field that is left out or null stays unchanged. An empty description clears the description */
        ContactListChanges: {
            /** @description The name of the list. Left out: unchanged; null: unchanged */
            name?: string | null;
            /** @description An empty text clears it. Left out: unchanged; null: unchanged */
            description?: string | null;
            /** @description The kind cannot be changed; a request may contain the present kind. Left out: unchanged; null: unchanged */
            kind?: ("static" | "dynamic" | "builtin") | null;
            /** @description Only for a dynamic list: replaces the whole filter. Left out: unchanged; null: unchanged */
            filter?: components["schemas"]["ContactFilter"] | null;
        };
        /** @description Contacts to add: either contactIds or fromLists. With fromLists you may give excludeLists, search, tag and clientReference, which select among the members */
        ContactListAddition: {
            /** @description The contacts to add. Unknown ids and contacts that are already in the list are skipped */
            contactIds?: string[] | null;
            /** @description Lists whose present members are copied once; later changes of these lists have no effect. An id that is not of a list of the workspace is refused */
            fromLists?: string[] | null;
            /** @description Lists whose members are not copied. An id that is not of a list of the workspace is refused */
            excludeLists?: string[] | null;
            /** @description Finds words in the name, the company, the email or the clientReference by their beginning; upper and lower case are the same. Each character that is not a letter or digit separates words, so example.com finds all addresses of this domain. In a text that is not ASCII, a symbol such as an emoji is part of a word. Only the first 20 words each of the names, the email and the clientReference are found. Digits also find numbers: by the first digits, or by at least the last 4 digits */
            search?: string | null;
            /** @description Contacts that have this tag, in upper or lower case */
            tag?: string | null;
            /** @description Contacts with this clientReference */
            clientReference?: string | null;
        };
        /** @description Contacts to remove from the list; they stay in the address book */
        ContactListRemoval: {
            /** @description The contacts to remove. Unknown ids are ignored */
            contactIds: string[];
        };
        /** @description A new API key. Without scopes it gets all scopes, so the caller must have all scopes too */
        NewApiKey: {
            /** @description Your name for the key; an empty text means no name */
            name?: string | null;
            /** @description The scopes of the new key; default: all scopes. Your own key must have each of them */
            scopes?: components["schemas"]["Scope"][] | null;
            /** @description How many SMS parts the key may send in a UTC day and month; null or 0 means no limit */
            limits?: {
                /** @description SMS parts in a UTC day */
                dailyParts?: number | null;
                /** @description SMS parts in a UTC month */
                monthlyParts?: number | null;
            } | null;
            /** @description true needs signing */
            strictMode?: boolean | null;
            /** @description How requests with the key are signed (RFC 9421) */
            signing?: components["schemas"]["NewSigning"] | null;
            /** @description The API version that the key is pinned to; null: the current version */
            apiVersion?: "2026-11-01" | null;
            /** @description The key is refused before this time; default: now */
            activeFrom?: string | null;
            /** @description The key is refused from this time on; default: never. Not later than the expiry of your own key */
            expiresAt?: string | null;
        };
        /**
         * @description A permission of a key or token
         * @enum {string}
         */
        Scope: "webhooks.read" | "webhooks.write" | "events.read" | "suppressions.read" | "suppressions.write" | "senders.read" | "senders.write" | "contacts.read" | "contacts.write" | "lists.read" | "lists.write" | "api_keys.read" | "api_keys.write" | "templates.read" | "templates.write" | "email.send" | "email.read" | "domains.read" | "domains.write" | "sms.send" | "sms.read" | "reports.read" | "workspace.read" | "simulator.read" | "simulator.write" | "recipients.read" | "content.read";
        /** @description How requests with the key are signed (RFC 9421) */
        NewSigning: {
            /**
             * @description hmac_sha256: with a secret that the answer contains; ecdsa_p256_sha256: with your own private key
             * @enum {string}
             */
            algorithm: "hmac_sha256" | "ecdsa_p256_sha256";
            /** @description Your public key: P-256, SubjectPublicKeyInfo in PEM. Required for ecdsa_p256_sha256; must be left out for hmac_sha256 */
            publicKey?: string | null;
        };
        /** @description The changes of an API key. A field that is left out stays unchanged */
        ApiKeyChanges: {
            /** @description Your name for the key. An empty text clears it. Left out: unchanged; null: unchanged */
            name?: string | null;
            /** @description Left out: unchanged; null: unchanged */
            limits?: {
                /** @description SMS parts in a UTC day; 0 means no limit too. Left out: unchanged; null clears it */
                dailyParts?: number | null;
                /** @description SMS parts in a UTC month; 0 means no limit too. Left out: unchanged; null clears it */
                monthlyParts?: number | null;
            } | null;
            /** @description true needs signing. Left out: unchanged; null: unchanged */
            strictMode?: boolean | null;
            /** @description How requests with the key are signed. If the key has hmac_sha256 already, hmac_sha256 keeps its secret. Left out: unchanged; null clears it */
            signing?: components["schemas"]["NewSigning"] | null;
            /** @description The API version that the key is pinned to; without it, the current version. Left out: unchanged; null clears it */
            apiVersion?: "2026-11-01" | null;
        };
        /** @description How long the old key works together with the new key */
        KeyRotation: {
            /** @description How many hours the old key still works; default 24 */
            overlapHours?: number | null;
        };
        /** @description A domain to send from, with the DNS records that prove that it is yours */
        EmailDomain: {
            /**
             * @description Id of a sending domain
             * @example domain_01h455vb4pex5vsknk084sn02q
             */
            id: string;
            /**
             * @description The domain, in lower case and punycode
             * @example example.com
             */
            name: string;
            /**
             * @description pending: the DKIM record has not been found yet; verified: you may send from the domain; warning: the DKIM record is missing, you may still send for 24 hours; failed: you may not send from the domain
             * @enum {string}
             */
            status: "pending" | "verified" | "warning" | "failed";
            /** @description The records to publish in the DNS of the domain */
            records: components["schemas"]["EmailDomainRecord"][];
            /**
             * Format: date-time
             * @description When it was created: UTC, to the millisecond
             * @example 2026-11-20T10:00:00.000Z
             */
            createdAt: string;
            /** @description When the DKIM record was first found */
            verifiedAt: string | null;
            /** @description When the DNS was last checked */
            lastCheckedAt: string | null;
        };
        /** @description A DNS record to publish, and the result of the last check */
        EmailDomainRecord: {
            /**
             * @description dkim: required, it decides the status of the domain; return_path: bounces go to an address in your own domain; spf, dmarc: recommended
             * @enum {string}
             */
            purpose: "dkim" | "return_path" | "spf" | "dmarc";
            /**
             * @description The type of the DNS record
             * @enum {string}
             */
            type: "TXT" | "CNAME";
            /**
             * @description The name of the DNS record
             * @example mabc._domainkey.example.com
             */
            name: string;
            /** @description The value to publish. Publish a TXT value of more than 255 characters as several strings. If the domain already has an SPF record, add the include to that record. A DMARC record of your own is enough */
            value: string;
            /**
             * @description pending: the DNS has not answered yet; verified: the record is right; missing: the DNS has no such record; invalid: the record is wrong
             * @enum {string}
             */
            status: "pending" | "verified" | "missing" | "invalid";
            /** @description The fault of the record, or why the DNS query failed */
            error: string | null;
        };
        /** @description Why a request was refused (RFC 9457) */
        Problem: {
            /**
             * Format: uri
             * @description The address of a page about the problem. It ends in a code that never changes
             * @example https://messaging.example/problems/validation_failed
             */
            type: string;
            /** @description A short summary, the same for each problem with this code */
            title: string;
            /**
             * Format: int32
             * @description The HTTP status of the response
             */
            status: number;
            /** @description The fault of this request, in words */
            detail: string | null;
            /** @description Faults by field: the name of a field, such as `template.name` or `messages[3]`, and what is wrong with it */
            errors?: {
                [key: string]: string[];
            };
            /** @description The same as the header Request-Id */
            requestId: string;
        };
        /** @description A page of results; nextCursor leads to the next page */
        EmailDomainPage: {
            /** @description The items of this page */
            data: components["schemas"]["EmailDomain"][];
            /** @description Pass it as `cursor` to get the next page; null on the last page. In a search, an earlier page may be short or empty */
            nextCursor: string | null;
        };
        /** @description A stored email template */
        EmailTemplate: {
            /**
             * @description Id of an email template
             * @example etemplate_01h455vb4pex5vsknk084sn02q
             */
            id: string;
            /**
             * @description 1 to 64 letters, digits, hyphens or underscores; upper and lower case are different
             * @example welcome
             */
            name: string;
            /** @description A note for yourself; recipients do not see it */
            description: string | null;
            /**
             * @description mjml is compiled to HTML before sending
             * @enum {string}
             */
            format: "html" | "mjml";
            /** @description Liquid source, or MJML with Liquid */
            html: string;
            /** @description The plain-text alternative, as Liquid source; empty if there is none */
            text: string;
            /** @description The values that the template was tested with when it was saved */
            sampleData: {
                [key: string]: unknown;
            } | null;
            /**
             * Format: date-time
             * @description When it was created: UTC, to the millisecond
             * @example 2026-11-20T10:00:00.000Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When name, description, format or sampleData last changed
             * @example 2026-11-20T10:00:00.000Z
             */
            updatedAt: string;
        };
        /** @description A page of results; nextCursor leads to the next page */
        EmailTemplatePage: {
            /** @description The items of this page */
            data: components["schemas"]["EmailTemplate"][];
            /** @description Pass it as `cursor` to get the next page; null on the last page. In a search, an earlier page may be short or empty */
            nextCursor: string | null;
        };
        /** @description The email that the template makes with these values */
        RenderedEmailTemplate: {
            /** @description The rendered subject, if the request had one */
            subject?: string;
            /** @description The HTML as it would be sent; MJML is compiled */
            html: string;
            /** @description The plain text; empty if the template has none */
            text: string;
        };
        /** @description A page of results; nextCursor leads to the next page */
        EmailIncludePage: {
            /** @description The items of this page */
            data: components["schemas"]["EmailInclude"][];
            /** @description Pass it as `cursor` to get the next page; null on the last page. In a search, an earlier page may be short or empty */
            nextCursor: string | null;
        };
        /** @description A piece of MJML that templates share */
        EmailInclude: {
            /**
             * @description Id of an email include
             * @example include_01h455vb4pex5vsknk084sn02q
             */
            id: string;
            /**
             * @description 1 to 64 letters, digits, hyphens or underscores; upper and lower case are different
             * @example welcome
             */
            name: string;
            /** @description A piece of MJML */
            content: string;
            /**
             * Format: date-time
             * @description When it was created: UTC, to the millisecond
             * @example 2026-11-20T10:00:00.000Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When it last changed: UTC, to the millisecond
             * @example 2026-11-20T10:00:00.000Z
             */
            updatedAt: string;
        };
        /** @description A page of results; nextCursor leads to the next page */
        EmailTestRecipientPage: {
            /** @description The items of this page */
            data: components["schemas"]["EmailTestRecipient"][];
            /** @description Pass it as `cursor` to get the next page; null on the last page. In a search, an earlier page may be short or empty */
            nextCursor: string | null;
        };
        /** @description An address that the shared test sender may send to, after it is verified */
        EmailTestRecipient: {
            /**
             * @description Id of a test recipient
             * @example testrecipient_01h455vb4pex5vsknk084sn02q
             */
            id: string;
            /** @description The address */
            email: string;
            /** @description true after the owner of the address has opened the confirmation link; before that, the test sender cannot send to it */
            verified: boolean;
            /**
             * Format: date-time
             * @description When it was created: UTC, to the millisecond
             * @example 2026-11-20T10:00:00.000Z
             */
            createdAt: string;
        };
        /** @description One email: its content and its status */
        Email: {
            /**
             * @description Id of an email
             * @example email_01h455vb4pex5vsknk084sn02q
             */
            id: string;
            /**
             * @description transactional: such as receipts and reminders; marketing: not sent to recipients who opted out of marketing; authentication: for one-time codes
             * @enum {string}
             */
            kind: "transactional" | "marketing" | "authentication";
            /** @description As you gave it: an address, or a name and an address */
            sender: string;
            /** @description null without the scope recipients.read */
            recipient: string | null;
            /** @description The rendered subject; null without the scope content.read */
            subject: string | null;
            /** @description Absent without the scope content.read */
            content?: {
                /** @description Always null: the HTML is not kept after sending */
                html: null;
                /** @description An excerpt of the text, of up to 2000 characters */
                text: string | null;
            };
            /**
             * @description queued: accepted or scheduled; sent: handed over to the relay, not yet delivered or failed; delivered: accepted by the recipient’s mail server; failed: see reason
             * @enum {string}
             */
            status: "queued" | "sent" | "delivered" | "failed" | "cancelled";
            /** @description Why the email failed, why it is tried again, or that it was reported as spam; left out if there is no reason */
            reason?: components["schemas"]["EmailReason"];
            /**
             * @description Your own reference, as you gave it
             * @example order-7
             */
            clientReference: string | null;
            /**
             * @description Your own tag, in lower case; reports count messages by tag
             * @example orders
             */
            clientTag: string | null;
            /**
             * Format: int32
             * @description How often the tracking image was loaded
             */
            openCount: number;
            /**
             * Format: date-time
             * @description When it was created: UTC, to the millisecond
             * @example 2026-11-20T10:00:00.000Z
             */
            createdAt: string;
            /** @description When it is to be sent; null: at once */
            scheduledAt: string | null;
            /** @description When it was handed over to the relay */
            sentAt: string | null;
            /** @description When the recipient’s mail server accepted it */
            deliveredAt: string | null;
            /** @description When the tracking image was first loaded */
            openedAt: string | null;
            /**
             * Format: date-time
             * @description When it last changed: UTC, to the millisecond
             * @example 2026-11-20T10:00:00.000Z
             */
            updatedAt: string;
        };
        /** @description Why an email failed, is delayed, or was reported as spam */
        EmailReason: {
            /**
             * @description hard_bounce: the mail server refused it permanently; soft_bounce: the mail server refused it temporarily, too many times; complaint: the recipient reported it as spam; suppressed: the address is on the suppression list; rejected: the email could not be composed or was not allowed; failed: any other cause
             * @enum {string}
             */
            category: "hard_bounce" | "soft_bounce" | "complaint" | "suppressed" | "rejected" | "failed";
            /**
             * @description The cause, for programs
             * @example mailbox_unknown
             */
            code: string;
            /** @description The answer of the mail server, if there is one */
            description: string | null;
            /** @description Whether sending it again later may succeed */
            retryable: boolean;
        };
        /** @description A page of results; nextCursor leads to the next page */
        EmailPage: {
            /** @description The items of this page */
            data: components["schemas"]["Email"][];
            /** @description Pass it as `cursor` to get the next page; null on the last page. In a search, an earlier page may be short or empty */
            nextCursor: string | null;
        };
        /** @description All events of one record, oldest first */
        RecordEventPage: {
            /** @description All events of the record, oldest first */
            data: components["schemas"]["Event"][];
            /** @description Always null: there is only one page */
            nextCursor: null;
        };
        /** @description An event; `type` tells the kind of the event and the shape of data */
        Event: components["schemas"]["EmailEvent"] | components["schemas"]["SmsEvent"] | components["schemas"]["BatchEvent"] | components["schemas"]["SuppressionEvent"] | components["schemas"]["WebhookTestEvent"];
        /** @description An event of an email; data is the email at that time */
        EmailEvent: {
            /**
             * @description Id of an event
             * @example event_01h455vb4pex5vsknk084sn02q
             */
            id: string;
            /**
             * @description `email.queued`: An email was accepted; `email.sent`: An email was handed over to the relay; `email.delivered`: The recipient’s mail server accepted an email; `email.delayed`: An email could not be handed over yet; the service tries again; `email.bounced`: The recipient’s mail server refused an email; `email.failed`: An email will not be sent: see reason; `email.complained`: A recipient reported an email as spam; `email.opened`: An email was opened for the first time; `email.cancelled`: A scheduled email was cancelled (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "email.queued" | "email.sent" | "email.delivered" | "email.delayed" | "email.bounced" | "email.failed" | "email.complained" | "email.opened" | "email.cancelled";
            /**
             * Format: date-time
             * @description When it happened: UTC, to the millisecond
             * @example 2026-11-20T10:00:00.000Z
             */
            occurredAt: string;
            /**
             * @description The version that data follows
             * @example 2026-11-01
             */
            apiVersion: string;
            /**
             * @description Id of a workspace
             * @example workspace_01h455vb4pex5vsknk084sn02q
             */
            workspaceId: string;
            /** @description The email at the time of the event */
            data: components["schemas"]["Email"];
        };
        /** @description An event of a text; data is the text at that time */
        SmsEvent: {
            /**
             * @description Id of an event
             * @example event_01h455vb4pex5vsknk084sn02q
             */
            id: string;
            /**
             * @description `sms.queued`: A text was accepted; `sms.sent`: The network accepted a text; `sms.delivered`: A text arrived on the phone; `sms.failed`: A text will not arrive: see reason; `sms.cancelled`: A text was cancelled; `sms.held`: A text waits until the workspace can pay for it; `sms.received`: A text was received (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "sms.queued" | "sms.sent" | "sms.delivered" | "sms.failed" | "sms.cancelled" | "sms.held" | "sms.received";
            /**
             * Format: date-time
             * @description When it happened: UTC, to the millisecond
             * @example 2026-11-20T10:00:00.000Z
             */
            occurredAt: string;
            /**
             * @description The version that data follows
             * @example 2026-11-01
             */
            apiVersion: string;
            /**
             * @description Id of a workspace
             * @example workspace_01h455vb4pex5vsknk084sn02q
             */
            workspaceId: string;
            /** @description The text at the time of the event */
            data: components["schemas"]["SmsMessage"];
        };
        /** @description The price of all parts together */
        SmsCost: {
            /**
             * @description Pounds, with four decimals; null if there is no price
             * @example 0.0690
             */
            gbp: string | null;
            /**
             * @description Euros, with four decimals; null if there is no price
             * @example 0.0780
             */
            eur: string | null;
        };
        /** @description Why a text failed */
        SmsReason: {
            /**
             * @description undeliverable: the network or the phone refused the text; expired: the text was not delivered in time; rejected: the text could not be sent in this form; suppressed: the number is on the suppression list; failed: any other cause
             * @enum {string}
             */
            category: "undeliverable" | "expired" | "rejected" | "suppressed" | "failed";
            /**
             * @description The cause, for programs
             * @example unknown_subscriber
             */
            code: string;
            /** @description The cause in words, if more is known */
            description: string | null;
            /** @description Whether sending it again later may succeed */
            retryable: boolean;
        };
        /** @description One text, sent or received: its content, price and status */
        SmsMessage: {
            /**
             * @description Id of a text message
             * @example sms_01h455vb4pex5vsknk084sn02q
             */
            id: string;
            /**
             * @description outbound: sent by the workspace; inbound: sent to the workspace
             * @enum {string}
             */
            direction: "outbound" | "inbound";
            /**
             * @description queued: accepted or scheduled; held: waits until the workspace can pay for it; sent: the network has accepted it, not yet delivered or failed; delivered: it arrived on the phone; failed: see reason; received: an inbound text
             * @enum {string}
             */
            status: "queued" | "held" | "sent" | "delivered" | "failed" | "cancelled" | "received";
            /** @description A name, or a number in E.164; null of an inbound text without recipients.read */
            sender: string | null;
            /** @description A number in E.164. Of an inbound text it may be the sender name that the phone replied to. null without the scope recipients.read */
            recipient: string | null;
            /** @description The text as it is sent; null without the scope content.read */
            content: string | null;
            /** @description ISO 3166-1 alpha-2 code of the country of the other number; null if the number does not show its country */
            country: string | null;
            /**
             * Format: int32
             * @description How many SMS parts the text has; 0 if the text could not be created
             */
            parts: number;
            /**
             * @description gsm7: 160 characters in a single part, 153 in each of several parts; ucs2: 70 in a single part, 67 in each of several parts
             * @enum {string}
             */
            encoding: "gsm7" | "ucs2";
            /** @description The price of all parts; an inbound text has no price */
            cost: components["schemas"]["SmsCost"];
            /** @description Why the text failed; left out if it did not fail */
            reason?: components["schemas"]["SmsReason"];
            /**
             * @description Your own reference, as you gave it
             * @example order-7
             */
            clientReference: string | null;
            /**
             * @description Your own tag, in lower case; reports count messages by tag
             * @example orders
             */
            clientTag: string | null;
            /** @description Id of an SMS batch */
            batchId: string | null;
            /** @description The contact that has the other number */
            contactId: string | null;
            /** @description The name of the stored template of this text */
            templateName: string | null;
            /** @description For an inbound text: the last text to that phone within 30 days */
            inReplyTo: string | null;
            /**
             * Format: date-time
             * @description When it was created: UTC, to the millisecond
             * @example 2026-11-20T10:00:00.000Z
             */
            createdAt: string;
            /** @description When it is to be sent; null: at once */
            scheduledAt: string | null;
            /** @description When the network accepted it */
            sentAt: string | null;
            /** @description When it arrived on the phone */
            deliveredAt: string | null;
            /**
             * Format: date-time
             * @description When it last changed: UTC, to the millisecond
             * @example 2026-11-20T10:00:00.000Z
             */
            updatedAt: string;
        };
        /** @description An event of an SMS batch; data is the batch at that time */
        BatchEvent: {
            /**
             * @description Id of an event
             * @example event_01h455vb4pex5vsknk084sn02q
             */
            id: string;
            /**
             * @description `batch.paused`: A batch was paused: see pausedReason; `batch.cancelled`: A batch was cancelled; `batch.completed`: Every message of a batch has its final status, or no report came within 72 hours (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "batch.paused" | "batch.cancelled" | "batch.completed";
            /**
             * Format: date-time
             * @description When it happened: UTC, to the millisecond
             * @example 2026-11-20T10:00:00.000Z
             */
            occurredAt: string;
            /**
             * @description The version that data follows
             * @example 2026-11-01
             */
            apiVersion: string;
            /**
             * @description Id of a workspace
             * @example workspace_01h455vb4pex5vsknk084sn02q
             */
            workspaceId: string;
            /** @description The batch at the time of the event */
            data: components["schemas"]["SmsBatch"];
        };
        /** @description How many messages have each status */
        SmsBatchCounts: {
            /**
             * Format: int32
             * @description The sum of all other counts. While expanding is true, it may still grow
             */
            total: number;
            /**
             * Format: int32
             * @description Rows that have no message yet
             */
            waiting: number;
            /**
             * Format: int32
             * @description Messages that wait to be sent
             */
            queued: number;
            /**
             * Format: int32
             * @description Always 0: if the balance is too low, the batch is paused
             */
            held: number;
            /**
             * Format: int32
             * @description Messages that the network has accepted, not yet delivered or failed
             */
            sent: number;
            /**
             * Format: int32
             * @description Messages that arrived on the phone
             */
            delivered: number;
            /**
             * Format: int32
             * @description Messages that will not arrive
             */
            failed: number;
            /**
             * Format: int32
             * @description Messages and rows that were cancelled
             */
            cancelled: number;
        };
        /** @description The sum of the messages that have a price; 0.0000 while there are none */
        SmsCostSum: {
            /**
             * @description Pounds, with four decimals
             * @example 34.5000
             */
            gbp: string;
            /**
             * @description Euros, with four decimals
             * @example 39.0000
             */
            eur: string;
        };
        /** @description A batch of texts: its progress, and the status of its messages */
        SmsBatch: {
            /**
             * @description Id of an SMS batch
             * @example batch_01h455vb4pex5vsknk084sn02q
             */
            id: string;
            /**
             * @description scheduled: begins at scheduledAt; processing: its messages are being created and sent; paused: see pausedReason; completed: every message has its final status, or no report came within 72 hours
             * @enum {string}
             */
            status: "scheduled" | "processing" | "paused" | "completed" | "cancelled";
            /** @description The progress of the batch, at most 5 seconds old */
            counts: components["schemas"]["SmsBatchCounts"];
            /**
             * Format: int32
             * @description SMS parts of the messages created so far
             */
            parts: number;
            /** @description The price of all messages created so far. A message without a price adds nothing */
            cost: components["schemas"]["SmsCostSum"];
            /** @description true while messages are still to be created from rows */
            expanding: boolean;
            /** @description Why the batch is paused; null if it is not paused. insufficient_balance: the balance is too low for more messages; limit_reached: the limit of the key is used up; sending_blocked: the operator has stopped sending; key_revoked: the key of the batch was deleted or has expired */
            pausedReason: ("insufficient_balance" | "limit_reached" | "sending_blocked" | "key_revoked") | null;
            /**
             * @description Your own reference, as you gave it
             * @example order-7
             */
            clientReference: string | null;
            /**
             * @description Your own tag, in lower case; reports count messages by tag
             * @example orders
             */
            clientTag: string | null;
            /**
             * Format: date-time
             * @description When it was created: UTC, to the millisecond
             * @example 2026-11-20T10:00:00.000Z
             */
            createdAt: string;
            /** @description When the batch is to begin; null: at once */
            scheduledAt: string | null;
            /** @description When its first messages were created */
            startedAt: string | null;
            /** @description When the batch was completed */
            completedAt: string | null;
            /**
             * Format: date-time
             * @description When it last changed: UTC, to the millisecond
             * @example 2026-11-20T10:00:00.000Z
             */
            updatedAt: string;
        };
        /** @description A suppression was created; data is the suppression */
        SuppressionEvent: {
            /**
             * @description Id of an event
             * @example event_01h455vb4pex5vsknk084sn02q
             */
            id: string;
            /**
             * @description `suppression.created`: A number or an address was added to the suppression list (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "suppression.created";
            /**
             * Format: date-time
             * @description When it happened: UTC, to the millisecond
             * @example 2026-11-20T10:00:00.000Z
             */
            occurredAt: string;
            /**
             * @description The version that data follows
             * @example 2026-11-01
             */
            apiVersion: string;
            /**
             * @description Id of a workspace
             * @example workspace_01h455vb4pex5vsknk084sn02q
             */
            workspaceId: string;
            /** @description The suppression at the time of the event */
            data: components["schemas"]["Suppression"];
        };
        /** @description A number or an address that gets no messages */
        Suppression: {
            /**
             * @description Id of a suppression
             * @example suppression_01h455vb4pex5vsknk084sn02q
             */
            id: string;
            /** @description The number, in E.164; null for an email suppression */
            number: string | null;
            /** @description The address; null for a phone suppression */
            email: string | null;
            /**
             * @description all: the address gets no emails; marketing: it gets no marketing emails. A suppressed number gets no texts
             * @enum {string}
             */
            scope: "all" | "marketing";
            /**
             * @description api: the API or a dashboard; web: the opt-out link; stop: the recipient sent a text with STOP; bounce: a hard bounce; complaint: a spam complaint (of scope marketing if nothing proves the origin of the complaint); system: the service itself
             * @enum {string}
             */
            source: "api" | "web" | "stop" | "bounce" | "complaint" | "system";
            /** @description The reason, in words */
            reason: string | null;
            /**
             * Format: date-time
             * @description When it was created: UTC, to the millisecond
             * @example 2026-11-20T10:00:00.000Z
             */
            createdAt: string;
        };
        /** @description A test of a webhook; it is sent on request, and only to that webhook */
        WebhookTestEvent: {
            /**
             * @description Id of an event
             * @example event_01h455vb4pex5vsknk084sn02q
             */
            id: string;
            /**
             * @description Always webhook.test (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "webhook.test";
            /**
             * Format: date-time
             * @description When it happened: UTC, to the millisecond
             * @example 2026-11-20T10:00:00.000Z
             */
            occurredAt: string;
            /**
             * @description The version that data follows
             * @example 2026-11-01
             */
            apiVersion: string;
            /**
             * @description Id of a workspace
             * @example workspace_01h455vb4pex5vsknk084sn02q
             */
            workspaceId: string;
            /** @description The webhook that is tested */
            data: {
                /**
                 * @description Id of a webhook
                 * @example webhook_01h455vb4pex5vsknk084sn02q
                 */
                id: string;
                /** @description A text that says that this is a test */
                message: string;
            };
        };
        /** @description A stored SMS template */
        SmsTemplate: {
            /**
             * @description Id of an SMS template
             * @example template_01h455vb4pex5vsknk084sn02q
             */
            id: string;
            /** @description Unique in the workspace */
            name: string;
            /** @description A note for yourself; recipients do not see it */
            description: string | null;
            /** @description Liquid source */
            content: string;
            /** @description The values that the template was tested with when it was saved */
            sampleData: {
                [key: string]: unknown;
            } | null;
            /**
             * Format: date-time
             * @description When it was created: UTC, to the millisecond
             * @example 2026-11-20T10:00:00.000Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When it last changed: UTC, to the millisecond
             * @example 2026-11-20T10:00:00.000Z
             */
            updatedAt: string;
        };
        /** @description A page of results; nextCursor leads to the next page */
        SmsTemplatePage: {
            /** @description The items of this page */
            data: components["schemas"]["SmsTemplate"][];
            /** @description Pass it as `cursor` to get the next page; null on the last page. In a search, an earlier page may be short or empty */
            nextCursor: string | null;
        };
        /** @description The text with these values, its parts and its encoding */
        RenderedSmsTemplate: {
            /** @description The text as it would be sent */
            content: string;
            /**
             * Format: int32
             * @description How many SMS parts the text has
             */
            parts: number;
            /**
             * @description gsm7: 160 characters in a single part, 153 in each of several parts; ucs2: 70 in a single part, 67 in each of several parts
             * @enum {string}
             */
            encoding: "gsm7" | "ucs2";
        };
        /** @description The parts and the price of a text; nothing is sent */
        SmsPreview: {
            /**
             * Format: int32
             * @description How many SMS parts the text has
             */
            parts: number;
            /**
             * @description gsm7: 160 characters in a single part, 153 in each of several parts; ucs2: 70 in a single part, 67 in each of several parts
             * @enum {string}
             */
            encoding: "gsm7" | "ucs2";
            /** @description true if the text has more parts than the workspace allows (smsPartsAtMost): it would be refused */
            tooManyParts: boolean;
            /** @description The price; only with a recipient */
            cost?: components["schemas"]["SmsCost"];
        };
        /** @description The messages and the price of the batch; nothing is stored */
        SmsBatchPreview: {
            /**
             * Format: int32
             * @description How many messages would be created, one for each row or number
             */
            recipients: number;
            /**
             * Format: int32
             * @description How many of them would fail because their number is suppressed
             */
            suppressed: number;
            /** @description true if not all recipients were examined, because there are more than 10,000 of them or it would have taken too long. The counts are then estimates from the examined part; errorCount and errors are not */
            estimated: boolean;
            /**
             * Format: int32
             * @description SMS parts of the messages that would be sent
             */
            parts: number;
            /** @description The price of all messages that would be sent; null if one of them has no price */
            cost: components["schemas"]["SmsCost"];
            /** @description How many of the messages that would be sent have each encoding */
            encodings: components["schemas"]["SmsBatchEncodings"];
            /** @description The messages that would be refused, and the messages that would fail because of their data, sender or country: the first 1,000. With lists, index is the position among the recipients */
            errors: components["schemas"]["SmsBatchRowError"][];
            /**
             * Format: int32
             * @description How many such messages there are
             */
            errorCount: number;
            /** @description The first three messages that would be sent; null without the scopes content.read and recipients.read */
            samples: components["schemas"]["SmsBatchSample"][] | null;
        };
        /** @description How many messages have each encoding */
        SmsBatchEncodings: {
            /**
             * Format: int32
             * @description Messages in the GSM alphabet
             */
            gsm7: number;
            /**
             * Format: int32
             * @description Messages in UCS-2
             */
            ucs2: number;
        };
        /** @description A row that was refused */
        SmsBatchRowError: {
            /**
             * Format: int32
             * @description The position of the message, counted from 0
             */
            index: number;
            /** @description The fault of the message */
            error: string;
        };
        /** @description A text of the batch as it would be sent */
        SmsBatchSample: {
            /** @description The number, in E.164 */
            recipient: string;
            /** @description The text as it would be sent */
            content: string;
            /**
             * Format: int32
             * @description How many SMS parts the text has
             */
            parts: number;
            /**
             * @description gsm7: 160 characters in a single part, 153 in each of several parts; ucs2: 70 in a single part, 67 in each of several parts
             * @enum {string}
             */
            encoding: "gsm7" | "ucs2";
        };
        /** @description The new batch, with the rows that were refused */
        CreatedSmsBatch: {
            /**
             * @description Id of an SMS batch
             * @example batch_01h455vb4pex5vsknk084sn02q
             */
            id: string;
            /**
             * @description scheduled: begins at scheduledAt; processing: its messages are being created and sent; paused: see pausedReason; completed: every message has its final status, or no report came within 72 hours
             * @enum {string}
             */
            status: "scheduled" | "processing" | "paused" | "completed" | "cancelled";
            /** @description The progress of the batch, at most 5 seconds old */
            counts: components["schemas"]["SmsBatchCounts"];
            /**
             * Format: int32
             * @description SMS parts of the messages created so far
             */
            parts: number;
            /** @description The price of all messages created so far. A message without a price adds nothing */
            cost: components["schemas"]["SmsCostSum"];
            /** @description true while messages are still to be created from rows */
            expanding: boolean;
            /** @description Why the batch is paused; null if it is not paused. insufficient_balance: the balance is too low for more messages; limit_reached: the limit of the key is used up; sending_blocked: the operator has stopped sending; key_revoked: the key of the batch was deleted or has expired */
            pausedReason: ("insufficient_balance" | "limit_reached" | "sending_blocked" | "key_revoked") | null;
            /**
             * @description Your own reference, as you gave it
             * @example order-7
             */
            clientReference: string | null;
            /**
             * @description Your own tag, in lower case; reports count messages by tag
             * @example orders
             */
            clientTag: string | null;
            /**
             * Format: date-time
             * @description When it was created: UTC, to the millisecond
             * @example 2026-11-20T10:00:00.000Z
             */
            createdAt: string;
            /** @description When the batch is to begin; null: at once */
            scheduledAt: string | null;
            /** @description When its first messages were created */
            startedAt: string | null;
            /** @description When the batch was completed */
            completedAt: string | null;
            /**
             * Format: date-time
             * @description When it last changed: UTC, to the millisecond
             * @example 2026-11-20T10:00:00.000Z
             */
            updatedAt: string;
            /** @description Messages that were refused: the first 1,000 */
            errors: components["schemas"]["SmsBatchRowError"][];
            /**
             * Format: int32
             * @description How many messages were refused
             */
            errorCount: number;
        };
        /** @description A page of results; nextCursor leads to the next page */
        SmsBatchPage: {
            /** @description The items of this page */
            data: components["schemas"]["SmsBatch"][];
            /** @description Pass it as `cursor` to get the next page; null on the last page. In a search, an earlier page may be short or empty */
            nextCursor: string | null;
        };
        /** @description A page of results; nextCursor leads to the next page */
        BatchLinkPage: {
            /** @description The items of this page */
            data: components["schemas"]["BatchLink"][];
            /** @description Pass it as `cursor` to get the next page; null on the last page. In a search, an earlier page may be short or empty */
            nextCursor: string | null;
        };
        /** @description An address in the texts of a batch, with its clicks in all texts together */
        BatchLink: {
            /**
             * @description The address as written in the content, with its Liquid; if Liquid made the whole address, the rendered address; null without the scope content.read
             * @example https://shop.example/orders/{{ id }}
             */
            url: string | null;
            /**
             * Format: int32
             * @description How many of the messages created so far have the address
             */
            messages: number;
            /**
             * Format: int32
             * @description How often the link was opened, in all messages together
             */
            clicks: number;
            /**
             * Format: int32
             * @description In how many messages the link was opened at least once
             */
            clickedMessages: number;
            /** @description When the link was first opened */
            firstClickedAt: string | null;
            /** @description When the link was last opened */
            lastClickedAt: string | null;
        };
        /** @description A page of results; nextCursor leads to the next page */
        SmsPage: {
            /** @description The items of this page */
            data: components["schemas"]["SmsMessage"][];
            /** @description Pass it as `cursor` to get the next page; null on the last page. In a search, an earlier page may be short or empty */
            nextCursor: string | null;
        };
        /** @description A page of results; nextCursor leads to the next page */
        ShortLinkPage: {
            /** @description The items of this page */
            data: components["schemas"]["ShortLink"][];
            /** @description Pass it as `cursor` to get the next page; null on the last page. In a search, an earlier page may be short or empty */
            nextCursor: string | null;
        };
        /** @description An address in one text, with the short link that replaces it, and its clicks */
        ShortLink: {
            /**
             * @description Id of a short link
             * @example link_01h455vb4pex5vsknk084sn02q
             */
            id: string;
            /**
             * @description The address that the short link leads to; null without the scope content.read
             * @example https://shop.example/orders/7
             */
            url: string | null;
            /**
             * @description The short link in the text; null without the scope content.read
             * @example https://acme.example/7hFk2Lq0Z
             */
            shortUrl: string | null;
            /**
             * Format: int32
             * @description How often the link was opened, except by link previewers and crawlers that identify themselves
             */
            clicks: number;
            /** @description When the link was first opened */
            firstClickedAt: string | null;
            /** @description When the link was last opened */
            lastClickedAt: string | null;
        };
        /** @description A page of results; nextCursor leads to the next page */
        ConversationPage: {
            /** @description The items of this page */
            data: components["schemas"]["Conversation"][];
            /** @description Pass it as `cursor` to get the next page; null on the last page. In a search, an earlier page may be short or empty */
            nextCursor: string | null;
        };
        /** @description All texts between one of your senders and one number that has sent a text to this sender */
        Conversation: {
            /**
             * @description Id of a conversation
             * @example conversation_01h455vb4pex5vsknk084sn02q
             */
            id: string;
            /**
             * @description The number of the other person, in E.164
             * @example +447700900123
             */
            number: string;
            /**
             * @description Your sender: a name, or a number in E.164
             * @example Acme
             */
            sender: string;
            /** @description The contact that has the number now; null if there is none */
            contact: {
                /**
                 * @description Id of a contact
                 * @example contact_01h455vb4pex5vsknk084sn02q
                 */
                id: string;
                /** @description Given name */
                firstName: string | null;
                /** @description Family name */
                lastName: string | null;
                /** @description The company that the person works for */
                company: string | null;
            } | null;
            /** @description The newest text, in either direction */
            lastMessage: components["schemas"]["SmsMessage"];
            /**
             * Format: date-time
             * @description When the last inbound text was received
             * @example 2026-11-20T10:00:00.000Z
             */
            lastInboundAt: string;
            /** @description When the last outbound text was accepted; null if there is none */
            lastOutboundAt: string | null;
            /**
             * Format: int32
             * @description How many texts were received
             */
            inboundCount: number;
            /**
             * Format: int32
             * @description How many texts were accepted for sending, whatever their status
             */
            outboundCount: number;
            /** @description true if the number is on the suppression list */
            suppressed: boolean;
        };
        /** @description A page of results; nextCursor leads to the next page */
        SimulatorPhonePage: {
            /** @description The items of this page */
            data: components["schemas"]["SimulatorPhone"][];
            /** @description Pass it as `cursor` to get the next page; null on the last page. In a search, an earlier page may be short or empty */
            nextCursor: string | null;
        };
        /** @description A phone of the simulator, with the texts that it received and sent */
        SimulatorPhone: {
            /**
             * @description Id of a phone of the simulator
             * @example phone_01h455vb4pex5vsknk084sn02q
             */
            id: string;
            /**
             * @description E.164
             * @example +447700900123
             */
            number: string;
            /** @description The last 20 texts, oldest first */
            messages: {
                /**
                 * @description The direction, as seen from the workspace
                 * @enum {string}
                 */
                direction: "outbound" | "inbound";
                /** @description A name, or a number in E.164 */
                from: string;
                /** @description A name, or a number in E.164 */
                to: string;
                /** @description The text */
                content: string;
                /**
                 * Format: int32
                 * @description How many SMS parts the text has
                 */
                parts: number;
                /**
                 * Format: date-time
                 * @description When it was created: UTC, to the millisecond
                 * @example 2026-11-20T10:00:00.000Z
                 */
                createdAt: string;
            }[];
            /**
             * Format: date-time
             * @description When it was created: UTC, to the millisecond
             * @example 2026-11-20T10:00:00.000Z
             */
            createdAt: string;
        };
        /** @description An address to which events are posted, with the state of its deliveries */
        Webhook: {
            /**
             * @description Id of a webhook
             * @example webhook_01h455vb4pex5vsknk084sn02q
             */
            id: string;
            /** @description The address to which deliveries are posted */
            url: string;
            /** @description A note for yourself */
            description: string | null;
            /** @description The types of events that the webhook gets; a legacy webhook shows their legacy names */
            events: string[];
            /** @description The API version of the bodies; null: the legacy payload */
            apiVersion: string | null;
            /** @description true while the webhook receives deliveries */
            active: boolean;
            /** @description true if the service switched the webhook off, because its deliveries failed for too long */
            autoDisabled: boolean;
            /** @description true: never switched off automatically */
            autoDisableExempt: boolean;
            /**
             * Format: int32
             * @description If deliveries fail without a success for this many minutes, the webhook is switched off
             */
            autoDisableAfterMinutes: number;
            /**
             * Format: int32
             * @description One warning is sent when deliveries have failed for this percentage of autoDisableAfterMinutes. 0: no warning; 1: a warning at the first failure
             */
            atRiskAlertPercent: number;
            /** @description The endpoint answered 429, so nothing is sent to it until this time. A PATCH with active true, a redelivery or a test ends the pause */
            pausedUntil: string | null;
            /** @description When the current run of failures began; null while deliveries succeed */
            failingSince: string | null;
            /**
             * Format: int32
             * @description Failed attempts in a row; an answer 429 does not count
             */
            consecutiveFailures: number;
            /** @description The webhook gets sms.received only for texts to this number, in E.164; null: for texts to all numbers of the workspace */
            inboundNumber: string | null;
            /**
             * Format: int32
             * @description The keyid in the signatures; each rotation adds one
             */
            secretVersion: number;
            /** @description The secret of the signatures; null except in the answer that issued it */
            secret: string | null;
            /**
             * Format: date-time
             * @description When it was created: UTC, to the millisecond
             * @example 2026-11-20T10:00:00.000Z
             */
            createdAt: string;
        };
        /** @description A page of results; nextCursor leads to the next page */
        WebhookPage: {
            /** @description The items of this page */
            data: components["schemas"]["Webhook"][];
            /** @description Pass it as `cursor` to get the next page; null on the last page. In a search, an earlier page may be short or empty */
            nextCursor: string | null;
        };
        /** @description A page of results; nextCursor leads to the next page */
        WebhookDeliveryPage: {
            /** @description The items of this page */
            data: components["schemas"]["WebhookDelivery"][];
            /** @description Pass it as `cursor` to get the next page; null on the last page. In a search, an earlier page may be short or empty */
            nextCursor: string | null;
        };
        /** @description The delivery of one event to one webhook */
        WebhookDelivery: {
            /**
             * @description The id of the delivery; every attempt sends it as Webhook-Id
             * @example delivery_01h455vb4pex5vsknk084sn02q
             */
            id: string;
            /**
             * @description Id of an event
             * @example event_01h455vb4pex5vsknk084sn02q
             */
            eventId: string;
            /**
             * @description The type of the event
             * @example email.delivered
             */
            eventType: string;
            /** @description The status of the delivery now */
            status: components["schemas"]["WebhookDeliveryStatus"];
            /**
             * Format: int32
             * @description How many attempts have been made
             */
            attempts: number;
            /** @description The earliest time of the next attempt; null during an attempt, and if no attempt will follow. It is never in the past, and never before pausedUntil of the webhook. If a delivery is due but waits behind others, it is the time of this answer */
            nextAttemptAt: string | null;
            /**
             * Format: date-time
             * @description When it was created: UTC, to the millisecond
             * @example 2026-11-20T10:00:00.000Z
             */
            createdAt: string;
            /** @description When the delivery became delivered, failed or skipped */
            completedAt: string | null;
            /** @description The latest attempt; null if no attempt has been made */
            latestAttempt: components["schemas"]["WebhookAttempt"] | null;
        };
        /** @description One try of a delivery, and what the endpoint answered */
        WebhookAttempt: {
            /**
             * Format: date-time
             * @description When the attempt began
             * @example 2026-11-20T10:00:00.000Z
             */
            attemptedAt: string;
            /**
             * Format: int32
             * @description The time until the status line came, or until the attempt failed
             */
            durationMs: number;
            /** @description The HTTP status; null if no answer came */
            responseStatus: number | null;
            /** @description The first 1,024 bytes of the answer, as text */
            responseBody: string | null;
            /** @description The kind of failure. http_status: the status of the answer was not 2xx; null: the attempt succeeded */
            error: ("timeout" | "dns" | "connection" | "tls" | "blocked_address" | "http_status") | null;
        };
        /** @description A delivery with its attempts */
        WebhookDeliveryLog: {
            /**
             * @description The id of the delivery; every attempt sends it as Webhook-Id
             * @example delivery_01h455vb4pex5vsknk084sn02q
             */
            id: string;
            /**
             * @description Id of an event
             * @example event_01h455vb4pex5vsknk084sn02q
             */
            eventId: string;
            /**
             * @description The type of the event
             * @example email.delivered
             */
            eventType: string;
            /** @description The status of the delivery now */
            status: components["schemas"]["WebhookDeliveryStatus"];
            /**
             * Format: int32
             * @description How many attempts have been made
             */
            attempts: number;
            /** @description The earliest time of the next attempt; null during an attempt, and if no attempt will follow. It is never in the past, and never before pausedUntil of the webhook. If a delivery is due but waits behind others, it is the time of this answer */
            nextAttemptAt: string | null;
            /**
             * Format: date-time
             * @description When it was created: UTC, to the millisecond
             * @example 2026-11-20T10:00:00.000Z
             */
            createdAt: string;
            /** @description When the delivery became delivered, failed or skipped */
            completedAt: string | null;
            /** @description The latest attempt; null if no attempt has been made */
            latestAttempt: components["schemas"]["WebhookAttempt"] | null;
            /** @description The attempts, newest first: at most the newest 100 */
            attemptLog: {
                /**
                 * Format: int32
                 * @description The number of the attempt, from 1
                 */
                number: number;
                /**
                 * Format: date-time
                 * @description When the attempt began
                 * @example 2026-11-20T10:00:00.000Z
                 */
                attemptedAt: string;
                /**
                 * Format: int32
                 * @description The time until the status line came, or until the attempt failed
                 */
                durationMs: number;
                /** @description The HTTP status; null if no answer came */
                responseStatus: number | null;
                /** @description The first 1,024 bytes of the answer, as text */
                responseBody: string | null;
                /** @description The kind of failure. http_status: the status of the answer was not 2xx; null: the attempt succeeded */
                error: ("timeout" | "dns" | "connection" | "tls" | "blocked_address" | "http_status") | null;
            }[];
        };
        /** @description How many deliveries will be sent again */
        WebhookRecovered: {
            /**
             * Format: date-time
             * @description The same since as in the request
             * @example 2026-11-20T10:00:00.000Z
             */
            since: string;
            /**
             * Format: int32
             * @description How many deliveries have been found so far and will be sent again; the count stops at 100,000
             */
            deliveries: number;
        };
        /** @description A page of results; nextCursor leads to the next page */
        EventPage: {
            /** @description The events of this page, oldest first */
            data: components["schemas"]["Event"][];
            /** @description Never null. Send it as `cursor` to get only newer events */
            nextCursor: string;
            /** @description true if the page is full, or if the search has not reached the newest event. Ask again at once, even if the page is empty */
            hasMore: boolean;
        };
        /** @description A page of results; nextCursor leads to the next page */
        SuppressionPage: {
            /** @description The items of this page */
            data: components["schemas"]["Suppression"][];
            /** @description Pass it as `cursor` to get the next page; null on the last page. In a search, an earlier page may be short or empty */
            nextCursor: string | null;
        };
        /** @description A sender of texts: a name, a mobile number or a virtual number */
        Sender: {
            /**
             * @description Id of a sender
             * @example sender_01h455vb4pex5vsknk084sn02q
             */
            id: string;
            /**
             * @description sender_name: an alphanumeric name, or a UK mobile number; virtual_number: a number of the workspace that takes replies
             * @enum {string}
             */
            kind: "sender_name" | "virtual_number";
            /**
             * @description The name, a UK mobile number in 07 format, or a virtual number in E.164; "Not yet assigned" for a virtual number that has none yet
             * @example Acme
             */
            name: string;
            /**
             * @description approved: approved for at least one country; rejected: rejected for all countries; awaiting_verification: send the code that the mobile number got by text; awaiting_business_verification: waits until the business profile is verified; pending: waits for a reviewer
             * @enum {string}
             */
            status: "pending" | "approved" | "rejected" | "awaiting_verification" | "awaiting_business_verification";
            /** @description The countries that the sender is for, each with its status */
            countries: components["schemas"]["SenderCountry"][];
            /** @description true: texts that name no sender come from this sender */
            default: boolean;
            /** @description An example of a message that will be sent */
            sampleContent: string | null;
            /** @description Id of a business profile */
            businessProfileId: string | null;
            /**
             * Format: date-time
             * @description When it was created: UTC, to the millisecond
             * @example 2026-11-20T10:00:00.000Z
             */
            createdAt: string;
        };
        /** @description The result of the review of a sender for one country */
        SenderCountry: {
            /**
             * @description ISO 3166-1 alpha-2
             * @example GB
             */
            country: string;
            /**
             * @description pending: waits for a reviewer; approved: the sender may send to this country; rejected: it may not, see reason
             * @enum {string}
             */
            status: "pending" | "approved" | "rejected";
            /** @description Why the sender was rejected, or what an approved sender still needs; left out if there is no reason */
            reason?: string;
        };
        /** @description A page of results; nextCursor leads to the next page */
        SenderPage: {
            /** @description The items of this page */
            data: components["schemas"]["Sender"][];
            /** @description Pass it as `cursor` to get the next page; null on the last page. In a search, an earlier page may be short or empty */
            nextCursor: string | null;
        };
        /** @description Whether you can request a name, and the sender of this name if the workspace has one */
        SenderCheck: {
            /** @description The name as it would be stored; if it cannot be a sender, the name as you gave it */
            name: string;
            /** @description name: a reviewer must approve it; mobile: a code verifies it; null: it cannot be a sender */
            kind: ("name" | "mobile") | null;
            /** @description Whether a request for this sender would be accepted now */
            acceptable: boolean;
            /** @description Why it would not be accepted; empty if it would be accepted */
            reasons: string[];
            /** @description The sender of this name; null if the workspace has none */
            existing: components["schemas"]["Sender"] | null;
        };
        /** @description A person in the address book, identified by the number */
        Contact: {
            /**
             * @description Id of a contact
             * @example contact_01h455vb4pex5vsknk084sn02q
             */
            id: string;
            /**
             * @description E.164
             * @example +447700900123
             */
            number: string;
            /** @description ISO 3166-1 alpha-2 code of the country of the number; null if the number does not show its country */
            country: string | null;
            /** @description Given name */
            firstName: string | null;
            /** @description Family name */
            lastName: string | null;
            /** @description The company that the person works for */
            company: string | null;
            /** @description An email address; it is not checked, and nothing is sent to it */
            email: string | null;
            /** @description Your own reference */
            clientReference: string | null;
            /** @description The tags, sorted */
            tags: string[];
            /** @description true if the number is on the suppression list: it gets no texts */
            suppressed: boolean;
            /**
             * Format: date-time
             * @description When it was created: UTC, to the millisecond
             * @example 2026-11-20T10:00:00.000Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When it last changed: UTC, to the millisecond
             * @example 2026-11-20T10:00:00.000Z
             */
            updatedAt: string;
        };
        /** @description A page of results; nextCursor leads to the next page */
        ContactPage: {
            /** @description The items of this page */
            data: components["schemas"]["Contact"][];
            /** @description Pass it as `cursor` to get the next page; null on the last page. In a search, an earlier page may be short or empty */
            nextCursor: string | null;
        };
        /** @description The result of the batch */
        ContactBatchOutcome: {
            /**
             * Format: int32
             * @description How many contacts were created
             */
            created: number;
            /**
             * Format: int32
             * @description How many contacts existed already
             */
            updated: number;
            /** @description Rows that were not saved */
            errors: {
                /**
                 * Format: int32
                 * @description The position of the row, counted from 0
                 */
                index: number;
                /** @description The fault of the row */
                error: string;
            }[];
            /** @description Fields with texts that were too long */
            truncations: {
                /** @description The name of the field */
                field: string;
                /**
                 * Format: int32
                 * @description How many characters were kept
                 */
                maxLength: number;
                /**
                 * Format: int32
                 * @description How many rows were shortened
                 */
                count: number;
                /** @description The positions of up to five such rows, counted from 0 */
                exampleRows: number[];
            }[];
        };
        /** @description A page of results; nextCursor leads to the next page */
        ContactTagPage: {
            /** @description The items of this page */
            data: components["schemas"]["ContactTag"][];
            /** @description Pass it as `cursor` to get the next page; null on the last page. In a search, an earlier page may be short or empty */
            nextCursor: string | null;
        };
        /** @description A tag, and how many contacts have it */
        ContactTag: {
            /** @description The tag, in its stored spelling */
            tag: string;
            /**
             * Format: int32
             * @description How many contacts have this tag
             */
            count: number;
        };
        /** @description How many contacts were found by their ids */
        ContactTagOutcome: {
            /**
             * Format: int32
             * @description How many contacts have one of the ids, changed or not
             */
            updated: number;
        };
        /** @description A list of contacts: those that were added, or those that match a filter */
        ContactList: {
            /**
             * @description Id of a contact list
             * @example list_01h455vb4pex5vsknk084sn02q
             */
            id: string;
            /** @description The name of the list */
            name: string;
            /** @description A note for yourself */
            description: string | null;
            /**
             * @description static: you add and remove contacts; dynamic: the contacts that match the filter of the list; builtin: all contacts
             * @enum {string}
             */
            kind: "static" | "dynamic" | "builtin";
            /** @description The filter of a dynamic list; null for other lists */
            filter: {
                /** @description Words to find, as in the search of contacts */
                search: string | null;
                /** @description Contacts that have this tag */
                tag: string | null;
                /** @description Contacts with this clientReference */
                clientReference: string | null;
            } | null;
            /**
             * Format: int32
             * @description How many contacts are in the list: for a dynamic list at contactCountAt, for any other list now
             */
            contactCount: number;
            /** @description For a dynamic list: when contactCount was exact. A GET of one list counts again if this is quick. If not, and after a listing, a job counts again when the count is more than a minute old and older than twenty times the duration of the count. null for a dynamic list whose first count is not finished: contactCount is then an estimate. null for any other list */
            contactCountAt: string | null;
            /** @description true while contacts of other lists are being copied into this list: contactCount still grows */
            copyInProgress: boolean;
            /**
             * Format: date-time
             * @description When it was created: UTC, to the millisecond
             * @example 2026-11-20T10:00:00.000Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When it last changed: UTC, to the millisecond
             * @example 2026-11-20T10:00:00.000Z
             */
            updatedAt: string;
        };
        /** @description A page of results; nextCursor leads to the next page */
        ContactListPage: {
            /** @description The items of this page */
            data: components["schemas"]["ContactList"][];
            /** @description Pass it as `cursor` to get the next page; null on the last page. In a search, an earlier page may be short or empty */
            nextCursor: string | null;
        };
        /** @description How many contacts the filter finds, and the first of them */
        ContactListPreviewOutcome: {
            /**
             * Format: int32
             * @description Contacts that match
             */
            count: number;
            /** @description true if there are too many contacts to count during the request. count is then an estimate from the newest contacts */
            estimated: boolean;
            /** @description The newest ten contacts that match, or fewer if the time of the search ends before */
            contacts: components["schemas"]["Contact"][];
        };
        /** @description How many contacts were added to the list, and how many were skipped */
        ContactListAddOutcome: {
            /**
             * Format: int32
             * @description Contacts that were not in the list
             */
            added: number;
            /**
             * Format: int32
             * @description Contacts that were already in the list, and ids that are not of contacts of this workspace
             */
            skipped: number;
        };
        /** @description How many contacts were removed from the list */
        ContactListRemoveOutcome: {
            /**
             * Format: int32
             * @description Contacts that were in the list
             */
            removed: number;
        };
        /** @description An API key, with its scopes, limits and signature. Its text is shown only once */
        ApiKey: {
            /**
             * @description Id of an API key
             * @example key_01h455vb4pex5vsknk084sn02q
             */
            id: string;
            /** @description Your name for the key */
            name: string | null;
            /** @description The first six characters of the key */
            keyPrefix: string;
            /** @description The last four characters of the key */
            keyLast4: string;
            /** @description The scopes of the key */
            scopes: components["schemas"]["Scope"][];
            /** @description How many SMS parts the key may send, and how many it has sent */
            limits: {
                /** @description SMS parts in a UTC day; null: no limit */
                dailyParts: number | null;
                /** @description SMS parts in a UTC month; null: no limit */
                monthlyParts: number | null;
                /**
                 * Format: int32
                 * @description SMS parts used in this UTC day by this key and its rotations, including parts reserved for sends in progress
                 */
                usedToday: number;
                /**
                 * Format: int32
                 * @description The same for this UTC month
                 */
                usedThisMonth: number;
            };
            /** @description true: every request must be signed, and every POST and PATCH must have an Idempotency-Key */
            strictMode: boolean;
            /** @description How requests with the key are signed; left out if no signature is set up */
            signing?: {
                /**
                 * @description How requests are signed
                 * @enum {string}
                 */
                algorithm: "hmac_sha256" | "ecdsa_p256_sha256";
                /** @description The public key, in PEM; null for hmac_sha256 */
                publicKey: string | null;
            };
            /** @description The API version that the key is pinned to; null: the current version */
            apiVersion: string | null;
            /**
             * Format: date-time
             * @description When it was created: UTC, to the millisecond
             * @example 2026-11-20T10:00:00.000Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description The key is refused before this time
             * @example 2026-11-20T10:00:00.000Z
             */
            activeFrom: string;
            /** @description The key is refused from this time on; null: it does not expire. A rotation sets it on the old key */
            expiresAt: string | null;
            /** @description Always null: the last use is not recorded */
            lastUsedAt: string | null;
            /** @description The key itself; null except in the answer that issued it */
            key: string | null;
            /** @description The secret for hmac_sha256; null except in the answer that issued it or gave it to a new key */
            signingSecret: string | null;
        };
        /** @description A page of results; nextCursor leads to the next page */
        ApiKeyPage: {
            /** @description The items of this page */
            data: components["schemas"]["ApiKey"][];
            /** @description Pass it as `cursor` to get the next page; null on the last page. In a search, an earlier page may be short or empty */
            nextCursor: string | null;
        };
        /** @description A report: its rows, and the time that it covers */
        SendsReport: {
            /**
             * Format: date-time
             * @description The first hour that is counted
             * @example 2026-11-20T10:00:00.000Z
             */
            from: string;
            /**
             * Format: date-time
             * @description The end of the counted time: the first hour that is not counted
             * @example 2026-11-20T10:00:00.000Z
             */
            to: string;
            /** @description The time zone of the days and months */
            timeZone: string;
            /** @description true if a day, month or hour of this time zone does not begin at a full hour of UTC; its bound was then rounded down to the full hour */
            timeZoneRounded: boolean;
            /** @description The rows of the report */
            data: components["schemas"]["SendsReportRow"][];
            /** @description Always null: a report has only one page */
            nextCursor: null;
        };
        /** @description The messages that were accepted in one interval, by their status now */
        SendsReportRow: {
            /**
             * Format: date-time
             * @description The beginning of the interval
             * @example 2026-11-20T10:00:00.000Z
             */
            start: string;
            /**
             * @description The kind of the messages: email or sms
             * @enum {string}
             */
            channel: "email" | "sms";
            /** @description Messages that were accepted */
            accepted: number;
            /** @description Accepted messages that now have the status queued */
            queued: number;
            /** @description Messages that wait until the workspace can pay for them */
            held: number;
            /** @description Messages that were handed over, not yet delivered or failed */
            sent: number;
            /** @description Messages that the mail server accepted, or that arrived on the phone */
            delivered: number;
            /** @description Messages that will not arrive */
            failed: number;
            /** @description Messages that were cancelled before they were sent */
            cancelled: number;
            /** @description SMS parts of the texts */
            parts: number;
            /** @description The price of these texts; emails cost nothing */
            cost: components["schemas"]["ReportCost"];
        };
        /**
         * @description The price of all texts together
         * @example {
         *       "gbp": "12.3400",
         *       "eur": "14.1900"
         *     }
         */
        ReportCost: {
            /** @description Pounds, with four decimals */
            gbp: string;
            /** @description Euros, with four decimals */
            eur: string;
        };
        /** @description A report: its rows, and the time that it covers */
        ClientTagsReport: {
            /**
             * Format: date-time
             * @description The first hour that is counted
             * @example 2026-11-20T10:00:00.000Z
             */
            from: string;
            /**
             * Format: date-time
             * @description The end of the counted time: the first hour that is not counted
             * @example 2026-11-20T10:00:00.000Z
             */
            to: string;
            /** @description The time zone of the days and months */
            timeZone: string;
            /** @description true if a day, month or hour of this time zone does not begin at a full hour of UTC; its bound was then rounded down to the full hour */
            timeZoneRounded: boolean;
            /** @description The rows of the report */
            data: components["schemas"]["ClientTagsReportRow"][];
            /** @description Always null: a report has only one page */
            nextCursor: null;
        };
        /** @description The messages with one tag in one channel, by their status now */
        ClientTagsReportRow: {
            /** @description The tag. null: messages without a tag; `(other)`: all tags after the first 1,000 of a day */
            clientTag: string | null;
            /**
             * @description The kind of the messages: email or sms
             * @enum {string}
             */
            channel: "email" | "sms";
            /** @description Messages that were accepted */
            accepted: number;
            /** @description Accepted messages that now have the status queued */
            queued: number;
            /** @description Messages that wait until the workspace can pay for them */
            held: number;
            /** @description Messages that were handed over, not yet delivered or failed */
            sent: number;
            /** @description Messages that the mail server accepted, or that arrived on the phone */
            delivered: number;
            /** @description Messages that will not arrive */
            failed: number;
            /** @description Messages that were cancelled before they were sent */
            cancelled: number;
            /** @description SMS parts of the texts */
            parts: number;
            /** @description The price of these texts; emails cost nothing */
            cost: components["schemas"]["ReportCost"];
            /**
             * @description Delivered messages divided by accepted messages, with four decimals; null if the divisor is 0
             * @example 0.9876
             */
            deliveredRate: string | null;
        };
        /** @description A report: its rows, and the time that it covers */
        CountriesReport: {
            /**
             * Format: date-time
             * @description The first hour that is counted
             * @example 2026-11-20T10:00:00.000Z
             */
            from: string;
            /**
             * Format: date-time
             * @description The end of the counted time: the first hour that is not counted
             * @example 2026-11-20T10:00:00.000Z
             */
            to: string;
            /** @description The time zone of the days and months */
            timeZone: string;
            /** @description true if a day, month or hour of this time zone does not begin at a full hour of UTC; its bound was then rounded down to the full hour */
            timeZoneRounded: boolean;
            /** @description The rows of the report */
            data: components["schemas"]["CountriesReportRow"][];
            /** @description Always null: a report has only one page */
            nextCursor: null;
        };
        /** @description The texts to one country through one carrier, by their status now */
        CountriesReportRow: {
            /** @description ISO 3166-1 alpha-2; null if the number does not show its country */
            country: string | null;
            /** @description The carrier that accepted or refused the texts; null if no carrier has accepted or refused them yet, or none was asked */
            gateway: string | null;
            /**
             * @description The kind of the messages: email or sms
             * @enum {string}
             */
            channel: "email" | "sms";
            /** @description Messages that were accepted */
            accepted: number;
            /** @description Accepted messages that now have the status queued */
            queued: number;
            /** @description Messages that wait until the workspace can pay for them */
            held: number;
            /** @description Messages that were handed over, not yet delivered or failed */
            sent: number;
            /** @description Messages that the mail server accepted, or that arrived on the phone */
            delivered: number;
            /** @description Messages that will not arrive */
            failed: number;
            /** @description Messages that were cancelled before they were sent */
            cancelled: number;
            /** @description SMS parts of the texts */
            parts: number;
            /** @description The price of these texts; emails cost nothing */
            cost: components["schemas"]["ReportCost"];
            /**
             * @description Delivered messages divided by accepted messages, with four decimals; null if the divisor is 0
             * @example 0.9876
             */
            deliveredRate: string | null;
            /** @description The error codes of the failed texts, most frequent first: the first 20. In CSV, such as `expired=3; undeliverable=1` */
            errors: components["schemas"]["ReportedError"][];
        };
        /** @description A reason why texts of this row failed */
        ReportedError: {
            /**
             * @description The code of the reason; `(other)`: all codes after the first 200 of a day
             * @example undeliverable
             */
            errorCode: string;
            /** @description How many texts failed with this code */
            messages: number;
        };
        /** @description A report: its rows, and the time that it covers */
        LatencyReport: {
            /**
             * Format: date-time
             * @description The first hour that is counted
             * @example 2026-11-20T10:00:00.000Z
             */
            from: string;
            /**
             * Format: date-time
             * @description The end of the counted time: the first hour that is not counted
             * @example 2026-11-20T10:00:00.000Z
             */
            to: string;
            /** @description The time zone of the days and months */
            timeZone: string;
            /** @description true if a day, month or hour of this time zone does not begin at a full hour of UTC; its bound was then rounded down to the full hour */
            timeZoneRounded: boolean;
            /** @description The rows of the report */
            data: components["schemas"]["LatencyReportRow"][];
            /** @description Always null: a report has only one page */
            nextCursor: null;
        };
        /** @description How long the messages of one channel, kind and carrier took */
        LatencyReportRow: {
            /**
             * @description The kind of the messages: email or sms
             * @enum {string}
             */
            channel: "email" | "sms";
            /** @description For emails, their kind; for texts, single or batch */
            kind: ("transactional" | "marketing" | "authentication") | ("single" | "batch");
            /** @description The carrier of the texts; null for emails */
            gateway: string | null;
            /** @description Seconds from accepted, or from scheduledAt, to sent */
            sent: components["schemas"]["Latencies"];
            /** @description Seconds from sent to delivered */
            delivered: components["schemas"]["Latencies"];
        };
        /** @description Times in seconds, exact to 4 %; null if no message reached this status */
        Latencies: {
            /** @description How many messages reached this status */
            count: number;
            /** @description Half of the messages took at most this many seconds */
            p50: number | null;
            /** @description 90 of 100 messages took at most this many seconds */
            p90: number | null;
            /** @description 95 of 100 messages took at most this many seconds */
            p95: number | null;
            /** @description 99 of 100 messages took at most this many seconds */
            p99: number | null;
            /** @description All messages took at most this many seconds */
            max: number | null;
        };
        /** @description A report: its rows, and the time that it covers */
        DeliverabilityReport: {
            /**
             * Format: date-time
             * @description The first hour that is counted
             * @example 2026-11-20T10:00:00.000Z
             */
            from: string;
            /**
             * Format: date-time
             * @description The end of the counted time: the first hour that is not counted
             * @example 2026-11-20T10:00:00.000Z
             */
            to: string;
            /** @description The time zone of the days and months */
            timeZone: string;
            /** @description true if a day, month or hour of this time zone does not begin at a full hour of UTC; its bound was then rounded down to the full hour */
            timeZoneRounded: boolean;
            /** @description The rows of the report */
            data: components["schemas"]["DeliverabilityReportRow"][];
            /** @description Always null: a report has only one page */
            nextCursor: null;
        };
        /** @description The emails to one domain of recipients, or from one of your sending domains, by result */
        DeliverabilityReportRow: {
            /**
             * @description Whether domain is of recipients, or a sending domain of yours
             * @enum {string}
             */
            by: "recipientDomain" | "sendingDomain";
            /** @description The domain; `(other)`: all domains after the first 500 of a day */
            domain: string;
            /** @description Emails that were accepted */
            accepted: number;
            /** @description Emails that the mail server of the recipient accepted */
            delivered: number;
            /** @description Emails that the mail server refused permanently */
            hardBounces: number;
            /** @description Emails that the mail server refused temporarily, too many times */
            softBounces: number;
            /** @description Emails that could not be composed, or were not allowed */
            rejected: number;
            /** @description Emails that were not sent because the address is suppressed */
            suppressed: number;
            /** @description Emails that were reported as spam */
            complaints: number;
            /** @description Emails that were opened at least once */
            opened: number;
            /**
             * @description Delivered messages divided by accepted messages, with four decimals; null if the divisor is 0
             * @example 0.9876
             */
            deliveredRate: string | null;
            /**
             * @description Hard and soft bounces divided by accepted emails, with four decimals; null if the divisor is 0
             * @example 0.9876
             */
            bounceRate: string | null;
            /**
             * @description Complaints divided by delivered emails, with four decimals; null if the divisor is 0
             * @example 0.9876
             */
            complaintRate: string | null;
        };
        /** @description The settings, limits and balance of the workspace */
        Workspace: {
            /**
             * @description Id of a workspace
             * @example workspace_01h455vb4pex5vsknk084sn02q
             */
            id: string;
            /** @description The name that the operator gave to the workspace */
            name: string;
            /**
             * @description ISO 3166-1 alpha-2
             * @example GB
             */
            country: string;
            /**
             * Format: date-time
             * @description When it was created: UTC, to the millisecond
             * @example 2026-11-20T10:00:00.000Z
             */
            createdAt: string;
            /** @description true if the operator has stopped all sending of the workspace */
            sendingBlocked: boolean;
            /** @description Whether the workspace may create webhooks of API v2 */
            v2WebhooksEnabled: boolean;
            /** @description The address that gets warnings about webhooks and domains */
            alertEmail: string | null;
            /** @description The sender of texts that name no sender */
            defaultSender: {
                /**
                 * @description Id of a sender
                 * @example sender_01h455vb4pex5vsknk084sn02q
                 */
                id: string;
                /** @description A name, or a number */
                name: string | null;
            } | null;
            /** @description The amount that is left for texts; null: no limit */
            balance: components["schemas"]["Pounds"] | null;
            /** @description The limit of emails: emails above it wait. If there are several limits, it is the strictest one */
            emailLimit: {
                /**
                 * Format: int32
                 * @description The number of emails
                 */
                count: number;
                /**
                 * @description The time in which that number of emails may be sent
                 * @enum {string}
                 */
                per: "minute" | "hour" | "day";
            } | null;
            /**
             * Format: int32
             * @description How many SMS parts one text may have
             */
            smsPartsAtMost: number;
            /** @description How many days events and messages are kept */
            retention: {
                /** @description Days that events are kept */
                eventsDays: number;
                /** @description Days that emails are kept */
                emailDays: number;
                /** @description Days that texts are kept */
                smsDays: number;
            };
            /**
             * @description The IP addresses that deliveries of webhooks come from; empty: the addresses may change
             * @example [
             *       "192.0.2.7"
             *     ]
             */
            webhookAddresses: string[];
        };
        /**
         * @description An amount in pounds, as a string with four decimals
         * @example {
         *       "gbp": "12.3400"
         *     }
         */
        Pounds: {
            /** @description Pounds, with four decimals */
            gbp: string;
        };
        /** @description The amount that the workspace spent in a time, by country, key and tag, and the changes of its balance */
        Spend: {
            /**
             * Format: date-time
             * @description The first hour that is counted
             * @example 2026-11-20T10:00:00.000Z
             */
            from: string;
            /**
             * Format: date-time
             * @description The end of the counted time: the first hour that is not counted
             * @example 2026-11-20T10:00:00.000Z
             */
            to: string;
            /** @description Texts that were accepted in this time and are charged, or would be if there were a balance. Held texts and refunded texts are not counted */
            total: {
                /** @description How many texts */
                messages: number;
                /** @description SMS parts of these texts */
                parts: number;
                /** @description The price of these texts */
                cost: components["schemas"]["ReportCost"];
            };
            /** @description The cost by country, highest price in pounds first: the first 1,000 */
            byCountry: {
                /** @description ISO 3166-1 alpha-2; null if the number does not show its country */
                country: string | null;
                /** @description How many texts */
                messages: number;
                /** @description SMS parts of these texts */
                parts: number;
                /** @description The price of these texts */
                cost: components["schemas"]["ReportCost"];
            }[];
            /** @description Most pounds first; the first 1,000 */
            byKey: {
                /** @description The id of the first key, for a key together with its rotations */
                keyId: string | null;
                /** @description How many texts */
                messages: number;
                /** @description SMS parts of these texts */
                parts: number;
                /** @description The price of these texts */
                cost: components["schemas"]["ReportCost"];
            }[];
            /** @description Most pounds first; the first 1,000 */
            byClientTag: {
                /** @description The tag; null: texts without a tag */
                clientTag: string | null;
                /** @description How many texts */
                messages: number;
                /** @description SMS parts of these texts */
                parts: number;
                /** @description The price of these texts */
                cost: components["schemas"]["ReportCost"];
            }[];
            /** @description The balance now; null: no limit */
            balance: components["schemas"]["Pounds"] | null;
            /** @description The amount that was paid in during this time */
            credits: components["schemas"]["Pounds"];
            /** @description The changes of the balance, by the time of the change */
            ledger: {
                /** @description Charges for texts; below zero */
                charges: components["schemas"]["Pounds"];
                /** @description Refunds for texts that were not sent */
                refunds: components["schemas"]["Pounds"];
                /** @description The amount that the operator paid in, less the amount that the operator took back */
                credits: components["schemas"]["Pounds"];
                /** @description The amount that was left when the balance became unlimited; below zero */
                closed: components["schemas"]["Pounds"];
                /** @description The sum of entries for texts that are no longer kept */
                carried: components["schemas"]["Pounds"];
                /** @description The change of the balance in this time: the sum of the other amounts */
                change: components["schemas"]["Pounds"];
            };
        };
        /**
         * @description The code of a problem: the part of `type` after its last slash
         * @enum {string}
         */
        ProblemCode: "validation_failed" | "malformed_json" | "unsupported_version" | "idempotency_key_required" | "idempotency_key_invalid" | "unauthenticated" | "signature_required" | "signature_invalid" | "forbidden" | "sending_blocked" | "webhooks_not_enabled" | "not_found" | "method_not_allowed" | "name_taken" | "number_taken" | "webhook_exists" | "webhook_disabled" | "contacts_conflict" | "list_not_static" | "list_copy_in_progress" | "sender_awaiting_verification" | "sender_rejected" | "sender_not_approved" | "not_cancellable" | "not_paused" | "not_rotatable" | "idempotency_in_progress" | "idempotency_key_reused" | "in_use" | "limit_exceeded" | "cursor_expired" | "payload_too_large" | "unsupported_media_type" | "recipient_suppressed" | "header_fields_too_large" | "rate_limited" | "limit_reached" | "verification_limit_reached" | "request_timeout" | "internal_error" | "service_unavailable" | "email_not_queued" | "verification_not_sent";
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listEmailDomains: {
        parameters: {
            query?: {
                /** @description The most items on a page */
                limit?: number;
                /** @description nextCursor of the previous page */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "domain_01h455vb4pex5vsknk084sn02q",
                     *           "name": "mail.acme.example",
                     *           "status": "pending",
                     *           "records": [
                     *             {
                     *               "purpose": "dkim",
                     *               "type": "TXT",
                     *               "name": "mvty2fzwa8ztg._domainkey.mail.acme.example",
                     *               "value": "v=DKIM1; k=rsa; p=MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A",
                     *               "status": "missing",
                     *               "error": "There is no such record"
                     *             },
                     *             {
                     *               "purpose": "dmarc",
                     *               "type": "TXT",
                     *               "name": "_dmarc.mail.acme.example",
                     *               "value": "v=DMARC1; p=none",
                     *               "status": "missing",
                     *               "error": "There is no such record"
                     *             }
                     *           ],
                     *           "createdAt": "2026-11-20T10:00:40.439Z",
                     *           "verifiedAt": null,
                     *           "lastCheckedAt": "2026-11-20T10:00:49.029Z"
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["EmailDomainPage"];
                };
            };
        };
    };
    createEmailDomain: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description At most 1 MiB and 50000 values */
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewEmailDomain"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "domain_01h455vb4pex5vsknk084sn02q",
                     *       "name": "mail.acme.example",
                     *       "status": "pending",
                     *       "records": [
                     *         {
                     *           "purpose": "dkim",
                     *           "type": "TXT",
                     *           "name": "mvty2fzwa8ztg._domainkey.mail.acme.example",
                     *           "value": "v=DKIM1; k=rsa; p=MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A",
                     *           "status": "pending",
                     *           "error": null
                     *         },
                     *         {
                     *           "purpose": "dmarc",
                     *           "type": "TXT",
                     *           "name": "_dmarc.mail.acme.example",
                     *           "value": "v=DMARC1; p=none",
                     *           "status": "pending",
                     *           "error": null
                     *         }
                     *       ],
                     *       "createdAt": "2026-11-20T10:00:40.439Z",
                     *       "verifiedAt": null,
                     *       "lastCheckedAt": null
                     *     }
                     */
                    "application/json": components["schemas"]["EmailDomain"];
                };
            };
        };
    };
    getEmailDomain: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a sending domain */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "domain_01h455vb4pex5vsknk084sn02q",
                     *       "name": "mail.acme.example",
                     *       "status": "pending",
                     *       "records": [
                     *         {
                     *           "purpose": "dkim",
                     *           "type": "TXT",
                     *           "name": "mvty2fzwa8ztg._domainkey.mail.acme.example",
                     *           "value": "v=DKIM1; k=rsa; p=MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A",
                     *           "status": "pending",
                     *           "error": null
                     *         },
                     *         {
                     *           "purpose": "dmarc",
                     *           "type": "TXT",
                     *           "name": "_dmarc.mail.acme.example",
                     *           "value": "v=DMARC1; p=none",
                     *           "status": "pending",
                     *           "error": null
                     *         }
                     *       ],
                     *       "createdAt": "2026-11-20T10:00:40.439Z",
                     *       "verifiedAt": null,
                     *       "lastCheckedAt": null
                     *     }
                     */
                    "application/json": components["schemas"]["EmailDomain"];
                };
            };
        };
    };
    deleteEmailDomain: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a sending domain */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; the answer has no body */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    verifyEmailDomain: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a sending domain */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "domain_01h455vb4pex5vsknk084sn02q",
                     *       "name": "mail.acme.example",
                     *       "status": "pending",
                     *       "records": [
                     *         {
                     *           "purpose": "dkim",
                     *           "type": "TXT",
                     *           "name": "mvty2fzwa8ztg._domainkey.mail.acme.example",
                     *           "value": "v=DKIM1; k=rsa; p=MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A",
                     *           "status": "pending",
                     *           "error": null
                     *         },
                     *         {
                     *           "purpose": "dmarc",
                     *           "type": "TXT",
                     *           "name": "_dmarc.mail.acme.example",
                     *           "value": "v=DMARC1; p=none",
                     *           "status": "pending",
                     *           "error": null
                     *         }
                     *       ],
                     *       "createdAt": "2026-11-20T10:00:40.439Z",
                     *       "verifiedAt": null,
                     *       "lastCheckedAt": null
                     *     }
                     */
                    "application/json": components["schemas"]["EmailDomain"];
                };
            };
        };
    };
    listEmailTemplates: {
        parameters: {
            query?: {
                /** @description The most items on a page; a page with large items has fewer */
                limit?: number;
                /** @description nextCursor of the previous page */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "etemplate_01h455vb4pex5vsknk084sn02q",
                     *           "name": "order-shipped",
                     *           "description": null,
                     *           "format": "html",
                     *           "html": "<p>Dear {{ name }}, your order is on its way.</p>",
                     *           "text": "",
                     *           "sampleData": null,
                     *           "createdAt": "2026-11-20T10:00:40.520Z",
                     *           "updatedAt": "2026-11-20T10:00:40.520Z"
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["EmailTemplatePage"];
                };
            };
        };
    };
    createEmailTemplate: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description At most 8 MiB and 50000 values */
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewEmailTemplate"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "etemplate_01h455vb4pex5vsknk084sn02q",
                     *       "name": "order-shipped",
                     *       "description": null,
                     *       "format": "html",
                     *       "html": "<p>Dear {{ name }}, your order is on its way.</p>",
                     *       "text": "",
                     *       "sampleData": null,
                     *       "createdAt": "2026-11-20T10:00:40.520Z",
                     *       "updatedAt": "2026-11-20T10:00:40.520Z"
                     *     }
                     */
                    "application/json": components["schemas"]["EmailTemplate"];
                };
            };
        };
    };
    getEmailTemplate: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of an email template */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "etemplate_01h455vb4pex5vsknk084sn02q",
                     *       "name": "order-shipped",
                     *       "description": null,
                     *       "format": "html",
                     *       "html": "<p>Dear {{ name }}, your order is on its way.</p>",
                     *       "text": "",
                     *       "sampleData": null,
                     *       "createdAt": "2026-11-20T10:00:40.520Z",
                     *       "updatedAt": "2026-11-20T10:00:40.520Z"
                     *     }
                     */
                    "application/json": components["schemas"]["EmailTemplate"];
                };
            };
        };
    };
    deleteEmailTemplate: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of an email template */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; the answer has no body */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    updateEmailTemplate: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of an email template */
                id: string;
            };
            cookie?: never;
        };
        /** @description At most 8 MiB and 50000 values */
        requestBody?: {
            content: {
                "application/json": components["schemas"]["EmailTemplateChanges"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "etemplate_01h455vb4pex5vsknk084sn02q",
                     *       "name": "order-shipped",
                     *       "description": null,
                     *       "format": "html",
                     *       "html": "<p>Dear {{ name }}, your order is on its way.</p>",
                     *       "text": "",
                     *       "sampleData": null,
                     *       "createdAt": "2026-11-20T10:00:40.520Z",
                     *       "updatedAt": "2026-11-20T10:00:40.520Z"
                     *     }
                     */
                    "application/json": components["schemas"]["EmailTemplate"];
                };
            };
        };
    };
    renderEmailTemplate: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of an email template */
                id: string;
            };
            cookie?: never;
        };
        /** @description At most 1 MiB and 50000 values */
        requestBody?: {
            content: {
                "application/json": components["schemas"]["EmailTemplateRendering"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "html": "<p>Dear Ada, your order is on its way.</p>",
                     *       "text": ""
                     *     }
                     */
                    "application/json": components["schemas"]["RenderedEmailTemplate"];
                };
            };
        };
    };
    listEmailIncludes: {
        parameters: {
            query?: {
                /** @description The most items on a page; a page with large items has fewer */
                limit?: number;
                /** @description nextCursor of the previous page */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "include_01h455vb4pex5vsknk084sn02q",
                     *           "name": "footer",
                     *           "content": "<mj-text>Acme Ltd, 1 Example Street, London</mj-text>",
                     *           "createdAt": "2026-11-20T10:00:39.215Z",
                     *           "updatedAt": "2026-11-20T10:00:39.215Z"
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["EmailIncludePage"];
                };
            };
        };
    };
    getEmailInclude: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description 1 to 64 letters, digits, hyphens or underscores; upper and lower case are different */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "include_01h455vb4pex5vsknk084sn02q",
                     *       "name": "footer",
                     *       "content": "<mj-text>Acme Ltd, 1 Example Street, London</mj-text>",
                     *       "createdAt": "2026-11-20T10:00:39.215Z",
                     *       "updatedAt": "2026-11-20T10:00:39.215Z"
                     *     }
                     */
                    "application/json": components["schemas"]["EmailInclude"];
                };
            };
        };
    };
    saveEmailInclude: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description 1 to 64 letters, digits, hyphens or underscores; upper and lower case are different */
                name: string;
            };
            cookie?: never;
        };
        /** @description At most 1 MiB and 50000 values */
        requestBody: {
            content: {
                "application/json": components["schemas"]["EmailIncludeContent"];
            };
        };
        responses: {
            /** @description Replaced */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "include_01h455vb4pex5vsknk084sn02q",
                     *       "name": "footer",
                     *       "content": "<mj-text>Acme Ltd, 1 Example Street, London</mj-text>",
                     *       "createdAt": "2026-11-20T10:00:39.215Z",
                     *       "updatedAt": "2026-11-20T10:00:39.215Z"
                     *     }
                     */
                    "application/json": components["schemas"]["EmailInclude"];
                };
            };
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "include_01h455vb4pex5vsknk084sn02q",
                     *       "name": "footer",
                     *       "content": "<mj-text>Acme Ltd, 1 Example Street, London</mj-text>",
                     *       "createdAt": "2026-11-20T10:00:39.215Z",
                     *       "updatedAt": "2026-11-20T10:00:39.215Z"
                     *     }
                     */
                    "application/json": components["schemas"]["EmailInclude"];
                };
            };
        };
    };
    deleteEmailInclude: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description 1 to 64 letters, digits, hyphens or underscores; upper and lower case are different */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; the answer has no body */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    listEmailTestRecipients: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "testrecipient_01h455vb4pex5vsknk084sn02q",
                     *           "email": "ada@example.com",
                     *           "verified": false,
                     *           "createdAt": "2026-11-20T10:00:40.768Z"
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["EmailTestRecipientPage"];
                };
            };
        };
    };
    createEmailTestRecipient: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description At most 1 MiB and 50000 values */
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewEmailTestRecipient"];
            };
        };
        responses: {
            /** @description The address was there already: the existing recipient */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "testrecipient_01h455vb4pex5vsknk084sn02q",
                     *       "email": "ada@example.com",
                     *       "verified": false,
                     *       "createdAt": "2026-11-20T10:00:40.768Z"
                     *     }
                     */
                    "application/json": components["schemas"]["EmailTestRecipient"];
                };
            };
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "testrecipient_01h455vb4pex5vsknk084sn02q",
                     *       "email": "ada@example.com",
                     *       "verified": false,
                     *       "createdAt": "2026-11-20T10:00:40.768Z"
                     *     }
                     */
                    "application/json": components["schemas"]["EmailTestRecipient"];
                };
            };
        };
    };
    getEmailTestRecipient: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a test recipient */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "testrecipient_01h455vb4pex5vsknk084sn02q",
                     *       "email": "ada@example.com",
                     *       "verified": false,
                     *       "createdAt": "2026-11-20T10:00:40.768Z"
                     *     }
                     */
                    "application/json": components["schemas"]["EmailTestRecipient"];
                };
            };
        };
    };
    deleteEmailTestRecipient: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a test recipient */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; the answer has no body */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    listEmails: {
        parameters: {
            query?: {
                /** @description Emails that have this status now */
                status?: "queued" | "sent" | "delivered" | "failed" | "cancelled";
                /** @description The whole address of the recipient; upper and lower case are the same */
                recipient?: string;
                /** @description The clientReference of the email, as you gave it */
                clientReference?: string;
                /** @description The clientTag of the email, in upper or lower case */
                clientTag?: string;
                /** @description Emails of this kind */
                kind?: "transactional" | "marketing" | "authentication";
                /** @description Created at or after */
                since?: string;
                /** @description Created before */
                until?: string;
                /** @description The most items on a page */
                limit?: number;
                /** @description nextCursor of the previous page */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "email_01h455vb4pex5vsknk084sn02q",
                     *           "kind": "transactional",
                     *           "sender": "Demo <hello@demo.example>",
                     *           "recipient": "ada@example.com",
                     *           "subject": "Hello",
                     *           "content": {
                     *             "html": null,
                     *             "text": "Hello, it works."
                     *           },
                     *           "status": "delivered",
                     *           "clientReference": null,
                     *           "clientTag": null,
                     *           "openCount": 0,
                     *           "createdAt": "2026-11-20T10:00:41.056Z",
                     *           "scheduledAt": null,
                     *           "sentAt": "2026-11-20T10:00:41.652Z",
                     *           "deliveredAt": "2026-11-20T10:00:41.652Z",
                     *           "openedAt": null,
                     *           "updatedAt": "2026-11-20T10:00:41.652Z"
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["EmailPage"];
                };
            };
        };
    };
    sendEmail: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description At most 42 MiB and 50000 values */
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewEmail"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "email_01h455vb4pex5vsknk084sn02q",
                     *       "kind": "transactional",
                     *       "sender": "Demo <hello@demo.example>",
                     *       "recipient": "ada@example.com",
                     *       "subject": "Hello",
                     *       "content": {
                     *         "html": null,
                     *         "text": "Hello, it works."
                     *       },
                     *       "status": "queued",
                     *       "clientReference": null,
                     *       "clientTag": null,
                     *       "openCount": 0,
                     *       "createdAt": "2026-11-20T10:00:41.056Z",
                     *       "scheduledAt": null,
                     *       "sentAt": null,
                     *       "deliveredAt": null,
                     *       "openedAt": null,
                     *       "updatedAt": "2026-11-20T10:00:41.056Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Email"];
                };
            };
        };
    };
    getEmail: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of an email */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "email_01h455vb4pex5vsknk084sn02q",
                     *       "kind": "transactional",
                     *       "sender": "Demo <hello@demo.example>",
                     *       "recipient": "ada@example.com",
                     *       "subject": "Hello",
                     *       "content": {
                     *         "html": null,
                     *         "text": "Hello, it works."
                     *       },
                     *       "status": "queued",
                     *       "clientReference": null,
                     *       "clientTag": null,
                     *       "openCount": 0,
                     *       "createdAt": "2026-11-20T10:00:41.056Z",
                     *       "scheduledAt": null,
                     *       "sentAt": null,
                     *       "deliveredAt": null,
                     *       "openedAt": null,
                     *       "updatedAt": "2026-11-20T10:00:41.056Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Email"];
                };
            };
        };
    };
    cancelEmail: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of an email */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "email_01h455vb4pex5vsknk084sn02q",
                     *       "kind": "transactional",
                     *       "sender": "Demo <hello@demo.example>",
                     *       "recipient": "ada@example.com",
                     *       "subject": "Hello",
                     *       "content": {
                     *         "html": null,
                     *         "text": "Hello, it works."
                     *       },
                     *       "status": "queued",
                     *       "clientReference": null,
                     *       "clientTag": null,
                     *       "openCount": 0,
                     *       "createdAt": "2026-11-20T10:00:41.056Z",
                     *       "scheduledAt": null,
                     *       "sentAt": null,
                     *       "deliveredAt": null,
                     *       "openedAt": null,
                     *       "updatedAt": "2026-11-20T10:00:41.056Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Email"];
                };
            };
        };
    };
    listEmailEvents: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of an email */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "event_01h455vb4pex5vsknk084sn02r",
                     *           "type": "email.queued",
                     *           "occurredAt": "2026-11-20T10:00:41.056Z",
                     *           "apiVersion": "2026-11-01",
                     *           "workspaceId": "workspace_01h455vb4pex5vsknk084sn02q",
                     *           "data": {
                     *             "id": "email_01h455vb4pex5vsknk084sn02q",
                     *             "kind": "transactional",
                     *             "sender": "Demo <hello@demo.example>",
                     *             "recipient": "ada@example.com",
                     *             "subject": "Hello",
                     *             "content": {
                     *               "html": null,
                     *               "text": "Hello, it works."
                     *             },
                     *             "status": "queued",
                     *             "clientReference": null,
                     *             "clientTag": null,
                     *             "openCount": 0,
                     *             "createdAt": "2026-11-20T10:00:41.056Z",
                     *             "scheduledAt": null,
                     *             "sentAt": null,
                     *             "deliveredAt": null,
                     *             "openedAt": null,
                     *             "updatedAt": "2026-11-20T10:00:41.056Z"
                     *           }
                     *         },
                     *         {
                     *           "id": "event_01h455vb4pex5vsknk084sn02s",
                     *           "type": "email.sent",
                     *           "occurredAt": "2026-11-20T10:00:41.652Z",
                     *           "apiVersion": "2026-11-01",
                     *           "workspaceId": "workspace_01h455vb4pex5vsknk084sn02q",
                     *           "data": {
                     *             "id": "email_01h455vb4pex5vsknk084sn02q",
                     *             "kind": "transactional",
                     *             "sender": "Demo <hello@demo.example>",
                     *             "recipient": "ada@example.com",
                     *             "subject": "Hello",
                     *             "content": {
                     *               "html": null,
                     *               "text": "Hello, it works."
                     *             },
                     *             "status": "sent",
                     *             "clientReference": null,
                     *             "clientTag": null,
                     *             "openCount": 0,
                     *             "createdAt": "2026-11-20T10:00:41.056Z",
                     *             "scheduledAt": null,
                     *             "sentAt": "2026-11-20T10:00:41.652Z",
                     *             "deliveredAt": null,
                     *             "openedAt": null,
                     *             "updatedAt": "2026-11-20T10:00:41.652Z"
                     *           }
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["RecordEventPage"];
                };
            };
        };
    };
    listSmsTemplates: {
        parameters: {
            query?: {
                /** @description The most items on a page; a page with large items has fewer */
                limit?: number;
                /** @description nextCursor of the previous page */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "template_01h455vb4pex5vsknk084sn02q",
                     *           "name": "Parcel arrived",
                     *           "description": null,
                     *           "content": "Dear {{ name }}, your parcel is here.",
                     *           "sampleData": null,
                     *           "createdAt": "2026-11-20T10:00:43.710Z",
                     *           "updatedAt": "2026-11-20T10:00:43.710Z"
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["SmsTemplatePage"];
                };
            };
        };
    };
    createSmsTemplate: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description At most 1 MiB and 50000 values */
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewSmsTemplate"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "template_01h455vb4pex5vsknk084sn02q",
                     *       "name": "Parcel arrived",
                     *       "description": null,
                     *       "content": "Dear {{ name }}, your parcel is here.",
                     *       "sampleData": null,
                     *       "createdAt": "2026-11-20T10:00:43.710Z",
                     *       "updatedAt": "2026-11-20T10:00:43.710Z"
                     *     }
                     */
                    "application/json": components["schemas"]["SmsTemplate"];
                };
            };
        };
    };
    getSmsTemplate: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of an SMS template */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "template_01h455vb4pex5vsknk084sn02q",
                     *       "name": "Parcel arrived",
                     *       "description": null,
                     *       "content": "Dear {{ name }}, your parcel is here.",
                     *       "sampleData": null,
                     *       "createdAt": "2026-11-20T10:00:43.710Z",
                     *       "updatedAt": "2026-11-20T10:00:43.710Z"
                     *     }
                     */
                    "application/json": components["schemas"]["SmsTemplate"];
                };
            };
        };
    };
    deleteSmsTemplate: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of an SMS template */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; the answer has no body */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    updateSmsTemplate: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of an SMS template */
                id: string;
            };
            cookie?: never;
        };
        /** @description At most 1 MiB and 50000 values */
        requestBody?: {
            content: {
                "application/json": components["schemas"]["SmsTemplateChanges"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "template_01h455vb4pex5vsknk084sn02q",
                     *       "name": "Parcel arrived",
                     *       "description": null,
                     *       "content": "Dear {{ name }}, your parcel is here.",
                     *       "sampleData": null,
                     *       "createdAt": "2026-11-20T10:00:43.710Z",
                     *       "updatedAt": "2026-11-20T10:00:43.710Z"
                     *     }
                     */
                    "application/json": components["schemas"]["SmsTemplate"];
                };
            };
        };
    };
    renderSmsTemplate: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of an SMS template */
                id: string;
            };
            cookie?: never;
        };
        /** @description At most 1 MiB and 50000 values */
        requestBody?: {
            content: {
                "application/json": components["schemas"]["SmsTemplateRendering"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "content": "Dear Ada, your parcel is here.",
                     *       "parts": 1,
                     *       "encoding": "gsm7"
                     *     }
                     */
                    "application/json": components["schemas"]["RenderedSmsTemplate"];
                };
            };
        };
    };
    previewSms: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description At most 1 MiB and 50000 values */
        requestBody: {
            content: {
                "application/json": components["schemas"]["SmsToPreview"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "parts": 1,
                     *       "encoding": "gsm7",
                     *       "tooManyParts": false
                     *     }
                     */
                    "application/json": components["schemas"]["SmsPreview"];
                };
            };
        };
    };
    previewSmsBatch: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description At most 8 MiB and 500000 values */
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewSmsBatch"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "recipients": 2,
                     *       "suppressed": 0,
                     *       "estimated": false,
                     *       "parts": 2,
                     *       "cost": {
                     *         "gbp": "0.0690",
                     *         "eur": "0.0824"
                     *       },
                     *       "encodings": {
                     *         "gsm7": 2,
                     *         "ucs2": 0
                     *       },
                     *       "errors": [],
                     *       "errorCount": 0,
                     *       "samples": [
                     *         {
                     *           "recipient": "+447700900123",
                     *           "content": "Your parcel is here.",
                     *           "parts": 1,
                     *           "encoding": "gsm7"
                     *         },
                     *         {
                     *           "recipient": "+447700900124",
                     *           "content": "Your parcel is here.",
                     *           "parts": 1,
                     *           "encoding": "gsm7"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["SmsBatchPreview"];
                };
            };
        };
    };
    listSmsBatches: {
        parameters: {
            query?: {
                /** @description Batches that have this status now */
                status?: "scheduled" | "processing" | "paused" | "completed" | "cancelled";
                /** @description The clientReference of the batch, as you gave it */
                clientReference?: string;
                /** @description The clientTag of the batch, in upper or lower case */
                clientTag?: string;
                /** @description Created at or after */
                since?: string;
                /** @description Created before */
                until?: string;
                /** @description The most items on a page */
                limit?: number;
                /** @description nextCursor of the previous page */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "batch_01h455vb4pex5vsknk084sn02q",
                     *           "status": "completed",
                     *           "counts": {
                     *             "total": 2,
                     *             "waiting": 0,
                     *             "queued": 0,
                     *             "held": 0,
                     *             "sent": 0,
                     *             "delivered": 2,
                     *             "failed": 0,
                     *             "cancelled": 0
                     *           },
                     *           "parts": 2,
                     *           "cost": {
                     *             "gbp": "0.0690",
                     *             "eur": "0.0824"
                     *           },
                     *           "expanding": false,
                     *           "pausedReason": null,
                     *           "clientReference": null,
                     *           "clientTag": null,
                     *           "createdAt": "2026-11-20T10:00:43.819Z",
                     *           "scheduledAt": null,
                     *           "startedAt": "2026-11-20T10:00:43.887Z",
                     *           "completedAt": "2026-11-20T10:00:46.213Z",
                     *           "updatedAt": "2026-11-20T10:00:46.213Z"
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["SmsBatchPage"];
                };
            };
        };
    };
    createSmsBatch: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description At most 8 MiB and 500000 values */
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewSmsBatch"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "batch_01h455vb4pex5vsknk084sn02q",
                     *       "status": "processing",
                     *       "counts": {
                     *         "total": 2,
                     *         "waiting": 2,
                     *         "queued": 0,
                     *         "held": 0,
                     *         "sent": 0,
                     *         "delivered": 0,
                     *         "failed": 0,
                     *         "cancelled": 0
                     *       },
                     *       "parts": 0,
                     *       "cost": {
                     *         "gbp": "0.0000",
                     *         "eur": "0.0000"
                     *       },
                     *       "expanding": true,
                     *       "pausedReason": null,
                     *       "clientReference": null,
                     *       "clientTag": null,
                     *       "createdAt": "2026-11-20T10:00:43.819Z",
                     *       "scheduledAt": null,
                     *       "startedAt": null,
                     *       "completedAt": null,
                     *       "updatedAt": "2026-11-20T10:00:43.819Z",
                     *       "errors": [],
                     *       "errorCount": 0
                     *     }
                     */
                    "application/json": components["schemas"]["CreatedSmsBatch"];
                };
            };
        };
    };
    importSmsBatch: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description At most 20 MiB and 50000 values */
        requestBody: {
            content: {
                "multipart/form-data": {
                    /** @description All but the rows of the file */
                    settings?: components["schemas"]["NewSmsImport"];
                    /**
                     * Format: binary
                     * @description The file; it comes behind settings
                     */
                    file: string;
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "batch_01h455vb4pex5vsknk084sn02q",
                     *       "status": "processing",
                     *       "counts": {
                     *         "total": 2,
                     *         "waiting": 2,
                     *         "queued": 0,
                     *         "held": 0,
                     *         "sent": 0,
                     *         "delivered": 0,
                     *         "failed": 0,
                     *         "cancelled": 0
                     *       },
                     *       "parts": 0,
                     *       "cost": {
                     *         "gbp": "0.0000",
                     *         "eur": "0.0000"
                     *       },
                     *       "expanding": true,
                     *       "pausedReason": null,
                     *       "clientReference": null,
                     *       "clientTag": null,
                     *       "createdAt": "2026-11-20T10:00:43.819Z",
                     *       "scheduledAt": null,
                     *       "startedAt": null,
                     *       "completedAt": null,
                     *       "updatedAt": "2026-11-20T10:00:43.819Z",
                     *       "errors": [],
                     *       "errorCount": 0
                     *     }
                     */
                    "application/json": components["schemas"]["CreatedSmsBatch"];
                };
            };
        };
    };
    getSmsBatch: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of an SMS batch */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "batch_01h455vb4pex5vsknk084sn02q",
                     *       "status": "completed",
                     *       "counts": {
                     *         "total": 2,
                     *         "waiting": 0,
                     *         "queued": 0,
                     *         "held": 0,
                     *         "sent": 0,
                     *         "delivered": 2,
                     *         "failed": 0,
                     *         "cancelled": 0
                     *       },
                     *       "parts": 2,
                     *       "cost": {
                     *         "gbp": "0.0690",
                     *         "eur": "0.0824"
                     *       },
                     *       "expanding": false,
                     *       "pausedReason": null,
                     *       "clientReference": null,
                     *       "clientTag": null,
                     *       "createdAt": "2026-11-20T10:00:43.819Z",
                     *       "scheduledAt": null,
                     *       "startedAt": "2026-11-20T10:00:43.887Z",
                     *       "completedAt": "2026-11-20T10:00:46.213Z",
                     *       "updatedAt": "2026-11-20T10:00:46.213Z"
                     *     }
                     */
                    "application/json": components["schemas"]["SmsBatch"];
                };
            };
        };
    };
    cancelSmsBatch: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of an SMS batch */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "batch_01h455vb4pex5vsknk084sn02q",
                     *       "status": "completed",
                     *       "counts": {
                     *         "total": 2,
                     *         "waiting": 0,
                     *         "queued": 0,
                     *         "held": 0,
                     *         "sent": 0,
                     *         "delivered": 2,
                     *         "failed": 0,
                     *         "cancelled": 0
                     *       },
                     *       "parts": 2,
                     *       "cost": {
                     *         "gbp": "0.0690",
                     *         "eur": "0.0824"
                     *       },
                     *       "expanding": false,
                     *       "pausedReason": null,
                     *       "clientReference": null,
                     *       "clientTag": null,
                     *       "createdAt": "2026-11-20T10:00:43.819Z",
                     *       "scheduledAt": null,
                     *       "startedAt": "2026-11-20T10:00:43.887Z",
                     *       "completedAt": "2026-11-20T10:00:46.213Z",
                     *       "updatedAt": "2026-11-20T10:00:46.213Z"
                     *     }
                     */
                    "application/json": components["schemas"]["SmsBatch"];
                };
            };
        };
    };
    listSmsBatchLinks: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of an SMS batch */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "url": "https://example.com/offer",
                     *           "messages": 2,
                     *           "clicks": 3,
                     *           "clickedMessages": 1,
                     *           "firstClickedAt": "2026-11-20T10:00:50.000Z",
                     *           "lastClickedAt": "2026-11-20T10:00:58.000Z"
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["BatchLinkPage"];
                };
            };
        };
    };
    resumeSmsBatch: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of an SMS batch */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "batch_01h455vb4pex5vsknk084sn02q",
                     *       "status": "completed",
                     *       "counts": {
                     *         "total": 2,
                     *         "waiting": 0,
                     *         "queued": 0,
                     *         "held": 0,
                     *         "sent": 0,
                     *         "delivered": 2,
                     *         "failed": 0,
                     *         "cancelled": 0
                     *       },
                     *       "parts": 2,
                     *       "cost": {
                     *         "gbp": "0.0690",
                     *         "eur": "0.0824"
                     *       },
                     *       "expanding": false,
                     *       "pausedReason": null,
                     *       "clientReference": null,
                     *       "clientTag": null,
                     *       "createdAt": "2026-11-20T10:00:43.819Z",
                     *       "scheduledAt": null,
                     *       "startedAt": "2026-11-20T10:00:43.887Z",
                     *       "completedAt": "2026-11-20T10:00:46.213Z",
                     *       "updatedAt": "2026-11-20T10:00:46.213Z"
                     *     }
                     */
                    "application/json": components["schemas"]["SmsBatch"];
                };
            };
        };
    };
    listSms: {
        parameters: {
            query?: {
                /** @description Texts that have this status now */
                status?: "queued" | "held" | "sent" | "delivered" | "failed" | "cancelled" | "received";
                /** @description Texts in this direction; default: both */
                direction?: "outbound" | "inbound";
                /** @description A number in any common format, or a name; needs the scope recipients.read */
                recipient?: string;
                /** @description A sender name as texts show it, or a number; a number needs the scope recipients.read */
                sender?: string;
                /** @description The clientReference of the message, as you gave it */
                clientReference?: string;
                /** @description The clientTag of the message, in upper or lower case */
                clientTag?: string;
                /** @description Messages of this batch */
                batchId?: string;
                /** @description Messages of this conversation */
                conversationId?: string;
                /** @description Created at or after */
                since?: string;
                /** @description Created before */
                until?: string;
                /** @description The most items on a page */
                limit?: number;
                /** @description nextCursor of the previous page */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "sms_01h455vb4pex5vsknk084sn02r",
                     *           "direction": "outbound",
                     *           "status": "delivered",
                     *           "sender": "Demo",
                     *           "recipient": "+447700900124",
                     *           "content": "Your parcel is here.",
                     *           "country": "GB",
                     *           "parts": 1,
                     *           "encoding": "gsm7",
                     *           "cost": {
                     *             "gbp": "0.0345",
                     *             "eur": "0.0412"
                     *           },
                     *           "clientReference": null,
                     *           "clientTag": null,
                     *           "batchId": "batch_01h455vb4pex5vsknk084sn02q",
                     *           "contactId": null,
                     *           "templateName": null,
                     *           "inReplyTo": null,
                     *           "createdAt": "2026-11-20T10:00:43.903Z",
                     *           "scheduledAt": null,
                     *           "sentAt": "2026-11-20T10:00:44.404Z",
                     *           "deliveredAt": "2026-11-20T10:00:45.468Z",
                     *           "updatedAt": "2026-11-20T10:00:45.468Z"
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["SmsPage"];
                };
            };
        };
    };
    sendSms: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description At most 1 MiB and 50000 values */
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewSms"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "sms_01h455vb4pex5vsknk084sn02q",
                     *       "direction": "outbound",
                     *       "status": "queued",
                     *       "sender": "Demo",
                     *       "recipient": "+447700900123",
                     *       "content": "Your parcel is here.",
                     *       "country": "GB",
                     *       "parts": 1,
                     *       "encoding": "gsm7",
                     *       "cost": {
                     *         "gbp": "0.0345",
                     *         "eur": "0.0412"
                     *       },
                     *       "clientReference": null,
                     *       "clientTag": null,
                     *       "batchId": null,
                     *       "contactId": null,
                     *       "templateName": null,
                     *       "inReplyTo": null,
                     *       "createdAt": "2026-11-20T10:00:43.872Z",
                     *       "scheduledAt": null,
                     *       "sentAt": null,
                     *       "deliveredAt": null,
                     *       "updatedAt": "2026-11-20T10:00:43.872Z"
                     *     }
                     */
                    "application/json": components["schemas"]["SmsMessage"];
                };
            };
        };
    };
    getSms: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a text message */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "sms_01h455vb4pex5vsknk084sn02q",
                     *       "direction": "outbound",
                     *       "status": "queued",
                     *       "sender": "Demo",
                     *       "recipient": "+447700900123",
                     *       "content": "Your parcel is here.",
                     *       "country": "GB",
                     *       "parts": 1,
                     *       "encoding": "gsm7",
                     *       "cost": {
                     *         "gbp": "0.0345",
                     *         "eur": "0.0412"
                     *       },
                     *       "clientReference": null,
                     *       "clientTag": null,
                     *       "batchId": null,
                     *       "contactId": null,
                     *       "templateName": null,
                     *       "inReplyTo": null,
                     *       "createdAt": "2026-11-20T10:00:43.872Z",
                     *       "scheduledAt": null,
                     *       "sentAt": null,
                     *       "deliveredAt": null,
                     *       "updatedAt": "2026-11-20T10:00:43.872Z"
                     *     }
                     */
                    "application/json": components["schemas"]["SmsMessage"];
                };
            };
        };
    };
    cancelSms: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a text message */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "sms_01h455vb4pex5vsknk084sn02q",
                     *       "direction": "outbound",
                     *       "status": "queued",
                     *       "sender": "Demo",
                     *       "recipient": "+447700900123",
                     *       "content": "Your parcel is here.",
                     *       "country": "GB",
                     *       "parts": 1,
                     *       "encoding": "gsm7",
                     *       "cost": {
                     *         "gbp": "0.0345",
                     *         "eur": "0.0412"
                     *       },
                     *       "clientReference": null,
                     *       "clientTag": null,
                     *       "batchId": null,
                     *       "contactId": null,
                     *       "templateName": null,
                     *       "inReplyTo": null,
                     *       "createdAt": "2026-11-20T10:00:43.872Z",
                     *       "scheduledAt": null,
                     *       "sentAt": null,
                     *       "deliveredAt": null,
                     *       "updatedAt": "2026-11-20T10:00:43.872Z"
                     *     }
                     */
                    "application/json": components["schemas"]["SmsMessage"];
                };
            };
        };
    };
    listSmsEvents: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a text message */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "event_01h455vb4pex5vsknk084sn02r",
                     *           "type": "email.queued",
                     *           "occurredAt": "2026-11-20T10:00:41.056Z",
                     *           "apiVersion": "2026-11-01",
                     *           "workspaceId": "workspace_01h455vb4pex5vsknk084sn02q",
                     *           "data": {
                     *             "id": "email_01h455vb4pex5vsknk084sn02q",
                     *             "kind": "transactional",
                     *             "sender": "Demo <hello@demo.example>",
                     *             "recipient": "ada@example.com",
                     *             "subject": "Hello",
                     *             "content": {
                     *               "html": null,
                     *               "text": "Hello, it works."
                     *             },
                     *             "status": "queued",
                     *             "clientReference": null,
                     *             "clientTag": null,
                     *             "openCount": 0,
                     *             "createdAt": "2026-11-20T10:00:41.056Z",
                     *             "scheduledAt": null,
                     *             "sentAt": null,
                     *             "deliveredAt": null,
                     *             "openedAt": null,
                     *             "updatedAt": "2026-11-20T10:00:41.056Z"
                     *           }
                     *         },
                     *         {
                     *           "id": "event_01h455vb4pex5vsknk084sn02s",
                     *           "type": "email.sent",
                     *           "occurredAt": "2026-11-20T10:00:41.652Z",
                     *           "apiVersion": "2026-11-01",
                     *           "workspaceId": "workspace_01h455vb4pex5vsknk084sn02q",
                     *           "data": {
                     *             "id": "email_01h455vb4pex5vsknk084sn02q",
                     *             "kind": "transactional",
                     *             "sender": "Demo <hello@demo.example>",
                     *             "recipient": "ada@example.com",
                     *             "subject": "Hello",
                     *             "content": {
                     *               "html": null,
                     *               "text": "Hello, it works."
                     *             },
                     *             "status": "sent",
                     *             "clientReference": null,
                     *             "clientTag": null,
                     *             "openCount": 0,
                     *             "createdAt": "2026-11-20T10:00:41.056Z",
                     *             "scheduledAt": null,
                     *             "sentAt": "2026-11-20T10:00:41.652Z",
                     *             "deliveredAt": null,
                     *             "openedAt": null,
                     *             "updatedAt": "2026-11-20T10:00:41.652Z"
                     *           }
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["RecordEventPage"];
                };
            };
        };
    };
    listSmsLinks: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a text message */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "link_01h455vb4pex5vsknk084sn02q",
                     *           "url": "https://example.com/offer",
                     *           "shortUrl": "https://messaging.example/l/x7Kq2mPz9",
                     *           "clicks": 3,
                     *           "firstClickedAt": "2026-11-20T10:00:50.000Z",
                     *           "lastClickedAt": "2026-11-20T10:00:58.000Z"
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["ShortLinkPage"];
                };
            };
        };
    };
    listConversations: {
        parameters: {
            query?: {
                /** @description The number of the other person, in any common format */
                number?: string;
                /** @description Your sender: a name, in upper or lower case, or a number */
                sender?: string;
                /** @description Conversations whose newest text was created at or after this time */
                since?: string;
                /** @description The most items on a page */
                limit?: number;
                /** @description nextCursor of the previous page */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "conversation_01h455vb4pex5vsknk084sn02q",
                     *           "number": "+447700900123",
                     *           "sender": "Demo",
                     *           "contact": null,
                     *           "lastMessage": {
                     *             "id": "sms_01h455vb4pex5vsknk084sn02s",
                     *             "direction": "inbound",
                     *             "status": "received",
                     *             "sender": "+447700900123",
                     *             "recipient": "Demo",
                     *             "content": "Yes please",
                     *             "country": "GB",
                     *             "parts": 1,
                     *             "encoding": "gsm7",
                     *             "cost": {
                     *               "gbp": null,
                     *               "eur": null
                     *             },
                     *             "clientReference": null,
                     *             "clientTag": null,
                     *             "batchId": null,
                     *             "contactId": null,
                     *             "templateName": null,
                     *             "inReplyTo": "sms_01h455vb4pex5vsknk084sn02t",
                     *             "createdAt": "2026-11-20T10:00:49.069Z",
                     *             "scheduledAt": null,
                     *             "sentAt": null,
                     *             "deliveredAt": null,
                     *             "updatedAt": "2026-11-20T10:00:49.069Z"
                     *           },
                     *           "lastInboundAt": "2026-11-20T10:00:49.069Z",
                     *           "lastOutboundAt": "2026-11-20T10:00:43.903Z",
                     *           "inboundCount": 1,
                     *           "outboundCount": 2,
                     *           "suppressed": false
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["ConversationPage"];
                };
            };
        };
    };
    listSimulatorPhones: {
        parameters: {
            query?: {
                /** @description The most items on a page */
                limit?: number;
                /** @description nextCursor of the previous page */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "phone_01h455vb4pex5vsknk084sn02q",
                     *           "number": "+447700900124",
                     *           "messages": [
                     *             {
                     *               "direction": "outbound",
                     *               "from": "Demo",
                     *               "to": "+447700900124",
                     *               "content": "Your parcel is here.",
                     *               "parts": 1,
                     *               "createdAt": "2026-11-20T10:00:44.302Z"
                     *             }
                     *           ],
                     *           "createdAt": "2026-11-20T10:00:44.302Z"
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["SimulatorPhonePage"];
                };
            };
        };
    };
    clearSimulatorPhones: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; the answer has no body */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    createSimulatorMessage: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Any common format, UK without a country code */
                number: string;
            };
            cookie?: never;
        };
        /** @description At most 1 MiB and 50000 values */
        requestBody: {
            content: {
                "application/json": components["schemas"]["SimulatorText"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "sms_01h455vb4pex5vsknk084sn02q",
                     *       "direction": "outbound",
                     *       "status": "queued",
                     *       "sender": "Demo",
                     *       "recipient": "+447700900123",
                     *       "content": "Your parcel is here.",
                     *       "country": "GB",
                     *       "parts": 1,
                     *       "encoding": "gsm7",
                     *       "cost": {
                     *         "gbp": "0.0345",
                     *         "eur": "0.0412"
                     *       },
                     *       "clientReference": null,
                     *       "clientTag": null,
                     *       "batchId": null,
                     *       "contactId": null,
                     *       "templateName": null,
                     *       "inReplyTo": null,
                     *       "createdAt": "2026-11-20T10:00:43.872Z",
                     *       "scheduledAt": null,
                     *       "sentAt": null,
                     *       "deliveredAt": null,
                     *       "updatedAt": "2026-11-20T10:00:43.872Z"
                     *     }
                     */
                    "application/json": components["schemas"]["SmsMessage"];
                };
            };
        };
    };
    listWebhooks: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "webhook_01h455vb4pex5vsknk084sn02q",
                     *           "url": "https://example.com/hooks",
                     *           "description": null,
                     *           "events": [
                     *             "email.delivered",
                     *             "email.bounced"
                     *           ],
                     *           "apiVersion": "2026-11-01",
                     *           "active": true,
                     *           "autoDisabled": false,
                     *           "autoDisableExempt": false,
                     *           "autoDisableAfterMinutes": 360,
                     *           "atRiskAlertPercent": 10,
                     *           "pausedUntil": null,
                     *           "failingSince": null,
                     *           "consecutiveFailures": 0,
                     *           "inboundNumber": null,
                     *           "secretVersion": 2,
                     *           "secret": null,
                     *           "createdAt": "2026-11-20T10:00:46.437Z"
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookPage"];
                };
            };
        };
    };
    createWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description At most 1 MiB and 50000 values */
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewWebhook"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "webhook_01h455vb4pex5vsknk084sn02q",
                     *       "url": "https://example.com/hooks",
                     *       "description": null,
                     *       "events": [
                     *         "email.delivered",
                     *         "email.bounced"
                     *       ],
                     *       "apiVersion": "2026-11-01",
                     *       "active": true,
                     *       "autoDisabled": false,
                     *       "autoDisableExempt": false,
                     *       "autoDisableAfterMinutes": 360,
                     *       "atRiskAlertPercent": 10,
                     *       "pausedUntil": null,
                     *       "failingSince": null,
                     *       "consecutiveFailures": 0,
                     *       "inboundNumber": null,
                     *       "secretVersion": 1,
                     *       "secret": "whsec_0000000000000000000000000000000000000Sample",
                     *       "createdAt": "2026-11-20T10:00:46.437Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Webhook"];
                };
            };
        };
    };
    getWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a webhook */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "webhook_01h455vb4pex5vsknk084sn02q",
                     *       "url": "https://example.com/hooks",
                     *       "description": null,
                     *       "events": [
                     *         "email.delivered",
                     *         "email.bounced"
                     *       ],
                     *       "apiVersion": "2026-11-01",
                     *       "active": true,
                     *       "autoDisabled": false,
                     *       "autoDisableExempt": false,
                     *       "autoDisableAfterMinutes": 360,
                     *       "atRiskAlertPercent": 10,
                     *       "pausedUntil": null,
                     *       "failingSince": null,
                     *       "consecutiveFailures": 0,
                     *       "inboundNumber": null,
                     *       "secretVersion": 1,
                     *       "secret": "whsec_0000000000000000000000000000000000000Sample",
                     *       "createdAt": "2026-11-20T10:00:46.437Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Webhook"];
                };
            };
        };
    };
    deleteWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a webhook */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; the answer has no body */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    updateWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a webhook */
                id: string;
            };
            cookie?: never;
        };
        /** @description At most 1 MiB and 50000 values */
        requestBody?: {
            content: {
                "application/json": components["schemas"]["WebhookChanges"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "webhook_01h455vb4pex5vsknk084sn02q",
                     *       "url": "https://example.com/hooks",
                     *       "description": null,
                     *       "events": [
                     *         "email.delivered",
                     *         "email.bounced"
                     *       ],
                     *       "apiVersion": "2026-11-01",
                     *       "active": true,
                     *       "autoDisabled": false,
                     *       "autoDisableExempt": false,
                     *       "autoDisableAfterMinutes": 360,
                     *       "atRiskAlertPercent": 10,
                     *       "pausedUntil": null,
                     *       "failingSince": null,
                     *       "consecutiveFailures": 0,
                     *       "inboundNumber": null,
                     *       "secretVersion": 1,
                     *       "secret": "whsec_0000000000000000000000000000000000000Sample",
                     *       "createdAt": "2026-11-20T10:00:46.437Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Webhook"];
                };
            };
        };
    };
    rotateWebhookSecret: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a webhook */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "webhook_01h455vb4pex5vsknk084sn02q",
                     *       "url": "https://example.com/hooks",
                     *       "description": null,
                     *       "events": [
                     *         "email.delivered",
                     *         "email.bounced"
                     *       ],
                     *       "apiVersion": "2026-11-01",
                     *       "active": true,
                     *       "autoDisabled": false,
                     *       "autoDisableExempt": false,
                     *       "autoDisableAfterMinutes": 360,
                     *       "atRiskAlertPercent": 10,
                     *       "pausedUntil": null,
                     *       "failingSince": null,
                     *       "consecutiveFailures": 0,
                     *       "inboundNumber": null,
                     *       "secretVersion": 1,
                     *       "secret": "whsec_0000000000000000000000000000000000000Sample",
                     *       "createdAt": "2026-11-20T10:00:46.437Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Webhook"];
                };
            };
        };
    };
    testWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a webhook */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "event_01h455vb4pex5vsknk084sn02q",
                     *       "type": "webhook.test",
                     *       "occurredAt": "2026-11-20T10:00:49.087Z",
                     *       "apiVersion": "2026-11-01",
                     *       "workspaceId": "workspace_01h455vb4pex5vsknk084sn02q",
                     *       "data": {
                     *         "id": "webhook_01h455vb4pex5vsknk084sn02q",
                     *         "message": "A test of this webhook, sent on request. Nothing has happened to a message."
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Event"];
                };
            };
        };
    };
    listWebhookDeliveries: {
        parameters: {
            query?: {
                /** @description Deliveries that have this status now */
                status?: components["schemas"]["WebhookDeliveryStatus"];
                /** @description Deliveries of events of this type */
                eventType?: "email.queued" | "email.sent" | "email.delivered" | "email.delayed" | "email.bounced" | "email.failed" | "email.complained" | "email.opened" | "email.cancelled" | "sms.queued" | "sms.sent" | "sms.delivered" | "sms.failed" | "sms.cancelled" | "sms.held" | "sms.received" | "batch.paused" | "batch.cancelled" | "batch.completed" | "suppression.created" | "webhook.test";
                /** @description The most items on a page */
                limit?: number;
                /** @description nextCursor of the previous page */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description Id of a webhook */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "delivery_01h455vb4pex5vsknk084sn02q",
                     *           "eventId": "event_01h455vb4pex5vsknk084sn02q",
                     *           "eventType": "email.delivered",
                     *           "status": "delivered",
                     *           "attempts": 1,
                     *           "nextAttemptAt": null,
                     *           "createdAt": "2026-11-20T10:00:49.092Z",
                     *           "completedAt": "2026-11-20T10:00:49.133Z",
                     *           "latestAttempt": {
                     *             "attemptedAt": "2026-11-20T10:00:49.120Z",
                     *             "durationMs": 41,
                     *             "responseStatus": 200,
                     *             "responseBody": "Thank you.",
                     *             "error": null
                     *           }
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookDeliveryPage"];
                };
            };
        };
    };
    getWebhookDelivery: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a webhook */
                id: string;
                /** @description Id of a delivery */
                deliveryId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "delivery_01h455vb4pex5vsknk084sn02q",
                     *       "eventId": "event_01h455vb4pex5vsknk084sn02q",
                     *       "eventType": "email.delivered",
                     *       "status": "delivered",
                     *       "attempts": 1,
                     *       "nextAttemptAt": null,
                     *       "createdAt": "2026-11-20T10:00:49.092Z",
                     *       "completedAt": "2026-11-20T10:00:49.133Z",
                     *       "latestAttempt": {
                     *         "attemptedAt": "2026-11-20T10:00:49.120Z",
                     *         "durationMs": 41,
                     *         "responseStatus": 200,
                     *         "responseBody": "Thank you.",
                     *         "error": null
                     *       },
                     *       "attemptLog": [
                     *         {
                     *           "number": 1,
                     *           "attemptedAt": "2026-11-20T10:00:49.120Z",
                     *           "durationMs": 41,
                     *           "responseStatus": 200,
                     *           "responseBody": "Thank you.",
                     *           "error": null
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookDeliveryLog"];
                };
            };
        };
    };
    redeliverWebhookDelivery: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a webhook */
                id: string;
                /** @description Id of a delivery */
                deliveryId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "delivery_01h455vb4pex5vsknk084sn02q",
                     *       "eventId": "event_01h455vb4pex5vsknk084sn02q",
                     *       "eventType": "email.delivered",
                     *       "status": "pending",
                     *       "attempts": 1,
                     *       "nextAttemptAt": "2026-11-20T10:00:50.000Z",
                     *       "createdAt": "2026-11-20T10:00:49.092Z",
                     *       "completedAt": null,
                     *       "latestAttempt": {
                     *         "attemptedAt": "2026-11-20T10:00:49.120Z",
                     *         "durationMs": 41,
                     *         "responseStatus": 200,
                     *         "responseBody": "Thank you.",
                     *         "error": null
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookDelivery"];
                };
            };
        };
    };
    recoverWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a webhook */
                id: string;
            };
            cookie?: never;
        };
        /** @description At most 1 MiB and 50000 values */
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookRecovery"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "since": "2026-11-20T09:00:38.481Z",
                     *       "deliveries": 12
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookRecovered"];
                };
            };
        };
    };
    listEvents: {
        parameters: {
            query?: {
                /** @description Only events of these types. Repeat the parameter, or separate types by commas; `email.*` selects a group */
                types?: string[];
                /** @description The time to start from, if there is no cursor; default: one hour ago */
                since?: string;
                /** @description nextCursor of the previous answer; with it, since has no effect */
                cursor?: string;
                /** @description The most events on a page */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "event_01h455vb4pex5vsknk084sn02r",
                     *           "type": "email.queued",
                     *           "occurredAt": "2026-11-20T10:00:41.056Z",
                     *           "apiVersion": "2026-11-01",
                     *           "workspaceId": "workspace_01h455vb4pex5vsknk084sn02q",
                     *           "data": {
                     *             "id": "email_01h455vb4pex5vsknk084sn02q",
                     *             "kind": "transactional",
                     *             "sender": "Demo <hello@demo.example>",
                     *             "recipient": "ada@example.com",
                     *             "subject": "Hello",
                     *             "content": {
                     *               "html": null,
                     *               "text": "Hello, it works."
                     *             },
                     *             "status": "queued",
                     *             "clientReference": null,
                     *             "clientTag": null,
                     *             "openCount": 0,
                     *             "createdAt": "2026-11-20T10:00:41.056Z",
                     *             "scheduledAt": null,
                     *             "sentAt": null,
                     *             "deliveredAt": null,
                     *             "openedAt": null,
                     *             "updatedAt": "2026-11-20T10:00:41.056Z"
                     *           }
                     *         },
                     *         {
                     *           "id": "event_01h455vb4pex5vsknk084sn02t",
                     *           "type": "email.delivered",
                     *           "occurredAt": "2026-11-20T10:00:41.652Z",
                     *           "apiVersion": "2026-11-01",
                     *           "workspaceId": "workspace_01h455vb4pex5vsknk084sn02q",
                     *           "data": {
                     *             "id": "email_01h455vb4pex5vsknk084sn02q",
                     *             "kind": "transactional",
                     *             "sender": "Demo <hello@demo.example>",
                     *             "recipient": "ada@example.com",
                     *             "subject": "Hello",
                     *             "content": {
                     *               "html": null,
                     *               "text": "Hello, it works."
                     *             },
                     *             "status": "delivered",
                     *             "clientReference": null,
                     *             "clientTag": null,
                     *             "openCount": 0,
                     *             "createdAt": "2026-11-20T10:00:41.056Z",
                     *             "scheduledAt": null,
                     *             "sentAt": "2026-11-20T10:00:41.652Z",
                     *             "deliveredAt": "2026-11-20T10:00:41.652Z",
                     *             "openedAt": null,
                     *             "updatedAt": "2026-11-20T10:00:41.652Z"
                     *           }
                     *         }
                     *       ],
                     *       "nextCursor": "ZXhhbXBsZTpjdXJzb3I",
                     *       "hasMore": false
                     *     }
                     */
                    "application/json": components["schemas"]["EventPage"];
                };
            };
        };
    };
    listSuppressions: {
        parameters: {
            query?: {
                /** @description The suppression of this number */
                number?: string;
                /** @description Suppressions of this address */
                email?: string;
                /** @description Suppressions of this scope */
                scope?: "all" | "marketing";
                /** @description Suppressions with this source */
                source?: "api" | "web" | "stop" | "bounce" | "complaint" | "system";
                /** @description The most items on a page */
                limit?: number;
                /** @description nextCursor of the previous page */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "suppression_01h455vb4pex5vsknk084sn02q",
                     *           "number": null,
                     *           "email": "grace@example.com",
                     *           "scope": "all",
                     *           "source": "api",
                     *           "reason": null,
                     *           "createdAt": "2026-11-20T10:00:48.950Z"
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["SuppressionPage"];
                };
            };
        };
    };
    createSuppression: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description At most 1 MiB and 50000 values */
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewSuppression"];
            };
        };
        responses: {
            /** @description It was suppressed already: the existing entry */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "suppression_01h455vb4pex5vsknk084sn02q",
                     *       "number": null,
                     *       "email": "grace@example.com",
                     *       "scope": "all",
                     *       "source": "api",
                     *       "reason": null,
                     *       "createdAt": "2026-11-20T10:00:48.950Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Suppression"];
                };
            };
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "suppression_01h455vb4pex5vsknk084sn02q",
                     *       "number": null,
                     *       "email": "grace@example.com",
                     *       "scope": "all",
                     *       "source": "api",
                     *       "reason": null,
                     *       "createdAt": "2026-11-20T10:00:48.950Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Suppression"];
                };
            };
        };
    };
    getSuppression: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a suppression */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "suppression_01h455vb4pex5vsknk084sn02q",
                     *       "number": null,
                     *       "email": "grace@example.com",
                     *       "scope": "all",
                     *       "source": "api",
                     *       "reason": null,
                     *       "createdAt": "2026-11-20T10:00:48.950Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Suppression"];
                };
            };
        };
    };
    deleteSuppression: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a suppression */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; the answer has no body */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    listSenders: {
        parameters: {
            query?: {
                /** @description Senders that have this status now */
                status?: "pending" | "approved" | "rejected" | "awaiting_verification" | "awaiting_business_verification";
                /** @description The most items on a page */
                limit?: number;
                /** @description nextCursor of the previous page */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "sender_01h455vb4pex5vsknk084sn02q",
                     *           "kind": "sender_name",
                     *           "name": "Acme",
                     *           "status": "pending",
                     *           "countries": [
                     *             {
                     *               "country": "GB",
                     *               "status": "pending"
                     *             }
                     *           ],
                     *           "default": false,
                     *           "sampleContent": "Your parcel arrives today between 10:00 and 11:00.",
                     *           "businessProfileId": null,
                     *           "createdAt": "2026-11-20T10:00:48.979Z"
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["SenderPage"];
                };
            };
        };
    };
    createSender: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description At most 1 MiB and 50000 values */
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewSender"];
            };
        };
        responses: {
            /** @description The sender was there already */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "sender_01h455vb4pex5vsknk084sn02q",
                     *       "kind": "sender_name",
                     *       "name": "Acme",
                     *       "status": "pending",
                     *       "countries": [
                     *         {
                     *           "country": "GB",
                     *           "status": "pending"
                     *         }
                     *       ],
                     *       "default": false,
                     *       "sampleContent": "Your parcel arrives today between 10:00 and 11:00.",
                     *       "businessProfileId": null,
                     *       "createdAt": "2026-11-20T10:00:48.979Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Sender"];
                };
            };
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "sender_01h455vb4pex5vsknk084sn02q",
                     *       "kind": "sender_name",
                     *       "name": "Acme",
                     *       "status": "pending",
                     *       "countries": [
                     *         {
                     *           "country": "GB",
                     *           "status": "pending"
                     *         }
                     *       ],
                     *       "default": false,
                     *       "sampleContent": "Your parcel arrives today between 10:00 and 11:00.",
                     *       "businessProfileId": null,
                     *       "createdAt": "2026-11-20T10:00:48.979Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Sender"];
                };
            };
        };
    };
    checkSender: {
        parameters: {
            query: {
                /** @description The name to check */
                name: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "name": "Acme",
                     *       "kind": "name",
                     *       "acceptable": true,
                     *       "reasons": [],
                     *       "existing": {
                     *         "id": "sender_01h455vb4pex5vsknk084sn02q",
                     *         "kind": "sender_name",
                     *         "name": "Acme",
                     *         "status": "pending",
                     *         "countries": [
                     *           {
                     *             "country": "GB",
                     *             "status": "pending"
                     *           }
                     *         ],
                     *         "default": false,
                     *         "sampleContent": "Your parcel arrives today between 10:00 and 11:00.",
                     *         "businessProfileId": null,
                     *         "createdAt": "2026-11-20T10:00:48.979Z"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SenderCheck"];
                };
            };
        };
    };
    getSender: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a sender */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "sender_01h455vb4pex5vsknk084sn02q",
                     *       "kind": "sender_name",
                     *       "name": "Acme",
                     *       "status": "pending",
                     *       "countries": [
                     *         {
                     *           "country": "GB",
                     *           "status": "pending"
                     *         }
                     *       ],
                     *       "default": false,
                     *       "sampleContent": "Your parcel arrives today between 10:00 and 11:00.",
                     *       "businessProfileId": null,
                     *       "createdAt": "2026-11-20T10:00:48.979Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Sender"];
                };
            };
        };
    };
    cancelSender: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a sender */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; the answer has no body */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    updateSender: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a sender */
                id: string;
            };
            cookie?: never;
        };
        /** @description At most 1 MiB and 50000 values */
        requestBody?: {
            content: {
                "application/json": components["schemas"]["SenderChanges"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "sender_01h455vb4pex5vsknk084sn02q",
                     *       "kind": "sender_name",
                     *       "name": "Acme",
                     *       "status": "pending",
                     *       "countries": [
                     *         {
                     *           "country": "GB",
                     *           "status": "pending"
                     *         }
                     *       ],
                     *       "default": false,
                     *       "sampleContent": "Your parcel arrives today between 10:00 and 11:00.",
                     *       "businessProfileId": null,
                     *       "createdAt": "2026-11-20T10:00:48.979Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Sender"];
                };
            };
        };
    };
    verifySender: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a sender */
                id: string;
            };
            cookie?: never;
        };
        /** @description At most 1 MiB and 50000 values */
        requestBody: {
            content: {
                "application/json": components["schemas"]["SenderVerification"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "sender_01h455vb4pex5vsknk084sn02q",
                     *       "kind": "sender_name",
                     *       "name": "Acme",
                     *       "status": "pending",
                     *       "countries": [
                     *         {
                     *           "country": "GB",
                     *           "status": "pending"
                     *         }
                     *       ],
                     *       "default": false,
                     *       "sampleContent": "Your parcel arrives today between 10:00 and 11:00.",
                     *       "businessProfileId": null,
                     *       "createdAt": "2026-11-20T10:00:48.979Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Sender"];
                };
            };
        };
    };
    listContacts: {
        parameters: {
            query?: {
                /** @description Finds words in the name, the company, the email or the clientReference by their beginning; upper and lower case are the same. Each character that is not a letter or digit separates words, so example.com finds all addresses of this domain. In a text that is not ASCII, a symbol such as an emoji is part of a word. Only the first 20 words each of the names, the email and the clientReference are found. Digits also find numbers: by the first digits, or by at least the last 4 digits */
                search?: string;
                /** @description Contacts that have this tag, in upper or lower case */
                tag?: string;
                /** @description Contacts with this clientReference */
                clientReference?: string;
                /** @description The most items on a page */
                limit?: number;
                /** @description nextCursor of the previous page */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "contact_01h455vb4pex5vsknk084sn02q",
                     *           "number": "+447700900151",
                     *           "country": "GB",
                     *           "firstName": "Ada",
                     *           "lastName": "Lovelace",
                     *           "company": null,
                     *           "email": "ada@example.com",
                     *           "clientReference": null,
                     *           "tags": [
                     *             "newsletter"
                     *           ],
                     *           "suppressed": false,
                     *           "createdAt": "2026-11-20T10:00:48.984Z",
                     *           "updatedAt": "2026-11-20T10:00:48.984Z"
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["ContactPage"];
                };
            };
        };
    };
    createContact: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description At most 1 MiB and 50000 values */
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewContact"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "contact_01h455vb4pex5vsknk084sn02q",
                     *       "number": "+447700900151",
                     *       "country": "GB",
                     *       "firstName": "Ada",
                     *       "lastName": "Lovelace",
                     *       "company": null,
                     *       "email": "ada@example.com",
                     *       "clientReference": null,
                     *       "tags": [
                     *         "newsletter"
                     *       ],
                     *       "suppressed": false,
                     *       "createdAt": "2026-11-20T10:00:48.984Z",
                     *       "updatedAt": "2026-11-20T10:00:48.984Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Contact"];
                };
            };
        };
    };
    saveContacts: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description At most 8 MiB and 200000 values */
        requestBody: {
            content: {
                "application/json": components["schemas"]["ContactBatch"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "created": 2,
                     *       "updated": 0,
                     *       "errors": [],
                     *       "truncations": []
                     *     }
                     */
                    "application/json": components["schemas"]["ContactBatchOutcome"];
                };
            };
        };
    };
    listContactTags: {
        parameters: {
            query?: {
                /** @description The most items on a page */
                limit?: number;
                /** @description nextCursor of the previous page */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "tag": "newsletter",
                     *           "count": 120
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["ContactTagPage"];
                };
            };
        };
    };
    changeContactTags: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description At most 1 MiB and 50000 values */
        requestBody: {
            content: {
                "application/json": components["schemas"]["ContactTagChanges"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "updated": 1
                     *     }
                     */
                    "application/json": components["schemas"]["ContactTagOutcome"];
                };
            };
        };
    };
    getContact: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a contact */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "contact_01h455vb4pex5vsknk084sn02q",
                     *       "number": "+447700900151",
                     *       "country": "GB",
                     *       "firstName": "Ada",
                     *       "lastName": "Lovelace",
                     *       "company": null,
                     *       "email": "ada@example.com",
                     *       "clientReference": null,
                     *       "tags": [
                     *         "newsletter"
                     *       ],
                     *       "suppressed": false,
                     *       "createdAt": "2026-11-20T10:00:48.984Z",
                     *       "updatedAt": "2026-11-20T10:00:48.984Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Contact"];
                };
            };
        };
    };
    deleteContact: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a contact */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; the answer has no body */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    updateContact: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a contact */
                id: string;
            };
            cookie?: never;
        };
        /** @description At most 1 MiB and 50000 values */
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ContactChanges"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "contact_01h455vb4pex5vsknk084sn02q",
                     *       "number": "+447700900151",
                     *       "country": "GB",
                     *       "firstName": "Ada",
                     *       "lastName": "Lovelace",
                     *       "company": null,
                     *       "email": "ada@example.com",
                     *       "clientReference": null,
                     *       "tags": [
                     *         "newsletter"
                     *       ],
                     *       "suppressed": false,
                     *       "createdAt": "2026-11-20T10:00:48.984Z",
                     *       "updatedAt": "2026-11-20T10:00:48.984Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Contact"];
                };
            };
        };
    };
    listContactLists: {
        parameters: {
            query?: {
                /** @description The most items on a page */
                limit?: number;
                /** @description nextCursor of the previous page */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "list_01h455vb4pex5vsknk084sn02q",
                     *           "name": "Customers",
                     *           "description": null,
                     *           "kind": "static",
                     *           "filter": null,
                     *           "contactCount": 0,
                     *           "contactCountAt": null,
                     *           "copyInProgress": false,
                     *           "createdAt": "2026-11-20T10:00:49.009Z",
                     *           "updatedAt": "2026-11-20T10:00:49.009Z"
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["ContactListPage"];
                };
            };
        };
    };
    createContactList: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description At most 1 MiB and 50000 values */
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewContactList"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "list_01h455vb4pex5vsknk084sn02q",
                     *       "name": "Customers",
                     *       "description": null,
                     *       "kind": "static",
                     *       "filter": null,
                     *       "contactCount": 0,
                     *       "contactCountAt": null,
                     *       "copyInProgress": false,
                     *       "createdAt": "2026-11-20T10:00:49.009Z",
                     *       "updatedAt": "2026-11-20T10:00:49.009Z"
                     *     }
                     */
                    "application/json": components["schemas"]["ContactList"];
                };
            };
        };
    };
    previewContactList: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description At most 1 MiB and 50000 values */
        requestBody: {
            content: {
                "application/json": components["schemas"]["ContactListPreview"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "count": 1,
                     *       "estimated": false,
                     *       "contacts": [
                     *         {
                     *           "id": "contact_01h455vb4pex5vsknk084sn02q",
                     *           "number": "+447700900151",
                     *           "country": "GB",
                     *           "firstName": "Ada",
                     *           "lastName": "Lovelace",
                     *           "company": null,
                     *           "email": "ada@example.com",
                     *           "clientReference": null,
                     *           "tags": [
                     *             "newsletter"
                     *           ],
                     *           "suppressed": false,
                     *           "createdAt": "2026-11-20T10:00:48.984Z",
                     *           "updatedAt": "2026-11-20T10:00:48.984Z"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["ContactListPreviewOutcome"];
                };
            };
        };
    };
    getContactList: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a contact list */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "list_01h455vb4pex5vsknk084sn02q",
                     *       "name": "Customers",
                     *       "description": null,
                     *       "kind": "static",
                     *       "filter": null,
                     *       "contactCount": 0,
                     *       "contactCountAt": null,
                     *       "copyInProgress": false,
                     *       "createdAt": "2026-11-20T10:00:49.009Z",
                     *       "updatedAt": "2026-11-20T10:00:49.009Z"
                     *     }
                     */
                    "application/json": components["schemas"]["ContactList"];
                };
            };
        };
    };
    deleteContactList: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a contact list */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; the answer has no body */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    updateContactList: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a contact list */
                id: string;
            };
            cookie?: never;
        };
        /** @description At most 1 MiB and 50000 values */
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ContactListChanges"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "list_01h455vb4pex5vsknk084sn02q",
                     *       "name": "Customers",
                     *       "description": null,
                     *       "kind": "static",
                     *       "filter": null,
                     *       "contactCount": 0,
                     *       "contactCountAt": null,
                     *       "copyInProgress": false,
                     *       "createdAt": "2026-11-20T10:00:49.009Z",
                     *       "updatedAt": "2026-11-20T10:00:49.009Z"
                     *     }
                     */
                    "application/json": components["schemas"]["ContactList"];
                };
            };
        };
    };
    listContactListContacts: {
        parameters: {
            query?: {
                /** @description The most items on a page */
                limit?: number;
                /** @description nextCursor of the previous page */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description Id of a contact list */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "contact_01h455vb4pex5vsknk084sn02q",
                     *           "number": "+447700900151",
                     *           "country": "GB",
                     *           "firstName": "Ada",
                     *           "lastName": "Lovelace",
                     *           "company": null,
                     *           "email": "ada@example.com",
                     *           "clientReference": null,
                     *           "tags": [
                     *             "newsletter"
                     *           ],
                     *           "suppressed": false,
                     *           "createdAt": "2026-11-20T10:00:48.984Z",
                     *           "updatedAt": "2026-11-20T10:00:48.984Z"
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["ContactPage"];
                };
            };
        };
    };
    addContactListContacts: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a contact list */
                id: string;
            };
            cookie?: never;
        };
        /** @description At most 1 MiB and 50000 values */
        requestBody: {
            content: {
                "application/json": components["schemas"]["ContactListAddition"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "added": 1,
                     *       "skipped": 0
                     *     }
                     */
                    "application/json": components["schemas"]["ContactListAddOutcome"];
                };
            };
            /** @description The copy goes on: the counts so far */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "added": 1,
                     *       "skipped": 0
                     *     }
                     */
                    "application/json": components["schemas"]["ContactListAddOutcome"];
                };
            };
        };
    };
    removeContactListContacts: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of a contact list */
                id: string;
            };
            cookie?: never;
        };
        /** @description At most 1 MiB and 50000 values */
        requestBody: {
            content: {
                "application/json": components["schemas"]["ContactListRemoval"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "removed": 1
                     *     }
                     */
                    "application/json": components["schemas"]["ContactListRemoveOutcome"];
                };
            };
        };
    };
    listApiKeys: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "key_01h455vb4pex5vsknk084sn02r",
                     *           "name": "Shop",
                     *           "keyPrefix": "msg_Tp",
                     *           "keyLast4": "3y9a",
                     *           "scopes": [
                     *             "email.send",
                     *             "email.read"
                     *           ],
                     *           "limits": {
                     *             "dailyParts": null,
                     *             "monthlyParts": null,
                     *             "usedToday": 0,
                     *             "usedThisMonth": 0
                     *           },
                     *           "strictMode": false,
                     *           "apiVersion": null,
                     *           "createdAt": "2026-11-20T10:00:49.113Z",
                     *           "activeFrom": "2026-11-20T10:00:49.113Z",
                     *           "expiresAt": null,
                     *           "lastUsedAt": null,
                     *           "key": null,
                     *           "signingSecret": null
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["ApiKeyPage"];
                };
            };
        };
    };
    createApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description At most 1 MiB and 50000 values */
        requestBody?: {
            content: {
                "application/json": components["schemas"]["NewApiKey"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "key_01h455vb4pex5vsknk084sn02q",
                     *       "name": "Shop",
                     *       "keyPrefix": "msg_cg",
                     *       "keyLast4": "Go5s",
                     *       "scopes": [
                     *         "email.send",
                     *         "email.read"
                     *       ],
                     *       "limits": {
                     *         "dailyParts": null,
                     *         "monthlyParts": null,
                     *         "usedToday": 0,
                     *         "usedThisMonth": 0
                     *       },
                     *       "strictMode": false,
                     *       "apiVersion": null,
                     *       "createdAt": "2026-11-20T10:00:49.018Z",
                     *       "activeFrom": "2026-11-20T10:00:49.018Z",
                     *       "expiresAt": null,
                     *       "lastUsedAt": null,
                     *       "key": "msg_0000000000000000000000000000000000Sample",
                     *       "signingSecret": null
                     *     }
                     */
                    "application/json": components["schemas"]["ApiKey"];
                };
            };
        };
    };
    getApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of an API key */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "key_01h455vb4pex5vsknk084sn02q",
                     *       "name": "Shop",
                     *       "keyPrefix": "msg_cg",
                     *       "keyLast4": "Go5s",
                     *       "scopes": [
                     *         "email.send",
                     *         "email.read"
                     *       ],
                     *       "limits": {
                     *         "dailyParts": null,
                     *         "monthlyParts": null,
                     *         "usedToday": 0,
                     *         "usedThisMonth": 0
                     *       },
                     *       "strictMode": false,
                     *       "apiVersion": null,
                     *       "createdAt": "2026-11-20T10:00:49.018Z",
                     *       "activeFrom": "2026-11-20T10:00:49.018Z",
                     *       "expiresAt": null,
                     *       "lastUsedAt": null,
                     *       "key": "msg_0000000000000000000000000000000000Sample",
                     *       "signingSecret": null
                     *     }
                     */
                    "application/json": components["schemas"]["ApiKey"];
                };
            };
        };
    };
    deleteApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of an API key */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; the answer has no body */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    updateApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of an API key */
                id: string;
            };
            cookie?: never;
        };
        /** @description At most 1 MiB and 50000 values */
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ApiKeyChanges"];
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "key_01h455vb4pex5vsknk084sn02q",
                     *       "name": "Shop",
                     *       "keyPrefix": "msg_cg",
                     *       "keyLast4": "Go5s",
                     *       "scopes": [
                     *         "email.send",
                     *         "email.read"
                     *       ],
                     *       "limits": {
                     *         "dailyParts": null,
                     *         "monthlyParts": null,
                     *         "usedToday": 0,
                     *         "usedThisMonth": 0
                     *       },
                     *       "strictMode": false,
                     *       "apiVersion": null,
                     *       "createdAt": "2026-11-20T10:00:49.018Z",
                     *       "activeFrom": "2026-11-20T10:00:49.018Z",
                     *       "expiresAt": null,
                     *       "lastUsedAt": null,
                     *       "key": "msg_0000000000000000000000000000000000Sample",
                     *       "signingSecret": null
                     *     }
                     */
                    "application/json": components["schemas"]["ApiKey"];
                };
            };
        };
    };
    rotateApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of an API key */
                id: string;
            };
            cookie?: never;
        };
        /** @description At most 1 MiB and 50000 values */
        requestBody?: {
            content: {
                "application/json": components["schemas"]["KeyRotation"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "key_01h455vb4pex5vsknk084sn02q",
                     *       "name": "Shop",
                     *       "keyPrefix": "msg_cg",
                     *       "keyLast4": "Go5s",
                     *       "scopes": [
                     *         "email.send",
                     *         "email.read"
                     *       ],
                     *       "limits": {
                     *         "dailyParts": null,
                     *         "monthlyParts": null,
                     *         "usedToday": 0,
                     *         "usedThisMonth": 0
                     *       },
                     *       "strictMode": false,
                     *       "apiVersion": null,
                     *       "createdAt": "2026-11-20T10:00:49.018Z",
                     *       "activeFrom": "2026-11-20T10:00:49.018Z",
                     *       "expiresAt": null,
                     *       "lastUsedAt": null,
                     *       "key": "msg_0000000000000000000000000000000000Sample",
                     *       "signingSecret": null
                     *     }
                     */
                    "application/json": components["schemas"]["ApiKey"];
                };
            };
        };
    };
    rotateSigningSecret: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of an API key */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "key_01h455vb4pex5vsknk084sn02q",
                     *       "name": "Shop",
                     *       "keyPrefix": "msg_cg",
                     *       "keyLast4": "Go5s",
                     *       "scopes": [
                     *         "email.send",
                     *         "email.read"
                     *       ],
                     *       "limits": {
                     *         "dailyParts": null,
                     *         "monthlyParts": null,
                     *         "usedToday": 0,
                     *         "usedThisMonth": 0
                     *       },
                     *       "strictMode": false,
                     *       "apiVersion": null,
                     *       "createdAt": "2026-11-20T10:00:49.018Z",
                     *       "activeFrom": "2026-11-20T10:00:49.018Z",
                     *       "expiresAt": null,
                     *       "lastUsedAt": null,
                     *       "key": "msg_0000000000000000000000000000000000Sample",
                     *       "signingSecret": null
                     *     }
                     */
                    "application/json": components["schemas"]["ApiKey"];
                };
            };
        };
    };
    getSendsReport: {
        parameters: {
            query?: {
                /** @description Counts messages that were accepted at or after this time. A date in timeZone, or RFC 3339 with any offset; default: 30 days before to */
                from?: string;
                /** @description Counts messages that were accepted before this time, which is at most 400 days after from. Default: the end of this hour */
                to?: string;
                /** @description The time zone of the days and months */
                timeZone?: string;
                /** @description Messages of this channel; default: both */
                channel?: "email" | "sms";
                /** @description The time that each row covers; hour only for at most 31 days */
                interval?: "hour" | "day" | "month";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "from": "2026-11-01T00:00:00.000Z",
                     *       "to": "2026-12-01T00:00:00.000Z",
                     *       "timeZone": "UTC",
                     *       "timeZoneRounded": false,
                     *       "data": [
                     *         {
                     *           "start": "2026-11-20T00:00:00.000Z",
                     *           "channel": "email",
                     *           "accepted": 1,
                     *           "queued": 0,
                     *           "held": 0,
                     *           "sent": 0,
                     *           "delivered": 1,
                     *           "failed": 0,
                     *           "cancelled": 0,
                     *           "parts": 0,
                     *           "cost": {
                     *             "gbp": "0.0000",
                     *             "eur": "0.0000"
                     *           }
                     *         },
                     *         {
                     *           "start": "2026-11-20T00:00:00.000Z",
                     *           "channel": "sms",
                     *           "accepted": 3,
                     *           "queued": 0,
                     *           "held": 0,
                     *           "sent": 0,
                     *           "delivered": 3,
                     *           "failed": 0,
                     *           "cancelled": 0,
                     *           "parts": 3,
                     *           "cost": {
                     *             "gbp": "0.1035",
                     *             "eur": "0.1236"
                     *           }
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["SendsReport"];
                };
            };
        };
    };
    getClientTagsReport: {
        parameters: {
            query?: {
                /** @description Counts messages that were accepted at or after this time. A date in timeZone, or RFC 3339 with any offset; default: 30 days before to */
                from?: string;
                /** @description Counts messages that were accepted before this time, which is at most 400 days after from. Default: the end of this hour */
                to?: string;
                /** @description The time zone of the days and months */
                timeZone?: string;
                /** @description Messages of this channel; default: both */
                channel?: "email" | "sms";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "from": "2026-11-01T00:00:00.000Z",
                     *       "to": "2026-12-01T00:00:00.000Z",
                     *       "timeZone": "UTC",
                     *       "timeZoneRounded": false,
                     *       "data": [
                     *         {
                     *           "clientTag": null,
                     *           "channel": "sms",
                     *           "accepted": 3,
                     *           "queued": 0,
                     *           "held": 0,
                     *           "sent": 0,
                     *           "delivered": 3,
                     *           "failed": 0,
                     *           "cancelled": 0,
                     *           "parts": 3,
                     *           "cost": {
                     *             "gbp": "0.1035",
                     *             "eur": "0.1236"
                     *           },
                     *           "deliveredRate": "1.0000"
                     *         },
                     *         {
                     *           "clientTag": null,
                     *           "channel": "email",
                     *           "accepted": 1,
                     *           "queued": 0,
                     *           "held": 0,
                     *           "sent": 0,
                     *           "delivered": 1,
                     *           "failed": 0,
                     *           "cancelled": 0,
                     *           "parts": 0,
                     *           "cost": {
                     *             "gbp": "0.0000",
                     *             "eur": "0.0000"
                     *           },
                     *           "deliveredRate": "1.0000"
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["ClientTagsReport"];
                };
            };
        };
    };
    getCountriesReport: {
        parameters: {
            query?: {
                /** @description Counts messages that were accepted at or after this time. A date in timeZone, or RFC 3339 with any offset; default: 30 days before to */
                from?: string;
                /** @description Counts messages that were accepted before this time, which is at most 400 days after from. Default: the end of this hour */
                to?: string;
                /** @description The time zone of the days and months */
                timeZone?: string;
                /** @description Messages of this channel; default: both */
                channel?: "email" | "sms";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "from": "2026-11-01T00:00:00.000Z",
                     *       "to": "2026-12-01T00:00:00.000Z",
                     *       "timeZone": "UTC",
                     *       "timeZoneRounded": false,
                     *       "data": [
                     *         {
                     *           "country": "GB",
                     *           "gateway": "simulator",
                     *           "channel": "sms",
                     *           "accepted": 3,
                     *           "queued": 0,
                     *           "held": 0,
                     *           "sent": 0,
                     *           "delivered": 3,
                     *           "failed": 0,
                     *           "cancelled": 0,
                     *           "parts": 3,
                     *           "cost": {
                     *             "gbp": "0.1035",
                     *             "eur": "0.1236"
                     *           },
                     *           "deliveredRate": "1.0000",
                     *           "errors": []
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["CountriesReport"];
                };
            };
        };
    };
    getLatencyReport: {
        parameters: {
            query?: {
                /** @description Counts messages that were accepted at or after this time. A date in timeZone, or RFC 3339 with any offset; default: 30 days before to */
                from?: string;
                /** @description Counts messages that were accepted before this time, which is at most 400 days after from. Default: the end of this hour */
                to?: string;
                /** @description The time zone of the days and months */
                timeZone?: string;
                /** @description Messages of this channel; default: both */
                channel?: "email" | "sms";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "from": "2026-11-01T00:00:00.000Z",
                     *       "to": "2026-12-01T00:00:00.000Z",
                     *       "timeZone": "UTC",
                     *       "timeZoneRounded": false,
                     *       "data": [
                     *         {
                     *           "channel": "email",
                     *           "kind": "transactional",
                     *           "gateway": null,
                     *           "sent": {
                     *             "count": 1,
                     *             "p50": 0.617,
                     *             "p90": 0.617,
                     *             "p95": 0.617,
                     *             "p99": 0.617,
                     *             "max": 0.617
                     *           },
                     *           "delivered": {
                     *             "count": 1,
                     *             "p50": 0,
                     *             "p90": 0,
                     *             "p95": 0,
                     *             "p99": 0,
                     *             "max": 0
                     *           }
                     *         },
                     *         {
                     *           "channel": "sms",
                     *           "kind": "batch",
                     *           "gateway": "simulator",
                     *           "sent": {
                     *             "count": 2,
                     *             "p50": 0.49,
                     *             "p90": 0.49,
                     *             "p95": 0.49,
                     *             "p99": 0.49,
                     *             "max": 0.49
                     *           },
                     *           "delivered": {
                     *             "count": 2,
                     *             "p50": 1.058,
                     *             "p90": 1.058,
                     *             "p95": 1.058,
                     *             "p99": 1.058,
                     *             "max": 1.058
                     *           }
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["LatencyReport"];
                };
            };
        };
    };
    getEmailDeliverabilityReport: {
        parameters: {
            query?: {
                /** @description Counts messages that were accepted at or after this time. A date in timeZone, or RFC 3339 with any offset; default: 30 days before to */
                from?: string;
                /** @description Counts messages that were accepted before this time, which is at most 400 days after from. Default: the end of this hour */
                to?: string;
                /** @description The time zone of the days and months */
                timeZone?: string;
                /** @description Messages of this channel; default: both */
                channel?: "email" | "sms";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "from": "2026-11-01T00:00:00.000Z",
                     *       "to": "2026-12-01T00:00:00.000Z",
                     *       "timeZone": "UTC",
                     *       "timeZoneRounded": false,
                     *       "data": [
                     *         {
                     *           "by": "recipientDomain",
                     *           "domain": "example.com",
                     *           "accepted": 1,
                     *           "delivered": 1,
                     *           "hardBounces": 0,
                     *           "softBounces": 0,
                     *           "rejected": 0,
                     *           "suppressed": 0,
                     *           "complaints": 0,
                     *           "opened": 0,
                     *           "deliveredRate": "1.0000",
                     *           "bounceRate": "0.0000",
                     *           "complaintRate": "0.0000"
                     *         },
                     *         {
                     *           "by": "sendingDomain",
                     *           "domain": "demo.example",
                     *           "accepted": 1,
                     *           "delivered": 1,
                     *           "hardBounces": 0,
                     *           "softBounces": 0,
                     *           "rejected": 0,
                     *           "suppressed": 0,
                     *           "complaints": 0,
                     *           "opened": 0,
                     *           "deliveredRate": "1.0000",
                     *           "bounceRate": "0.0000",
                     *           "complaintRate": "0.0000"
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["DeliverabilityReport"];
                };
            };
        };
    };
    getWorkspace: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "workspace_01h455vb4pex5vsknk084sn02q",
                     *       "name": "Demo",
                     *       "country": "GB",
                     *       "createdAt": "2026-11-20T10:00:03.548Z",
                     *       "sendingBlocked": false,
                     *       "v2WebhooksEnabled": true,
                     *       "alertEmail": "alerts@demo.example",
                     *       "defaultSender": {
                     *         "id": "sender_01h455vb4pex5vsknk084sn02r",
                     *         "name": "Demo"
                     *       },
                     *       "balance": null,
                     *       "emailLimit": null,
                     *       "smsPartsAtMost": 10,
                     *       "retention": {
                     *         "eventsDays": 7,
                     *         "emailDays": 90,
                     *         "smsDays": 90
                     *       },
                     *       "webhookAddresses": [
                     *         "192.0.2.7"
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["Workspace"];
                };
            };
        };
    };
    getWorkspaceSpend: {
        parameters: {
            query?: {
                /** @description A month in UTC; default: this month. Not together with from or to */
                month?: string;
                /** @description The beginning of the time: a date in UTC, or RFC 3339 with any offset, rounded down to the hour; default: 30 days before to */
                from?: string;
                /** @description The end of the time, at most 400 days after from. Default: the end of this hour */
                to?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "from": "2026-11-01T00:00:00.000Z",
                     *       "to": "2026-12-01T00:00:00.000Z",
                     *       "total": {
                     *         "messages": 3,
                     *         "parts": 3,
                     *         "cost": {
                     *           "gbp": "0.1035",
                     *           "eur": "0.1236"
                     *         }
                     *       },
                     *       "byCountry": [
                     *         {
                     *           "country": "GB",
                     *           "messages": 3,
                     *           "parts": 3,
                     *           "cost": {
                     *             "gbp": "0.1035",
                     *             "eur": "0.1236"
                     *           }
                     *         }
                     *       ],
                     *       "byKey": [
                     *         {
                     *           "keyId": "key_01h455vb4pex5vsknk084sn02s",
                     *           "messages": 3,
                     *           "parts": 3,
                     *           "cost": {
                     *             "gbp": "0.1035",
                     *             "eur": "0.1236"
                     *           }
                     *         }
                     *       ],
                     *       "byClientTag": [
                     *         {
                     *           "clientTag": null,
                     *           "messages": 3,
                     *           "parts": 3,
                     *           "cost": {
                     *             "gbp": "0.1035",
                     *             "eur": "0.1236"
                     *           }
                     *         }
                     *       ],
                     *       "balance": null,
                     *       "credits": {
                     *         "gbp": "0.0000"
                     *       },
                     *       "ledger": {
                     *         "charges": {
                     *           "gbp": "0.0000"
                     *         },
                     *         "refunds": {
                     *           "gbp": "0.0000"
                     *         },
                     *         "credits": {
                     *           "gbp": "0.0000"
                     *         },
                     *         "closed": {
                     *           "gbp": "0.0000"
                     *         },
                     *         "carried": {
                     *           "gbp": "0.0000"
                     *         },
                     *         "change": {
                     *           "gbp": "0.0000"
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Spend"];
                };
            };
        };
    };
}
