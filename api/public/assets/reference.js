const dark = matchMedia('(prefers-color-scheme: dark)');
const followScheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', followScheme);
followScheme();

const description = await (await fetch('/openapi.json')).json();
// A browser that came under another name than clients use may call only the name that it came under.
const { pathname } = new URL(description.servers[0].url);
description.servers = [{ url: location.origin + pathname.replace(/\/$/, '') }];

window.SwaggerUIBundle({
  spec: description,
  dom_id: '#reference',
  deepLinking: true,
  // The badge would send the address of the description to another host.
  validatorUrl: null,
});
