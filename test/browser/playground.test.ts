import type { Browser, BrowserContext, Page } from 'playwright-core';
import { TestClock } from '../support/gateway/clock.ts';
import { type SettledGateway, startSettledGateway } from '../support/gateway/settled-gateway.ts';
import { describeInBrowser, launchChromium } from '../support/staff/chromium.ts';
import { picture } from '../support/staff/pictures.ts';

describeInBrowser('the playground', () => {
  const clock = new TestClock(new Date());
  let gateway: SettledGateway;
  let base: string;
  let browser: Browser;
  let context: BrowserContext;
  let token: string;
  const hosts = new Set<string>();
  const complaints: string[] = [];

  beforeAll(async () => {
    gateway = await startSettledGateway({ clock });
    ({ token } = await gateway.staff.create('ada@example.com', 'support'));
    base = gateway.app.internalUrl;
    await gateway.order();
    browser = await launchChromium();
  });

  afterAll(async () => {
    await browser?.close();
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

  it('is compressed, with all its files', async () => {
    const sent: { path: string; coding: string | undefined; length: number }[] = [];
    context.on('response', (response) => {
      const { pathname: path } = new URL(response.url());
      const { 'content-encoding': coding, 'content-length': length } = response.headers();
      if (path.startsWith('/playground') && response.status() === 200)
        sent.push({ path, coding, length: Number(length) });
    });
    const page = await signIn();
    expect(sent.length).toBeGreaterThan(5);
    // What fits one packet anyway is sent as it is.
    const large = sent.filter(({ coding, length }) => coding !== undefined || length >= 1_024);
    expect(large.map(({ path }) => path)).toEqual(
      expect.arrayContaining(['/playground', '/playground/graphiql.js', '/playground/graphiql.css']),
    );
    expect(large.filter(({ coding }) => coding !== 'br' && coding !== 'gzip')).toEqual([]);
    await page.close();
  });

  /**
   * Runs an example. GraphiQL learns the name of a tab's operation only a moment after it shows the
   * tab.
   */
  async function run(page: Page, name: string): Promise<void> {
    await page.getByRole('tab', { name }).click();
    await page.waitForTimeout(3_000);
    await page.locator('.graphiql-execute-button').click();
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
    await run(page, 'OrderStory');
    const result = page.locator('.graphiql-response');
    await result.getByText('"WAITING_DEPOSIT"').first().waitFor();

    await page.getByRole('button', { name: 'Show Documentation Explorer' }).click();
    await page.locator('.graphiql-doc-explorer').getByRole('link', { name: 'Query', exact: true }).click();
    await page.getByText('Orders, in pages.').waitFor();
    await picture(page, 'playground/answer-1280-light');
  });

  it('shows what a subscription tells', async () => {
    const page = await signIn();
    await run(page, 'Live');
    const told = page.locator('.graphiql-response').getByText('"CREATED"').first().waitFor();
    let isReported = false;
    void told.then(() => {
      isReported = true;
    });
    // Nothing says when the subscription has begun.
    while (!isReported) {
      await gateway.order();
      await Promise.race([told, new Promise((resolve) => setTimeout(resolve, 500))]);
    }
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
