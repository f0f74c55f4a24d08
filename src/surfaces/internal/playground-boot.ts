/**
 * The playground's script for the browser: GraphiQL on /graphql. Subscriptions share one WebSocket,
 * which opens with the first. A request without a valid session leads to the sign-in page and back.
 */
export const playgroundBoot = `'use strict';
const setup = JSON.parse(document.getElementById('setup').textContent);
const address = new URL('/graphql', location.href);
const socketAddress = new URL(address);
socketAddress.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:';

async function signedInFetch(resource, options) {
  const response = await fetch(resource, options);
  if (response.status === 401) location.assign('/sign-in?return_to=/playground');
  return response;
}

const fetcher = GraphiQL.createFetcher({
  url: address.href,
  fetch: signedInFetch,
  headers: { 'apollo-require-preflight': '1' },
  wsClient: graphqlWs.createClient({ url: socketAddress.href, lazy: true, retryAttempts: 3 }),
});

ReactDOM.createRoot(document.getElementById('playground')).render(
  React.createElement(GraphiQL, {
    fetcher,
    defaultTabs: setup.examples,
    defaultEditorToolsVisibility: 'variables',
    isHeadersEditorEnabled: false,
    shouldPersistHeaders: false,
  }),
);
`;

/** The page layout: a bar with the member and a sign-out button, and GraphiQL below it. */
export const playgroundStyle = `html, body { height: 100%; margin: 0; }
body { display: flex; flex-direction: column; font: .9rem/1.4 system-ui, sans-serif; color-scheme: light dark; background: Canvas; color: CanvasText; }
#bar { display: flex; align-items: center; gap: 1rem; padding: .4rem 1rem; border-bottom: 1px solid color-mix(in srgb, CanvasText 20%, Canvas); }
#bar h1 { font-size: 1rem; margin: 0; flex: 1; }
#bar button { font: inherit; padding: .25rem .8rem; border: 1px solid GrayText; border-radius: .3rem; background: transparent; color: inherit; cursor: pointer; }
#bar form { margin: 0; }
#playground { flex: 1; min-height: 0; }
:focus-visible { outline: 3px solid #60a5fa; outline-offset: 1px; }
/* On a telephone the query is above its answer, and the tools are a row below them. */
@media (max-width: 760px) {
  #bar { gap: .6rem; padding: .4rem .7rem; }
  #bar span { display: none; }
  .graphiql-container { flex-direction: column-reverse; --sidebar-width: 44px; }
  .graphiql-container .graphiql-sidebar { flex-direction: row; width: auto; padding: 4px 8px; overflow: visible; }
  .graphiql-container .graphiql-main, .graphiql-container #graphiql-session { flex-direction: column; min-height: 0; }
  .graphiql-container .graphiql-main > *, .graphiql-container #graphiql-session > * { min-width: 0 !important; min-height: 0; }
  .graphiql-container .graphiql-main { flex: 1; }
  .graphiql-container .graphiql-sessions { margin: 0 8px; }
  .graphiql-container .graphiql-query-editor { padding: 8px; column-gap: 8px; }
  .graphiql-container .graphiql-logo, .graphiql-container .graphiql-horizontal-drag-bar { display: none; }
}
`;
