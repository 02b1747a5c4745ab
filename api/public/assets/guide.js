// On a phone the list of contents would push the text off the first screen.
const contents = document.querySelector('details.contents');
if (contents && matchMedia('(width < 75rem)').matches) contents.open = false;

for (const block of document.querySelectorAll('.code:not(.picture)')) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy';
  button.textContent = 'Copy';
  button.addEventListener('click', () => void copy(button, block.querySelector('code')));
  block.append(button);
}

async function copy(button, code) {
  button.textContent = (await copied(code)) ? 'Copied' : 'Press Ctrl+C';
  setTimeout(() => {
    button.textContent = 'Copy';
  }, 2_000);
}

/**
 * Without https, except on 127.0.0.1, a page may not write to the clipboard. Then the text is selected, so that the
 * reader can copy it with the keyboard.
 */
async function copied(code) {
  try {
    await navigator.clipboard.writeText(code.textContent);
    return true;
  } catch {
    getSelection().selectAllChildren(code);
    return false;
  }
}
