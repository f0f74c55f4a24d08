/*
 * GraphiQL on /graphql. Subscriptions share one WebSocket, which opens with the first. A request
 * without a valid session leads to the sign-in page and back.
 */

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
