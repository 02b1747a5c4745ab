/** A document of MJML with this body and head. */
export const mjmlDocument = (body: string, head = '') =>
  `<mjml><mj-head>${head}</mj-head><mj-body>${body}</mj-body></mjml>`;

export const mjmlColumn = (content: string) => `<mj-section><mj-column>${content}</mj-column></mj-section>`;

/** A document with one text. */
export const mjmlText = (content: string) => mjmlDocument(mjmlColumn(`<mj-text>${content}</mj-text>`));
