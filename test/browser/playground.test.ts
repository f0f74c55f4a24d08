import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { buildSchema, graphql } from 'graphql';
import { useServer } from 'graphql-ws/use/ws';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { WebSocketServer } from 'ws';
import { openHasher } from '../../src/bootstrap.ts';
import { createInternalApp } from '../../src/internal/server.ts';
import { isSameOrigin, staffCaller } from '../../src/internal/staff-caller.ts';
import { StaffAuthenticator } from '../../src/staff/staff-authenticator.ts';
import { StaffSessions } from '../../src/staff/staff-sessions.ts';
import { describeInBrowser, launchChromium } from '../support/chromium.ts';
import { TestClock } from '../support/clock.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

/** Stands in for the staff API, so that the page is tested by itself. */
const schema = buildSchema(`
  "What staff can ask."
  type Query {
    "Whoever asks."
    me: Me!
  }
  type Me { email: String! role: String! permissions: [String!]! }
  type Subscription { ticks: Int! }
`);

describeInBrowser('the playground', () => {
  const clock = new TestClock(new Date());
  let gateway: TestGateway;
  let server: Server;
  let base: string;
  let browser: Browser;
  let context: BrowserContext;
  let token: string;
  const hosts = new Set<string>();
  const complaints: string[] = [];

  beforeAll(async () => {
    gateway = await startGateway({ surroundings: { background: false } });
    ({ token } = await gateway.staff.create('ada@example.com', 'support'));
    const { app, config } = gateway;
    const authenticator = new StaffAuthenticator(app.orm, await openHasher(config, app.orm), clock);
    const sessions = new StaffSessions(app.orm, authenticator, clock);
    const standIn = express.Router();
    standIn.post('/', express.json(), async (req, res) => {
      const caller = await staffCaller(req, authenticator);
      if (!caller || !isSameOrigin(req, null) || req.get('apollo-require-preflight') !== '1') {
        res.status(401).json({ errors: [{ message: 'sign in' }] });
        return;
      }
      const me = { ...caller, permissions: ['orders:read'] };
      const { query, variables, operationName } = req.body;
      res.json(await graphql({ schema, source: query, variableValues: variables, operationName, rootValue: { me } }));
    });
    const { limiter, log, orm } = app;
    const internal = createInternalApp({
      config,
      log,
      orm,
      isDraining: () => false,
      staff: { limiter, authenticator, sessions, graphql: standIn },
    });
    server = createServer(internal);
    const sockets = new WebSocketServer({ server, path: '/graphql' });
    async function* ticks() {
      for (let i = 1; i <= 3; i++) yield { ticks: i * 111 };
    }
    useServer(
      {
        schema,
        roots: { subscription: { ticks } },
        onConnect: async ({ extra: { request } }) =>
          isSameOrigin(request, null) && (await staffCaller(request, authenticator)) !== null,
      },
      sockets,
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    browser = await launchChromium();
  });

  afterAll(async () => {
    await browser?.close();
    await new Promise((resolve) => (server ? server.close(resolve) : resolve(null)));
    await gateway?.stop();
  });

  beforeEach(async () => {
    context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    context.on('request', (request) => {
      if (!request.url().startsWith('data:')) hosts.add(new URL(request.url()).host);
    });
  });

  afterEach(() => context.close());

  async function newPage(): Promise<Page> {
    const page = await context.newPage();
    page.on('websocket', (socket) => hosts.add(new URL(socket.url()).host));
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    return page;
  }

  /** Opens the playground, which leads to the sign-in, and signs in. */
  async function signIn(): Promise<Page> {
    const page = await newPage();
    await page.goto(`${base}/playground`);
    expect(new URL(page.url()).pathname).toBe('/sign-in');
    await page.getByLabel('Staff token').fill(token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL(`${base}/playground`);
    await page.locator('.graphiql-execute-button').waitFor();
    return page;
  }

  /** Replaces what stands in the query editor. */
  async function write(page: Page, query: string): Promise<void> {
    await page.locator('.graphiql-query-editor .CodeMirror').click();
    await page.keyboard.press('Control+A');
    await page.keyboard.insertText(query);
  }

  it('asks for a sign-in first and says clearly what is wrong with one', async () => {
    const page = await newPage();
    await page.goto(`${base}/playground`);
    await page.getByLabel('Staff token').fill('xs_mistyped');
    await page.keyboard.press('Enter');
    expect(await page.getByRole('alert').textContent()).toContain('token is not valid');
    // A refused sign-in is a 401, which the browser reports as well.
    complaints.splice(0);
  });

  it('runs a query and shows the documentation, asking this gateway alone', async () => {
    const page = await signIn();
    expect(await page.locator('#bar').textContent()).toContain('signed in as ada@example.com (support)');
    await page.getByRole('tab', { name: 'Me' }).click();
    await page.locator('.graphiql-execute-button').click();
    const result = page.locator('.graphiql-response');
    await result.getByText('"ada@example.com"').waitFor();
    expect(await result.textContent()).toContain('"support"');

    await page.getByRole('button', { name: 'Show Documentation Explorer' }).click();
    await page.locator('.graphiql-doc-explorer').getByRole('link', { name: 'Query', exact: true }).click();
    await page.getByText('What staff can ask.').waitFor();
    const screenshot = process.env.PLAYGROUND_SCREENSHOT;
    if (screenshot) await page.screenshot({ path: screenshot });
  });

  it('shows what a subscription sends', async () => {
    const page = await signIn();
    await write(page, 'subscription Ticks { ticks }');
    await page.getByRole('tab', { name: 'Ticks' }).waitFor();
    await page.locator('.graphiql-execute-button').click();
    await page.locator('.graphiql-response').getByText('333').waitFor();
  });

  it('leads back to the sign-in when the session has ended, and signs out by its button', async () => {
    const page = await signIn();
    clock.advance(31 * 60_000);
    await page.locator('.graphiql-execute-button').click();
    await page.waitForURL(/\/sign-in\?return_to=\/playground$/);
    await page.getByLabel('Staff token').fill(token);
    await page.keyboard.press('Enter');
    await page.waitForURL(`${base}/playground`);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForURL(`${base}/sign-in`);
    expect(await context.cookies()).toEqual([]);
    await page.goto(`${base}/playground`);
    expect(new URL(page.url()).pathname).toBe('/sign-in');
    // The request of the ended session is a 401, which the browser reports as well.
    complaints.splice(0, complaints.length, ...complaints.filter((text) => !text.includes('401')));
  });

  it('knows its member who comes by a link from elsewhere', async () => {
    const page = await signIn();
    await page.goto('data:text/html,elsewhere');
    const asked: (string | undefined)[] = [];
    page.on('request', async (request) => {
      if (request.url() === `${base}/playground`) asked.push((await request.allHeaders()).cookie);
    });
    await page.setContent(`<a href="${base}/playground">the playground</a>`);
    await page.getByText('the playground').click();
    await page.locator('.graphiql-execute-button').waitFor();
    expect(await page.locator('#bar').textContent()).toContain('ada@example.com');
    // At first the strict cookie stays behind; our own page then asks again with it.
    expect(asked).toEqual([undefined, expect.stringContaining('__Host-staff=')]);
  });

  it('asked no other host in all this, and no policy stopped it', () => {
    expect([...hosts]).toEqual([new URL(base).host]);
    expect(complaints).toEqual([]);
  });
});
