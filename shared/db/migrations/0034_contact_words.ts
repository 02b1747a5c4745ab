import type { Migration } from './migration.ts';

const places = Array.from({ length: 20 }, (_, index) => `SELECT ${index + 1} AS place`).join(' UNION ALL ');

/** As shared/formats/folded-text.ts does it. A key of 64 bytes may have lost its end, so its contact waits for its next change. */
function wordsOf(key: string): string {
  const text = `CONVERT(${key} USING utf8mb4)`;
  const whole = `REGEXP_REPLACE(${text}, '[''\u2018\u2019\u02bc\uff07\`\u00b4]', '')`;
  const words = `TRIM(REGEXP_REPLACE(${whole}, '[\\\\p{Z}\\\\p{C}\\\\p{P}+<=>|~^$]+', ' '))`;
  return `SELECT workspace_id, id, first_name_word, last_name_word, company_word, ${text} AS whole, ${words} AS words
    FROM contacts WHERE LENGTH(${key}) < 64`;
}

const word = "SUBSTRING_INDEX(SUBSTRING_INDEX(words, ' ', place), ' ', -1)";
const isNot = (column: string) => `NOT COALESCE(CAST(word AS BINARY) = ${column}, FALSE)`;

/** Search finds emails and client references by each of their words. */
export const contactWords: Migration = {
  name: '0034_contact_words',
  up: [
    `INSERT IGNORE INTO contact_words (workspace_id, word, contact_id)
     SELECT workspace_id, CAST(word AS BINARY), id FROM (
       SELECT texts.*, place, ${word} AS word FROM (${wordsOf('email_key')} UNION ALL ${wordsOf('client_reference_key')}) AS texts
       JOIN (${places}) AS places ON place <= 1 + CHAR_LENGTH(words) - CHAR_LENGTH(REPLACE(words, ' ', ''))
     ) AS each_word
     WHERE word <> '' AND LENGTH(word) < 48 AND NOT (place = 1 AND LOCATE(word, whole) = 1)
       AND ${['first_name_word', 'last_name_word', 'company_word'].map(isNot).join(' AND ')}`,
  ],
  // The words of names stay as they are; those of other texts find contacts that the version before compares again.
  down: [],
};
