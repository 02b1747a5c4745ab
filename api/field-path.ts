/** `template.name`, `messages[3]`, `contacts[2].email`. */
export function fieldPath(path: readonly PropertyKey[]): string {
  let text = '';
  for (const part of path)
    if (typeof part === 'number') text += `[${part}]`;
    else text += text === '' ? String(part) : `.${String(part)}`;
  return text === '' ? 'body' : text;
}
