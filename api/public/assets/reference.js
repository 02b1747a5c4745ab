// The policy of the page lets in styles with the nonce of this answer. Parts of the program do not know it.
const nonce = document.querySelector('meta[property=csp-nonce]').content;
const createElement = document.createElement.bind(document);
document.createElement = (name, options) => {
  const element = createElement(name, options);
  if (name === 'style') element.nonce = nonce;
  return element;
};

const description = await (await fetch('openapi.json')).json();
// The policy lets this page call only its own origin, which may differ from PUBLIC_URL.
const { pathname } = new URL(description.servers[0].url);
description.servers = [{ url: location.origin + pathname.replace(/\/$/, '') }];

const settings = {
  content: description,
  // These features would send requests to other hosts: fonts, usage statistics, a proxy, an assistant.
  withDefaultFonts: false,
  telemetry: false,
  proxyUrl: '',
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',
  layout: 'modern',
  theme: 'default',
  defaultOpenFirstTag: true,
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  hiddenClients: hiddenClients(),
};

const withKey = (token) => ({
  ...settings,
  authentication: { preferredSecurityScheme: 'bearer', securitySchemes: { bearer: { token } } },
});

const reference = window.Scalar.createApiReference('#reference', withKey(''));

const offer = document.getElementById('use-demo-key');
if (offer) {
  offer.addEventListener('click', () => {
    reference.updateConfiguration(withKey(offer.dataset.key));
    document.getElementById('demo-key-used').textContent = 'Every request below is sent with it now.';
  });
  // Before the description is there, a click would do nothing, and the first request would be refused.
  offer.disabled = false;
}

/** All languages but those of the guides: a long list makes it harder to choose. */
function hiddenClients() {
  const others = [
    'c',
    'clojure',
    'csharp',
    'dart',
    'fsharp',
    'go',
    'http',
    'java',
    'js',
    'julia',
    'kotlin',
    'objc',
    'ocaml',
  ];
  const more = ['php', 'powershell', 'r', 'ruby', 'rust', 'swift'];
  return Object.fromEntries([...others, ...more].map((target) => [target, true]));
}
